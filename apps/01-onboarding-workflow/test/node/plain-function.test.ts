/** What becomes of a plain function that dies with its runtime, and of a Workflow beside it, when nobody asks again. */
import { join } from "node:path";
import { LessonRuntime } from "@durable-lessons/lab/runner";
import { PATIENTLY } from "@durable-lessons/test-kit";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { pairs } from "../../src/pitfalls/index.ts";

const lesson = join(import.meta.dirname, "..", "..");
let runtime: LessonRuntime;

beforeAll(async () => {
  const plain = pairs.filter(({ id }) => id === "plain-async-function");
  runtime = await LessonRuntime.start(lesson, {}, plain);
});
afterAll(() => runtime.close());

interface Report {
  evidence: Record<string, number>;
  hanging: string[];
}

async function start(variant: "pitfall" | "fix") {
  const path = `/pitfalls/plain-async-function/${variant}`;
  const { run } = (await (await runtime.fetch(path, { method: "POST" })).json()) as { run: string };
  const here = `${path}/${run}`;
  return {
    report: async () => (await (await runtime.fetch(here)).json()) as Report,
    wake: () => runtime.fetch(`${here}/wake`, { method: "POST" }),
  };
}

test("A18: after a crash a plain function does not even start over by itself; a Workflow goes on", async () => {
  const [plain, workflow] = [await start("pitfall"), await start("fix")];
  for (const run of [plain, workflow]) {
    await vi.waitUntil(async () => (await run.report()).hanging.includes("mail.send"), PATIENTLY);
  }
  const before = (await plain.report()).evidence;
  expect(before).toMatchObject({ "account.opened": 1 });

  expect((await runtime.crash()).signal).toBe("SIGKILL");
  // The local engine has to be woken. Nobody asks either of the two again.
  await workflow.wake();
  await vi.waitUntil(async () => (await workflow.report()).evidence["email.sent"] === 1, PATIENTLY);
  expect((await plain.report()).evidence).toEqual(before);
});
