/** Other right answers, and cheats: `pnpm test` takes one pair, `pnpm test:soak` every fourth one, with PAIRS=all all ten. */
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { soak } from "@durable-lessons/test-kit/soak";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findLessons, select } from "../src/runner/index.ts";
import { Practice } from "../src/runner/practice.ts";
import { copyLessons } from "./copied-lessons.ts";
import { ATTEMPTS } from "./practice-solutions.ts";

const SMALL = "03/swallowed-error-is-an-ack";

let copy: Awaited<ReturnType<typeof copyLessons>>;

beforeAll(async () => {
  copy = await copyLessons();
});
afterAll(() => copy[Symbol.asyncDispose]());

test("there are ten pairs", () => expect(ATTEMPTS).toHaveLength(10));

/** Is this one taken? Each takes half a minute. */
const isTaken = ({ pair }: { pair: string }, nth: number) =>
  soak(process.env["PAIRS"] === "all" || nth % 4 === 1, false) || pair === SMALL;

describe.each(ATTEMPTS.filter(isTaken))("$pair", ({ pair: name, right, cheats }) => {
  let practice: Practice;
  let head: string;

  beforeAll(async () => {
    const [chosen] = await select(await findLessons(copy.apps), [name]);
    const [pair] = chosen?.pairs ?? [];
    if (!chosen || !pair) throw new Error(`There is no pair ${name}.`);
    practice = new Practice(chosen.lesson, pair, { runTimeoutMs: 60_000 });
    const pitfall = await readFile(join(dirname(practice.file), "pitfall.ts"), "utf8");
    // Its imports and its settings.
    head = pitfall.slice(0, pitfall.search(/^export /m));
  });
  afterAll(() => practice.close());

  async function attempt(text: string) {
    await writeFile(practice.file, head + text);
    return practice.attempt(new AbortController().signal);
  }

  test("another right answer is solved", async () => {
    expect(await attempt(right)).toMatchObject({
      solved: true,
      syntax: [],
      trials: { broken: [] },
    });
  });

  test.each(Object.entries(cheats))("a cheat is not: it %s", async (_, text) => {
    const { solved, syntax, result } = await attempt(text);
    // It was run, to an end.
    expect({ solved, syntax }).toEqual({ solved: false, syntax: [] });
    expect(result?.status).not.toMatch(/timed out|blocked/);
  });
});
