/** What a step may return, and what comes back of it on a replay: asked of the real engine. */
import { untilOver } from "@durable-lessons/test-kit";
import { crashOnce, revive } from "@durable-lessons/test-kit/crash";
import { env, type WorkflowStep } from "cloudflare:workers";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { OrderWorkflow } from "../../src/index.ts";
import { newParams, runAs } from "./helpers.ts";

afterEach(() => vi.restoreAllMocks());

const VALUES = {
  undefined: undefined,
  false: false,
  "0": 0,
  "": "",
  null: null,
  "-0": -0,
  NaN: Number.NaN,
  "Date 0": new Date(0),
  "Map 1": new Map([["a", 1]]),
  "Error: no": new Error("no"),
  "Set 1": new Set([1]),
  "bigint 1": 1n,
  "bytes 1": new Uint8Array([1]),
};

/** Says what a value is, as its key in {@link VALUES} does. */
function describeValue(value: unknown): string {
  if (Object.is(value, -0)) return "-0";
  if (value instanceof Date) return `Date ${value.getTime()}`;
  if (value instanceof Map) return `Map ${value.size}`;
  if (value instanceof Set) return `Set ${value.size}`;
  if (value instanceof Uint8Array) return `bytes ${value.join()}`;
  if (typeof value === "bigint") return `bigint ${value}`;
  return String(value);
}

test("A21: what has no place in JSON is kept over a crash, in steps", async () => {
  const { run } = OrderWorkflow.prototype;
  onTestFinished(() => {
    OrderWorkflow.prototype.run = run;
  });
  const readBack = async (_event: unknown, step: WorkflowStep) => {
    const seen: string[] = [];
    for (const [name, value] of Object.entries(VALUES)) {
      seen.push(describeValue(await step.do(`return ${name}`, async () => value as null)));
    }
    await step.do("last", async () => null);
    return seen;
  };
  // No mock: crashOnce puts its own around what is there.
  OrderWorkflow.prototype.run = readBack as unknown as OrderWorkflow["run"];
  const log = crashOnce(OrderWorkflow, "last", "before");
  const instance = await env.ORDERS.create({ id: crypto.randomUUID(), params: newParams() });
  await revive(log, instance);
  const { output } = await untilOver(instance);
  vi.restoreAllMocks();
  expect(output).toEqual(Object.keys(VALUES));
});

test("the output of an instance is JSON: a Date becomes text, a Map nothing", async () => {
  const instance = await runAs(async () => ({ date: new Date(0), map: new Map([["a", 1]]) }));
  expect((await untilOver(instance)).output).toEqual({ date: "1970-01-01T00:00:00.000Z", map: {} });
});

class Money {
  cents = 1;
}

/** Returns a value from a step with two retries; says how often its callback was called, and how the run ended. */
async function endOf(value: () => unknown): Promise<{ calls: number; status: string }> {
  let calls = 0;
  const instance = await runAs(async (_event, step) => {
    await step.do("step", { retries: { limit: 2, delay: 10 } }, async () => {
      calls += 1;
      return value() as null;
    });
  });
  return { status: (await untilOver(instance)).status, calls };
}

test.each<[string, () => unknown, number]>([
  ["an instance of a class fails each attempt, after its effect", () => new Money(), 3],
  ["so does a symbol", () => Symbol("no"), 3],
  ["so does a URL", () => new URL("https://example.com"), 3],
  ["so does an object with a promise", () => ({ later: Promise.resolve(1) }), 3],
  ["a function ends the run after the first one", () => () => 1, 1],
  ["a Response ends it too", () => new Response("text"), 1],
])("A21: %s", async (_name, value, calls) => {
  expect(await endOf(value)).toEqual({ status: "errored", calls });
});

test.each<[string, () => unknown]>([
  ["Headers", () => new Headers({ a: "b" })],
  ["a ReadableStream", () => new Response("text").body],
])("A21: the platform's own types can be stored: %s", async (_name, value) => {
  expect(await endOf(value)).toEqual({ status: "complete", calls: 1 });
});
