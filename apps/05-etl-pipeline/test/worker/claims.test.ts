import { WAKE_EVENT } from "@durable-lessons/types";
import { PATIENTLY, untilOver } from "@durable-lessons/test-kit";
import { env, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { EtlWorkflow } from "../../src/index.ts";
import { csv, deliver, load, newDay, row } from "./helpers.ts";

const MIB = 2 ** 20;

afterEach(() => vi.restoreAllMocks());

/** Runs any `run` on the real engine, in the place of the lesson's. */
async function runAs(run: (step: WorkflowStep) => Promise<unknown>) {
  vi.spyOn(EtlWorkflow.prototype, "run").mockImplementation(((
    _event: unknown,
    step: WorkflowStep,
  ) => run(step)) as EtlWorkflow["run"]);
  return env.ETL.create({ params: { day: newDay() } });
}

test("D2: the local engine takes a result of 5 MiB without a word", async () => {
  const instance = await runAs(async (step) => {
    const text = await step.do("extract", async () => "x".repeat(5 * MIB));
    return text.length;
  });
  expect(await untilOver(instance)).toMatchObject({ status: "complete", output: 5 * MIB });
});

test("D2: a stream may be a result, and one of 5 MiB comes back whole", async () => {
  const instance = await runAs(async (step) => {
    const stream = await step.do("extract", async () => new Blob(["x".repeat(5 * MIB)]).stream());
    return (await new Response(stream).text()).length;
  });
  expect(await untilOver(instance)).toMatchObject({ status: "complete", output: 5 * MIB });
});

test("D3: an index is a stable name where the list is the result of a step", async () => {
  let lists = 0;
  let runs = 0;
  const callbacks: string[] = [];
  const instance = await runAs(async (step) => {
    runs += 1;
    const isFirst = runs === 1;
    const files = await step.do("list", async () => (++lists === 1 ? ["b", "c"] : ["a", "b", "c"]));
    const done = [];
    for (const [index, file] of files.entries()) {
      done.push(
        await step.do(`load file ${index}`, async () => {
          callbacks.push(file);
          return file;
        }),
      );
    }
    if (isFirst) throw new Error("Aborting engine: Grace period complete");
    return done.join();
  });
  await vi.waitUntil(async () => {
    await instance.sendEvent({ type: WAKE_EVENT, payload: null });
    return runs > 1;
  }, PATIENTLY);
  expect((await untilOver(instance)).output).toBe("b,c");
  expect([lists, callbacks]).toEqual([1, ["b", "c"]]);
});

test("D7: a file that fails is tried again, and its neighbours are not", async () => {
  const original = EtlWorkflow.prototype.run;
  const callbacks: string[] = [];
  vi.spyOn(EtlWorkflow.prototype, "run").mockImplementation(function run(
    this: EtlWorkflow,
    event: WorkflowEvent<{ day: string }>,
    step: WorkflowStep,
  ) {
    const call = step.do as unknown as (
      name: string,
      config: unknown,
      callback: () => Promise<unknown>,
    ) => Promise<unknown>;
    const watched: typeof call = (name, config, callback) =>
      call(name, config, async () => {
        callbacks.push(name);
        const result = await callback();
        const attempts = callbacks.filter((done) => done === name).length;
        // After all of it is written: the worst moment.
        if (name === "load b.csv" && attempts < 3) throw new Error("D1 has a bad moment");
        return result;
      });
    return original.call(this, event, { do: watched } as unknown as WorkflowStep);
  });
  const day = newDay();
  const files = ["a.csv", "b.csv", "c.csv"];
  await deliver(day, Object.fromEntries(files.map((file) => [file, csv(row(day, file[0] ?? ""))])));
  expect(await load(day)).toMatchObject({ rows: 3, currencies: { EUR: { minor: 300 } } });
  expect(callbacks).toEqual([
    "open run",
    "list files, page 1",
    ...files.map((file) => `transform ${file}`),
    "clear what is stale",
    "load a.csv",
    "load b.csv",
    "load b.csv",
    "load b.csv",
    "load c.csv",
    "write report",
  ]);
});

test("D9: R2 refuses a stream whose length nobody knows, and takes one of a fixed length", async () => {
  const text = () => new Blob(["some text"]).stream();
  const unknown = text().pipeThrough(new TransformStream<Uint8Array, Uint8Array>());
  await expect(env.FILES.put("claims/unknown", unknown)).rejects.toThrow("known length");
  await env.FILES.put("claims/known", text().pipeThrough(new FixedLengthStream(9)));
  expect(await (await env.FILES.get("claims/known"))?.text()).toBe("some text");
});

test("D10: D1 takes a hundred parameters, and thousands of rows in one of them", async () => {
  const select = (count: number) =>
    env.DB.prepare(`SELECT ${Array(count).fill("?").join()}`)
      .bind(...Array(count).keys())
      .first();
  await select(100);
  await expect(select(101)).rejects.toThrow("too many SQL variables");
  const rows = JSON.stringify(Array.from({ length: 5000 }, (_, nth) => ({ id: nth })));
  const counted = await env.DB.prepare("SELECT COUNT(value ->> '$.id') AS n FROM json_each(?1)")
    .bind(rows)
    .first("n");
  expect(counted).toBe(5000);
});
