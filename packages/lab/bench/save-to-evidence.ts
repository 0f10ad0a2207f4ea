/**
 * `node packages/lab/bench/save-to-evidence.ts [01/pair] [saves]`: how long a reader who practises waits from a save to its
 * evidence, with the types checked and the runtime killed on the way: the median and the maximum over twenty saves, after a
 * first one that starts everything. The saves are the fix and the pitfall in turn, in a copy of the lesson.
 */
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findLessons, select } from "../src/runner/index.ts";
import { Practice } from "../src/runner/practice.ts";
import { copyLessons } from "../test/copied-lessons.ts";

const [name = "01/side-effect-outside-step", saves = "20"] = process.argv.slice(2);
await using copy = await copyLessons([name.slice(0, 2)]);
const [chosen] = await select(await findLessons(copy.apps), [name]);
const [pair] = chosen?.pairs ?? [];
if (!chosen || !pair) throw new Error(`There is no pair ${name}.`);

const practice = new Practice(chosen.lesson, pair);
const [pitfall, fix] = await Promise.all(
  ["pitfall.ts", "fix.ts"].map((side) => readFile(join(dirname(practice.file), side), "utf8")),
);

/** Saves a text, and waits for its evidence alone: not for the trials that follow it where it is right. */
async function save(text = ""): Promise<number> {
  const enough = new AbortController();
  const start = performance.now();
  await writeFile(practice.file, text);
  let atEvidence: number | undefined;
  const attempt = practice.attempt(enough.signal, (stage) => {
    if (stage !== "trials") return;
    atEvidence = performance.now();
    enough.abort();
  });
  await attempt.catch((error: unknown) => {
    if (!enough.signal.aborted) throw error;
  });
  return (atEvidence ?? performance.now()) - start;
}

try {
  const first = await save(pitfall);
  const times: number[] = [];
  for (let nth = 0; nth < Number(saves); nth++) {
    times.push(await save(`${nth % 2 === 0 ? fix : pitfall}// ${nth}\n`));
  }
  const sorted = times.toSorted((one, other) => one - other);
  const ms = (value = Number.NaN) => `${Math.round(value)} ms`;
  console.log(
    `${name}: first ${ms(first)}; over ${times.length} saves median ${ms(sorted[sorted.length >> 1])}, maximum ${ms(sorted.at(-1))}`,
  );
} finally {
  await practice.close();
}
