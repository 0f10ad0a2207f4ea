/**
 * What each way of starting Workflows costs: `pnpm bench [--json] [--quick]`. Counts, and ratios of times of one run on
 * this machine: a local millisecond says nothing about production, where every call is a journey.
 */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { LessonRuntime } from "@durable-lessons/lab/runner";
import { evidenceByRun } from "@durable-lessons/outside-world";
import { createTestHarness } from "wrangler";
import type { Counts } from "./worker.ts";

const USAGE = `pnpm bench [--json] [--quick]

  --json    one object on standard output, for a program
  --quick   without the 10,000 orders, which take some minutes
  --help    this text`;

const { values } = readArguments();
if (values.help) {
  console.log(USAGE);
  process.exit();
}
const ROUNDS = 10;
const ORDERS = ROUNDS * 100;
// Its report of every batch would drown the tables.
process.env["WRANGLER_LOG"] ??= "error";
const lesson = join(import.meta.dirname, "..");
const TOKEN = crypto.randomUUID();
const say = (text: string) => values.json || console.log(text);
/** Progress, for whoever watches: never a part of the result. */
const progress = (text: string) =>
  process.stderr.isTTY && process.stderr.write(`\r\u001B[K${text}`);
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

/**
 * How many orders one workerd carries out. The local engine keeps three files open for every instance that it has run
 * (measured locally), so a machine that allows 20,000 of them stops at some 6,600 instances. A restart closes them.
 */
const ORDERS_PER_RUNTIME = 2000;

/** From POST to shipped, on a fresh runtime: nothing lost and nothing twice, and how long for each order. */
async function endToEnd(count: number) {
  const runtime = await LessonRuntime.start(lesson, { OPERATOR_TOKEN: TOKEN });
  const bindings = async () =>
    (await runtime.env("queue-to-workflow")) as unknown as { DB: D1Database; WORLD: D1Database };
  const shipped = async () => {
    const { DB } = await bindings();
    const sql = "SELECT COUNT(*) AS n FROM orders WHERE state = 'shipped'";
    const n = (await DB.prepare(sql).first<{ n: number }>())?.n ?? 0;
    progress(`${n} of ${count} orders are shipped`);
    return n;
  };
  try {
    const orders = Array.from({ length: count }, (_, nth) => ({
      orderId: `bench-${nth}`,
      card: "tok_visa",
      cents: 450,
      lines: [{ sku: "tea", quantity: 1 }],
    }));
    let ms = 0;
    let restarts = 0;
    for (let wave = 0; wave < count; wave += ORDERS_PER_RUNTIME) {
      if (wave > 0) {
        await runtime.crash();
        restarts += 1;
      }
      const end = Math.min(wave + ORDERS_PER_RUNTIME, count);
      const start = performance.now();
      for (let from = wave; from < end; from += 100) {
        // One machine is client, network and platform at once, and falls over where a client does not wait.
        while (from - (await shipped()) >= IN_FLIGHT) await delay(50);
        const response = await runtime.fetch("/orders/batch", {
          method: "POST",
          headers: { "content-type": "application/json", authorization: `Bearer ${TOKEN}` },
          body: JSON.stringify({ orders: orders.slice(from, Math.min(from + 100, end)) }),
        });
        if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`);
      }
      while ((await shipped()) < end) await delay(100);
      ms += performance.now() - start;
    }
    const counts = [...(await evidenceByRun((await bindings()).WORLD)).values()].map(Object.values);
    const whole = counts.filter((kinds) => kinds.length === 3).length;
    const repeated = counts.flat().reduce((sum, n) => sum + n - 1, 0);
    return { ms, restarts, whole, repeated };
  } finally {
    progress("");
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
  restarts: number;
  perOrder: number;
}[] = [];
const missed: string[] = [];
for (const count of [100, 1000, ...(values.quick ? [] : [10_000])]) {
  const { ms, restarts, whole, repeated } = await endToEnd(count);
  // Reserved, charged and shipped, each order once.
  if (whole !== count || repeated > 0) {
    missed.push(`${count} orders: ${count - whole} not whole, ${repeated} effects too many`);
  }
  const perOrder = ms / count;
  growth.push({ orders: count, lost: count - whole, "done twice": repeated, restarts, perOrder });
}
const thousand = growth.find(({ orders }) => orders === 1000)?.perOrder ?? Number.NaN;
const endToEndRows = growth.map(({ perOrder, ...row }) => ({
  ...row,
  "time for each, to that of 1000": rounded(perOrder / thousand),
}));
say("\nFrom POST to shipped");
if (!values.json) console.table(endToEndRows);

const expectedCalls = Math.ceil(ORDERS / 100);
if (byWay[1]?.calls !== expectedCalls) missed.push(`createBatch took ${byWay[1]?.calls} calls`);
if (values.json) console.log(JSON.stringify({ byWay, byBatchSize, endToEnd: endToEndRows }));
for (const miss of missed) console.error(miss);
process.exitCode = missed.length === 0 ? 0 : 1;

/** @returns what the call asks for; ends the process with 2 where it is wrong */
function readArguments() {
  try {
    return parseArgs({
      options: {
        json: { type: "boolean", default: false },
        quick: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    process.exit(2);
  }
}
