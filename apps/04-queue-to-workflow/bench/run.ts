/**
 * What each way of starting Workflows costs: `pnpm bench [--json] [--ten-thousand]`. Counts, and ratios of
 * times of one run on this machine: a local millisecond says nothing about production, where every call is a journey.
 */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { LessonRuntime } from "@durable-lessons/lab/runner";
import { createTestHarness } from "wrangler";
import type { Counts } from "./worker.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    "ten-thousand": { type: "boolean", default: false },
  },
});
const ROUNDS = 10;
const ORDERS = ROUNDS * 100;
// Its report of every batch would drown the tables.
process.env["WRANGLER_LOG"] ??= "error";
const lesson = join(import.meta.dirname, "..");
const say = (text: string) => values.json || console.log(text);
const rounded = (value: number) => Number(value.toFixed(2));

/** How long something takes, in rounds of a hundred: the ways take turns, so that all meet the same machine. */
async function inTurns<Way extends string | number>(
  ways: readonly Way[],
  round: (ask: <T>(path: string) => Promise<T>, way: Way, nth: number) => Promise<Counts>,
): Promise<{ way: Way; counts: Counts; ms: number }[]> {
  const server = createTestHarness({
    root: join(lesson, "bench"),
    workers: [{ configPath: "wrangler.jsonc" }],
  });
  try {
    await server.listen();
    await server.getWorker().applyD1Migrations("DB");
    const ask = async <T>(path: string): Promise<T> => {
      const response = await server.fetch(path);
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return JSON.parse(await response.text());
    };
    const rows = ways.map((way) => ({ way, counts: NONE, times: [] as number[] }));
    for (let nth = 0; nth < ROUNDS; nth++) {
      for (const row of rows) {
        const start = performance.now();
        const counts = await round(ask, row.way, nth);
        row.times.push(performance.now() - start);
        row.counts = sumOf(row.counts, counts);
      }
    }
    return rows.map(({ way, counts, times }) => ({ way, counts, ms: median(times) }));
  } finally {
    await server.close();
  }
}

const NONE: Counts = { consumerCalls: 0, createCalls: 0, created: 0, statements: 0 };
const sumOf = (a: Counts, b: Counts): Counts => ({
  consumerCalls: a.consumerCalls + b.consumerCalls,
  createCalls: a.createCalls + b.createCalls,
  created: a.created + b.created,
  statements: a.statements + b.statements,
});
const median = (times: number[]) =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;

/** One create for each message against createBatch. */
async function startingInstances() {
  const ways = await inTurns(["create", "create-batch"], (ask, way, nth) =>
    ask<Counts>(`/${way}?count=100&name=${way}-${nth}`),
  );
  return ways.map(({ way, counts, ms }) => ({
    way: way === "create" ? "one create each" : "createBatch",
    instances: counts.created,
    calls: counts.createCalls,
    "times as fast": rounded((ways[0]?.ms ?? Number.NaN) / ms),
  }));
}

/** The lesson's consumer behind three batch sizes. */
async function consumingBatches() {
  const sizes = await inTurns([1, 10, 100], async (ask, size, nth) => {
    await ask(`/send?count=100&size=${size}&name=${size}-${nth}`);
    for (;;) {
      const counts = await ask<Counts>(`/counts?size=${size}`);
      if (counts.created === 100) return ask<Counts>(`/counts?size=${size}&forget=yes`);
      await delay(20);
    }
  });
  return sizes.map(({ way, counts, ms }) => ({
    "batch size": way,
    messages: counts.created,
    "consumer calls": counts.consumerCalls,
    "calls of createBatch": counts.createCalls,
    "D1 statements": counts.statements,
    "times as fast": rounded((sizes[0]?.ms ?? Number.NaN) / ms),
  }));
}

/** How many orders a client leaves open before it sends the next hundred. */
const IN_FLIGHT = 500;

/** From POST to shipped, on a fresh runtime: nothing lost and nothing twice, and how long for each order. */
async function endToEnd(count: number) {
  const runtime = await LessonRuntime.start(lesson);
  try {
    const { DB, WORLD } = (await runtime.env("queue-to-workflow")) as unknown as {
      DB: D1Database;
      WORLD: D1Database;
    };
    const orders = Array.from({ length: count }, (_, nth) => ({
      orderId: `bench-${nth}`,
      card: "tok_visa",
      cents: 450,
      lines: [{ sku: "tea", quantity: 1 }],
    }));
    const shipped = async () =>
      (
        await DB.prepare("SELECT COUNT(*) AS n FROM orders WHERE state = 'shipped'").first<{
          n: number;
        }>()
      )?.n ?? 0;
    const start = performance.now();
    for (let from = 0; from < count; from += 100) {
      // One machine is client, network and platform at once, and falls over where a client does not wait.
      while (from - (await shipped()) >= IN_FLIGHT) await delay(50);
      const response = await runtime.fetch("/orders/batch", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ orders: orders.slice(from, from + 100) }),
      });
      if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`);
    }
    while ((await shipped()) < count) await delay(100);
    const ms = performance.now() - start;
    const { results } = await WORLD.prepare(
      `SELECT MIN(n) AS least, MAX(n) AS most, COUNT(DISTINCT run) AS runs
       FROM (SELECT run, kind, COUNT(*) AS n FROM effects GROUP BY run, kind)`,
    ).all<{ least: number; most: number; runs: number }>();
    return { count, ms, effects: results[0] };
  } finally {
    await runtime.close();
  }
}

const byWay = await startingInstances();
say(`\nStarting ${ORDERS} instances that do nothing`);
if (!values.json) console.table(byWay);
const byBatchSize = await consumingBatches();
say(`\nThe consumer behind a queue, ${ORDERS} messages`);
if (!values.json) console.table(byBatchSize);

const growth: {
  orders: number;
  lost: number;
  "done twice": number;
  perOrder: number;
}[] = [];
const missed: string[] = [];
for (const count of [100, 1000, ...(values["ten-thousand"] ? [10_000] : [])]) {
  const { ms, effects } = await endToEnd(count);
  const { runs = 0, least, most } = effects ?? {};
  if (runs !== count || least !== 1 || most !== 1) missed.push(`${count} orders: ${runs} shipped`);
  const perOrder = ms / count;
  growth.push({
    orders: count,
    lost: count - runs,
    // Of any effect: 0 where each order has each of its effects once.
    "done twice": (most ?? 0) - (least ?? 0),
    perOrder,
  });
}
const endToEndRows = growth.map(({ perOrder, ...row }) => ({
  ...row,
  "time for each, to the first row": rounded(perOrder / (growth[0]?.perOrder ?? perOrder)),
}));
say("\nFrom POST to shipped");
if (!values.json) console.table(endToEndRows);

const expectedCalls = Math.ceil(ORDERS / 100);
if (byWay[1]?.calls !== expectedCalls) missed.push(`createBatch took ${byWay[1]?.calls} calls`);
if (values.json) console.log(JSON.stringify({ byWay, byBatchSize, endToEnd: endToEndRows }));
for (const miss of missed) console.error(miss);
process.exitCode = missed.length === 0 ? 0 : 1;
