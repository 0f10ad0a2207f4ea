/**
 * What a learner's mistakes in a variant are answered with: in time, by name, and without harm to other pairs. What blocks a
 * runtime computes until a limit is over: `pnpm test` takes one such side and shorter limits, `pnpm test:soak` all.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { soak, SOAKING } from "@durable-lessons/test-kit/soak";
import { beforeAll, describe, expect, test } from "vitest";
import {
  type CompareOptions,
  comparePairs,
  findLessons,
  type PairResult,
  select,
  type VariantResult,
} from "../src/runner/index.ts";
import { type MadePair, makeLesson, NUMBER } from "./broken-lesson.ts";

/** A mistake in a pitfall, and what is said of it. */
interface Mistake extends MadePair {
  /** What the error, or what was thrown, says. */
  says: RegExp;
  /** The line of pitfall.ts that is named, where one can be. */
  line?: number;
  status?: string;
}

const workflow = (id: string, body: string, rest: Omit<Mistake, "engine" | "id">): Mistake => ({
  id,
  engine: "workflow",
  pitfall: `export async function run(event, step, env) {\n${body}\n}\n`,
  ...rest,
});
const queue = (id: string, body: string, rest: Omit<Mistake, "engine" | "id">): Mistake => ({
  id,
  engine: "queue",
  pitfall: `export async function consume(batch, env) {\n${body}\n}\n`,
  ...rest,
});
const http = (id: string, body: string, rest: Omit<Mistake, "engine" | "id">): Mistake => ({
  id,
  engine: "http",
  pitfall: `export async function handle(request, env) {\n${body}\n}\n`,
  ...rest,
});
/** A mistake that is the whole file. */
const file = (
  id: string,
  engine: MadePair["engine"],
  text: string,
  rest: Omit<Mistake, "engine" | "id">,
): Mistake => ({
  id,
  engine,
  pitfall: text,
  ...rest,
});

const never = { retries: "{ retries: { limit: 0, delay: 0 } }" };

const MISTAKES: Mistake[] = [
  workflow("wf-throws", '  throw new Error("mine");', { says: /^Error: mine$/, line: 2 }),
  workflow("wf-type-error", "  return event.payload.user.name;", { says: /^TypeError: /, line: 2 }),
  workflow("wf-unknown-name", "\n  sendMail();", { says: /^ReferenceError: sendMail/, line: 3 }),
  workflow("wf-throws-a-string", '  throw "just text";', { says: /just text/ }),
  workflow("wf-throws-null", "  throw null;", { says: /null/ }),
  workflow("wf-recursion", "  const again = () => again();\n  again();", {
    says: /^RangeError: /,
    line: 2,
  }),
  workflow(
    "wf-throws-in-step",
    `  await step.do("send mail", ${never.retries}, () => {\n    throw new Error("in a step");\n  });`,
    { says: /^Error: in a step$/, line: 3 },
  ),
  workflow(
    "wf-result-cannot-be-stored",
    `  await step.do("send mail", ${never.retries}, async () => () => 1);`,
    { says: /./ },
  ),
  workflow(
    "wf-step-renamed",
    '  await step.do("open the account", () => env.accounts.open({ userId: event.payload.userId }));',
    { says: /never reached step "open account": it hangs in accounts\.open/ },
  ),
  workflow("wf-returns-early", "  return null;", {
    says: /ended with status complete, without step "open account"/,
  }),
  workflow(
    "wf-waits-for-ever",
    '  await step.waitForEvent("wait", { type: "never", timeout: "1 day" });',
    { says: /timed out after \d+ ms, waiting for step "open account"/, status: "timed out" },
  ),
  workflow("wf-sleeps-for-a-day", '  await step.sleep("sleep", "1 day");', {
    says: /timed out after \d+ ms/,
    status: "timed out",
  }),
  workflow("wf-loops-with-await", "  for (;;) await scheduler.wait(20);", {
    says: /timed out after \d+ ms/,
    status: "timed out",
  }),
  file("wf-empty", "workflow", "", { says: /must export a function run\(\), but exports nothing/ }),
  file("wf-run-renamed", "workflow", "export async function ran() {}\n", {
    says: /must export a function run\(\), but exports ran/,
  }),
  file("wf-run-is-no-function", "workflow", "export const run = 1;\n", {
    says: /must export a function run\(\), but exports run/,
  }),
  file(
    "wf-module-throws",
    "workflow",
    'export async function run() {}\nthrow new Error("top level");\n',
    { says: /^Error: top level$/, line: 2 },
  ),
  file("wf-syntax-error", "workflow", "export async function run( {\n", {
    says: /src\/pitfalls\/wf-syntax-error\/pitfall\.ts:\d+:\d+: /,
  }),
  file(
    "wf-unknown-import",
    "workflow",
    'import { x } from "./nowhere.ts";\nexport const run = () => x;\n',
    { says: /pitfall\.ts:1:\d+: Could not resolve "\.\/nowhere\.ts"/ },
  ),

  queue("queue-throws", '  throw new Error("mine");', { says: /^Error: mine$/, line: 2 }),
  queue("queue-unknown-name", "  for (const message of batch.messages) send(message);", {
    says: /^ReferenceError: send/,
    line: 2,
  }),
  queue("queue-type-error", "  await env.mial.send({});", { says: /^TypeError: /, line: 2 }),
  queue("queue-retries-all", "  batch.retryAll();", { says: /^email\.sent: expected 2, seen 0$/ }),
  queue("queue-never-ends", "  for (;;) await scheduler.wait(20);", {
    says: /timed out after \d+ ms, waiting for its end/,
    status: "timed out",
  }),
  file("queue-consume-renamed", "queue", "export async function consumed() {}\n", {
    says: /must export a function consume\(\), but exports consumed/,
  }),
  file("queue-syntax-error", "queue", "export const consume = async () => { ;\n", {
    says: /queue-syntax-error\/pitfall\.ts:\d+:\d+: /,
  }),

  http("http-throws", '  throw new Error("mine");', { says: /^Error: mine$/, line: 2 }),
  http("http-no-response", "  await env.accounts.open({ userId: 1 });", { says: /./ }),
  http("http-bad-json", '  return Response.json(JSON.parse("no json"));', {
    says: /^SyntaxError: /,
    line: 2,
  }),
  http("http-never-answers", "  for (;;) await scheduler.wait(20);", {
    says: /timed out after \d+ ms, waiting for its end/,
    status: "timed out",
  }),
  file("http-handle-renamed", "http", "export async function handler() {}\n", {
    says: /must export a function handle\(\), but exports handler/,
  }),
  file("http-module-throws", "http", "export const handle = undefinedName;\n", {
    says: /^ReferenceError: undefinedName/,
    line: 1,
  }),
];

const INNOCENT: MadePair[] = (["workflow", "queue", "http"] as const).map((engine) => ({
  id: `innocent-${engine}`,
  engine,
}));

const RUN_TIMEOUT_MS = soak(20_000, 15_000);
const STALL_MS = soak(5000, 2000);

async function compareAll(
  pairs: MadePair[],
  limits: CompareOptions = {},
): Promise<Record<string, PairResult>> {
  await using lesson = await makeLesson(pairs);
  const results: Record<string, PairResult> = {};
  const selections = await select(await findLessons(lesson.apps), []);
  for await (const progress of comparePairs(selections, {
    runTimeoutMs: RUN_TIMEOUT_MS,
    ...limits,
  })) {
    if (progress.type === "pair-compared") results[progress.result.pair.id] = progress.result;
  }
  return results;
}

/** Everything that is said of a side that is not as expected. */
const sayings = ({ error, thrown = [], differences }: VariantResult): string[] => [
  ...(typeof error === "string" ? [error] : []),
  ...(typeof error === "object" && error !== null && "message" in error
    ? [String(error.message)]
    : []),
  ...thrown.map(({ name, message }) => `${name}: ${message}`),
  ...differences.map(
    ({ kind, expected, seen }) => `${kind}: expected ${String(expected)}, seen ${String(seen)}`,
  ),
];

/** What is missing in what is said of a mistake. */
function missingIn(
  result: PairResult | undefined,
  { id, says, line, status = "" }: Mistake,
): string[] {
  if (!result) return [`${id}: has no result`];
  const { pitfall, fix } = result.variants;
  const said = sayings(pitfall);
  const places = (pitfall.thrown ?? []).map(({ at }) => at ?? "nowhere");
  const place = `/src/pitfalls/${id}/pitfall.ts:${line}:`;
  // A pair that cannot be built has no other side.
  const isFixRun = !String(fix.error).startsWith("not run, since its pair cannot be built");
  return [
    ...(pitfall.ok ? [`${id}: is as expected`] : []),
    ...(isFixRun && !fix.ok ? [`${id}: its fix is not: ${sayings(fix).join("; ")}`] : []),
    ...(said.some((text) => says.test(text)) ? [] : [`${id}: said only ${said.join("; ")}`]),
    ...(status && pitfall.status !== status ? [`${id}: status ${pitfall.status}`] : []),
    ...(line && !places.some((at) => at.includes(place))
      ? [`${id}: names line ${places.join()}`]
      : []),
  ];
}

const WRITES: MadePair = {
  id: "writes",
  engine: "workflow",
  pitfall: `export async function run(event, step, env) {
  console.log("before", { nested: [1] });
  await step.do("send mail", async () => {
    console.warn("in a step");
    await env.mail.send({ to: "ada@example.com", subject: "", text: "" });
  });
  await step.do("open account", () => env.accounts.open({ userId: event.payload.userId }));
}
`,
};

describe("many pairs at once", () => {
  let results: Record<string, PairResult>;
  beforeAll(async () => {
    results = await compareAll([...INNOCENT, WRITES, ...MISTAKES]);
  }, 180_000);

  test("mistakes of every kind end in time, are named with their line, and leave the other pairs alone", () => {
    expect(INNOCENT.filter(({ id }) => !results[id]?.ok)).toEqual([]);
    expect(MISTAKES.flatMap((mistake) => missingIn(results[mistake.id], mistake))).toEqual([]);
  });

  test("what variants write to the console is told, with their pair and side, from steps too", () => {
    const { pitfall, fix } = results["writes"]?.variants ?? {};
    // run() starts anew after the crash, the finished step does not.
    expect(pitfall?.console).toEqual([
      { level: "log", text: "before { nested: [ 1 ] }" },
      { level: "warn", text: "in a step" },
      { level: "log", text: "before { nested: [ 1 ] }" },
    ]);
    expect(pitfall?.ok).toBe(true);
    expect(fix?.console).toBeUndefined();
  });
});

describe("a side that lets nothing else run", () => {
  const LOOP = "export async function run() {\n  for (;;);\n}\n";
  const SIDES: [string, MadePair["engine"], string][] = [
    ["a loop", "workflow", LOOP],
    ["a loop in a module", "http", "export async function handle() {}\nfor (;;);\n"],
    [
      "a hog of memory",
      "queue",
      'export async function consume() {\n  const all = [];\n  while (true) all.push("x".repeat(1000) + all.length);\n}\n',
    ],
  ];

  test.for(SIDES)(
    "is found and named, and the others are as expected: %s",
    { timeout: 120_000 },
    async ([name, engine, pitfall], { skip }) => {
      skip(!SOAKING && name !== "a loop");
      const pairs = [...INNOCENT, { id: "blocks", engine, pitfall }];
      const results = await compareAll(pairs, { stallMs: STALL_MS });
      for (const { id } of INNOCENT) expect(results[id], id).toMatchObject({ ok: true });
      const sides = results["blocks"]?.variants;
      expect(sides?.pitfall).toMatchObject({
        ok: false,
        status: "blocked",
        error: expect.stringMatching(
          /while only this side ran.*blocks\/pitfall\.ts, loops on line \d/,
        ),
      });
      expect(sides?.fix).toMatchObject({ ok: true });
    },
  );
});

test.skipIf(!SOAKING)(
  "a time limit holds under constant garbage collection",
  async () => {
    await using lesson = await makeLesson([
      {
        id: "waits",
        engine: "workflow",
        pitfall: `export async function run(event, step) {
  await step.waitForEvent("wait", { type: "never", timeout: "1 day" });
}
`,
      },
    ]);
    const collect = "data:text/javascript,setInterval(gc,500).unref()";
    const cli = join(import.meta.dirname, "../src/cli.ts");
    const args = [
      "--expose-gc",
      "--import",
      collect,
      cli,
      "--apps",
      lesson.apps,
      "--timeout",
      "5",
      NUMBER,
    ];
    const output = await new Promise<string>((resolve) => {
      execFile(process.execPath, args, { timeout: 60_000 }, (_, stdout) => resolve(stdout));
    });
    expect(output).toContain("pitfall: timed out after 5000 ms");
    expect(output).toContain("1 pair: 0 as expected, 1 not");
  },
  90_000,
);
