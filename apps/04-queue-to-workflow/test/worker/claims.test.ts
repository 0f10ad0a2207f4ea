/** What articles say about instance ids behind a queue, and what we add: asked of the real engine. */
import { untilOver } from "@durable-lessons/test-kit";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { FulfilmentWorkflow } from "../../src/index.ts";
import { newOrder } from "./helpers.ts";

afterEach(() => vi.restoreAllMocks());

/** Counts the runs of each instance, which do nothing. */
function countRuns() {
  const runs: string[] = [];
  vi.spyOn(FulfilmentWorkflow.prototype, "run").mockImplementation(async ({ instanceId }) => {
    runs.push(instanceId);
    return { state: "nothing was done" };
  });
  return runs;
}
const createBatch = (ids: string[]) =>
  env.FULFILMENT.createBatch({ instances: ids.map((id) => ({ id, params: newOrder() })) });
const isThere = (id: string) =>
  env.FULFILMENT.get(id).then(
    () => true,
    () => false,
  );

test("F1: an id that exists is refused by an error, and starts nothing; once it is forgotten it starts a run", async () => {
  const runs = countRuns();
  const id = crypto.randomUUID();
  const create = () => env.FULFILMENT.create({ id, params: newOrder() });
  await untilOver(await create());
  await expect(create()).rejects.toThrow("instance.already_exists");
  expect(runs).toEqual([id]);
  await (await env.FULFILMENT.get(id)).delete();
  await untilOver(await create());
  expect(runs).toEqual([id, id]);
});

test("F5: a batch has up to a hundred instances", async () => {
  countRuns();
  const ids = Array.from({ length: 101 }, () => crypto.randomUUID());
  await expect(createBatch(ids)).rejects.toThrow("Batch size exceeds");
  expect(await isThere(ids[0] ?? "")).toBe(false);
  const { created } = await createBatch(ids.slice(1));
  expect(created).toHaveLength(100);
  await Promise.all(created.map(async ({ id }) => untilOver(await env.FULFILMENT.get(id))));
});

test("F6: one id that the platform does not take refuses the whole batch", async () => {
  const runs = countRuns();
  const good = crypto.randomUUID();
  await expect(createBatch([good, "shop/1002"])).rejects.toThrow("instance.invalid_id");
  expect([await isThere(good), runs]).toEqual([false, []]);
});
