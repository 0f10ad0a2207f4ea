import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Exception } from "../src/pair.ts";
import { runGauntlet } from "../src/runner/gauntlet.ts";
import type { GauntletProgress, GauntletResult } from "../src/runner/gauntlet.ts";
import { findLessons, select } from "../src/runner/index.ts";
import { makeLesson } from "./broken-lesson.ts";
import { WorkerdWatch } from "./processes.ts";

const KEYED = `export async function run(event, step, env) {
  const { userId } = event.payload;
  await step.do("send mail", () =>
    env.mail.send({ to: userId, subject: "", text: "", key: event.instanceId + "-mail" }));
  await step.do("open account", () =>
    env.accounts.open({ userId, key: event.instanceId + "-account" }));
}
`;
const UNKEYED = KEYED.replace(', key: event.instanceId + "-mail"', "");
const CAREFUL = `export async function consume(batch, env) {
  for (const message of batch.messages) {
    try {
      if (typeof message.body !== "string" || message.body === "a string") throw new Error("no");
      await env.mail.send({ to: message.body, subject: "", text: "", key: message.body });
      message.ack();
    } catch {
      message.retry();
    }
  }
}
`;
/** It acks what it cannot read. */
const SWALLOWS = CAREFUL.replace('throw new Error("no")', "continue");
/** It throws for the whole batch. */
const THROWS = `export async function consume(batch, env) {
  for (const { body } of batch.messages) {
    await env.mail.send({ to: body.trim(), subject: "", text: "", key: body });
  }
}
`;
const TRUSTING = `export async function handle(request, env) {
  const { userId } = await request.json();
  await env.accounts.open({ userId, key: userId });
  return new Response(null, { status: 202 });
}
`;
const CHECKS = TRUSTING.replace(
  "await env",
  "if (!userId) return new Response(null, { status: 400 });\n  await env",
);
/** Flows of the lesson's own code: one is refused. */
const FLOWS = `export default {
  flows: ["/open", "/closed"].map((path) => ({
    name: path.slice(1),
    runOf: (id) => id,
    start: (lesson) => lesson.send("POST", path, {}),
    statusOf: async () => "complete",
  })),
};
`;

const seen: GauntletProgress[] = [];
let results: GauntletResult[];
let watch: WorkerdWatch;

beforeAll(async () => {
  watch = new WorkerdWatch();
  await using made = await makeLesson(
    [
      { id: "keyed", engine: "workflow", fix: KEYED },
      { id: "unkeyed", engine: "workflow", fix: UNKEYED },
      { id: "told", engine: "workflow", fix: UNKEYED },
      { id: "careful", engine: "queue", fix: CAREFUL },
      { id: "swallows", engine: "queue", fix: SWALLOWS },
      { id: "throws", engine: "queue", fix: THROWS },
      { id: "checks", engine: "http", fix: CHECKS },
      { id: "trusting", engine: "http", fix: TRUSTING },
    ],
    { gauntlet: FLOWS },
  );
  const selections = await select(await findLessons(made.apps), []);
  const told = selections[0]?.pairs.find(({ id }) => id === "told");
  if (told) told.exceptions = [exception("mail.send: answer lost"), exception("mail.send fails")];
  for await (const progress of runGauntlet(selections)) seen.push(progress);
  results = seen.flatMap((progress) => (progress.type === "pair-judged" ? progress.results : []));
}, 240_000);
afterAll(() => watch[Symbol.dispose]());

const exception = (trial: string): Exception => ({
  trial,
  breaks: "mailed-once",
  because: "The mail has no key.",
  cure: "98/keyed",
});

function resultOf(pair: string): GauntletResult {
  const result = results.find((one) => one.pair.id === pair);
  if (!result) throw new Error(`There is no result of ${pair}.`);
  return result;
}

/** The rules that broke, by trial. */
const brokenOf = (pair: string) =>
  Object.fromEntries(
    resultOf(pair).trials.flatMap(({ trial, broken }) =>
      broken.length > 0 ? [[trial, broken.map(({ rule }) => rule).toSorted()]] : [],
    ),
  );

describe("a fix", () => {
  test.each(["keyed", "careful", "checks"])("that bears everything is ok: %s", (pair) => {
    expect(brokenOf(pair)).toEqual({});
    expect(resultOf(pair).ok).toBe(true);
  });

  test("whose mail has no key sends it twice, wherever its answer is lost", () => {
    expect(brokenOf("unkeyed")).toEqual({
      "mail.send: answer lost": ["mailed-once"],
      "killed after mail.send": ["mailed-once"],
      "restarted after its end": ["mailed-once"],
    });
    expect(resultOf("unkeyed").ok).toBe(false);
  });

  test("that swallows what it cannot read loses it, and its neighbours are served", () => {
    expect(brokenOf("swallows")).toEqual({
      "a neighbour is null": ["messages-are-kept"],
      "a neighbour is a string": ["messages-are-kept"],
      "a neighbour is {}": ["messages-are-kept"],
    });
  });

  test("that throws takes its neighbours with it", () => {
    const { "a neighbour is null": broken } = brokenOf("throws");
    expect(broken).toEqual(["neighbours-are-served"]);
  });

  test("that trusts a body opens an account for nobody", () => {
    expect(brokenOf("trusting")).toEqual({ "a body that is no object": ["bad-input-is-told"] });
  });
});

test("a flow that is refused says so at once, in the place of an end that does not come", () => {
  const flows = seen.flatMap((one) => (one.type === "flow-judged" ? [one.result] : []));
  expect(flows.map(({ flow, trials }) => [flow, trials[0]?.broken])).toEqual([
    ["open", []],
    ["closed", [{ rule: "comes-to-an-end", saw: "it was refused: 429 " }]],
  ]);
});

test("an exception tells of a trial, and one that is not seen is told itself", () => {
  const { trials, stale, ok } = resultOf("told");
  const told = trials.filter((trial) => trial.exception).map(({ trial }) => trial);
  expect(told).toEqual(["mail.send: answer lost"]);
  expect(stale.map(({ trial }) => trial)).toEqual(["mail.send fails"]);
  expect(ok).toBe(false);
});

test("one crash serves all trials, every trial ends once, and no process is left", () => {
  expect(seen.filter(({ type }) => type === "crashed")).toHaveLength(1);
  const ended = seen.filter(({ type }) => type === "trial-ended").length;
  expect(ended).toBe(results.flatMap(({ trials }) => trials).length);
  expect(watch.left).toEqual([]);
});
