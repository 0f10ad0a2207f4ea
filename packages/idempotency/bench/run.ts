// What a batch of 100 costs, each way, on real D1 in workerd: `pnpm bench`. Everything is measured in one run and given as a
// ratio, since the milliseconds are this machine's. The local D1 is in the same process; in production every statement
// is a journey, and the difference greater.
import { fileURLToPath } from "node:url";
import { readD1Migrations } from "@cloudflare/vitest-plugin";
import { createTestHarness } from "wrangler";
import type { Counted, Run } from "./run-types.ts";

const SIZE = 100;
const ROUNDS = 5;
const USUAL = "SELECT, effect, INSERT";
const OURS = "consumeOnce";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const server = createTestHarness({ workers: [{ configPath: here("wrangler.jsonc") }] });

async function post<T>(path: string, body: unknown): Promise<T> {
  const response = await server.fetch(path, { method: "POST", body: JSON.stringify(body) });
  if (!response.ok)
    throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

async function measure(strategies: string[], effectMs: number) {
  const times = new Map(strategies.map((strategy) => [strategy, [] as number[]]));
  const counts = new Map<string, Counted>();
  for (let round = 0; round <= ROUNDS; round++) {
    for (const strategy of strategies) {
      const start = performance.now();
      const counted = await post<Counted>("/run", { strategy, size: SIZE, effectMs } satisfies Run);
      // The first round warms up.
      if (round > 0) times.get(strategy)?.push(performance.now() - start);
      if (counted.effects !== SIZE) throw new Error(`${strategy}: ${counted.effects} effects`);
      counts.set(strategy, counted);
    }
  }
  const rows = strategies.map((strategy) => ({
    strategy,
    statements: counts.get(strategy)?.statements ?? Number.NaN,
    ms: median(times.get(strategy) ?? []),
  }));
  const usualMs = rows.find(({ strategy }) => strategy === USUAL)?.ms ?? Number.NaN;
  return rows.map((row) => ({ ...row, timesAsFast: usualMs / row.ms }));
}

try {
  await server.listen();
  const migrations = await readD1Migrations(here("../migrations"));
  const strategies = await post<string[]>("/setup", [
    ...migrations.flatMap(({ queries }) => queries),
    "CREATE TABLE seen (key TEXT NOT NULL PRIMARY KEY)",
  ]);

  const missed: string[] = [];
  for (const effectMs of [0, 20]) {
    const rows = await measure(strategies, effectMs);
    console.log(`\nA batch of ${SIZE}, an effect of ${effectMs} ms, median of ${ROUNDS} rounds`);
    console.table(
      rows.map(({ strategy, statements, ms, timesAsFast }) => ({
        strategy,
        "D1 statements": statements,
        ms: Number(ms.toFixed(1)),
        "times as fast": Number(timesAsFast.toFixed(1)),
      })),
    );
    const ours = rows.find(({ strategy }) => strategy === OURS);
    const usual = rows.find(({ strategy }) => strategy === USUAL);
    if (ours?.statements !== 2) missed.push(`${OURS} took ${ours?.statements} statements, not 2`);
    if (usual?.statements !== 2 * SIZE)
      missed.push(`${USUAL} took ${usual?.statements} statements`);
    if (effectMs === 20 && !((ours?.timesAsFast ?? 0) >= 10)) {
      missed.push(`${OURS} is ${ours?.timesAsFast.toFixed(1)} times as fast, not 10`);
    }
  }
  for (const miss of missed) console.error(miss);
  process.exitCode = missed.length === 0 ? 0 : 1;
} finally {
  await server.close();
}
