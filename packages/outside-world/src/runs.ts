import type { EffectKind, Mark } from "@durable-lessons/types";
import { receiptId } from "./call.ts";
import type { Effect } from "./effects.ts";
import type { Fault, FaultScript, Operation } from "./faults.ts";

/** How often each kind of effect happened in a run. Kinds that did not happen are absent. */
export type Evidence = Partial<Record<EffectKind, number>>;

/** What the driver of a run stores with it. */
export interface RunRecord {
  startedBy: unknown;
  status: string | null;
  output: unknown;
  error: unknown;
  /** Milliseconds since the epoch. */
  startedAt: number;
}

/**
 * Opens a run before anything of it happens.
 *
 * @param run its id; opening the same id again changes nothing
 * @param options `faults`: the script of its providers; `startedBy`: JSON that the driver wants back from
 *   {@link readRun}; `names`: texts by which it will tell effects apart, since requests are not kept
 */
export async function openRun(
  world: D1Database,
  run: string,
  options: {
    faults?: FaultScript | undefined;
    startedBy?: unknown;
    names?: readonly string[] | undefined;
  } = {},
): Promise<void> {
  await world
    .prepare(
      "INSERT INTO runs (run, script, started_by, started_at, names) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING",
    )
    .bind(
      run,
      JSON.stringify(options.faults ?? {}),
      JSON.stringify(options.startedBy ?? null),
      Date.now(),
      JSON.stringify(options.names ?? []),
    )
    .run();
}

/** Changes the faults of a run, or opens it with these: how an outage begins and ends. */
export async function scriptFaults(
  world: D1Database,
  run: string,
  faults: FaultScript,
): Promise<void> {
  await scriptManyRuns(world, [[run, faults]]);
}

/** Does what {@link scriptFaults} does for many runs, in one statement: as many as fit into D1's 2 MB for a parameter. */
export async function scriptManyRuns(
  world: D1Database,
  scripts: Iterable<readonly [run: string, faults: FaultScript]>,
): Promise<void> {
  await world
    .prepare(
      `INSERT INTO runs (run, script, started_at)
       SELECT value ->> 0, value -> 1, ?2 FROM json_each(?1) WHERE TRUE
       ON CONFLICT (run) DO UPDATE SET script = excluded.script`,
    )
    .bind(JSON.stringify([...scripts]), Date.now())
    .run();
}

/** Notes how a run stands, as its driver sees it. `output` and `error` are stored as JSON. */
export async function recordRun(
  world: D1Database,
  run: string,
  { status, output, error }: { status: string; output?: unknown; error?: unknown },
): Promise<void> {
  await world
    .prepare("UPDATE runs SET status = ?2, output = ?3, error = ?4 WHERE run = ?1")
    .bind(run, status, JSON.stringify(output ?? null), JSON.stringify(error ?? null))
    .run();
}

/** What is stored with a run, or null where nobody opened it. */
export async function readRun(world: D1Database, run: string): Promise<RunRecord | null> {
  const row = await world
    .prepare("SELECT started_by, status, output, error, started_at FROM runs WHERE run = ?1")
    .bind(run)
    .first<{
      started_by: string | null;
      status: string | null;
      output: string | null;
      error: string | null;
      started_at: number;
    }>();
  if (!row) return null;
  return {
    startedBy: JSON.parse(row.started_by ?? "null"),
    status: row.status,
    output: JSON.parse(row.output ?? "null"),
    error: JSON.parse(row.error ?? "null"),
    startedAt: row.started_at,
  };
}

/** The effects of a run, in their order. */
export async function effectsOf(world: D1Database, run: string): Promise<Effect[]> {
  const { results } = await world
    .prepare("SELECT id, kind, key, detail, at, names FROM effects WHERE run = ?1 ORDER BY id")
    .bind(run)
    .all<{
      id: number;
      kind: EffectKind;
      key: string | null;
      detail: string;
      at: number;
      names: string;
    }>();
  return results.map((row) => ({
    ...row,
    id: receiptId(row.kind, row.id),
    detail: JSON.parse(row.detail),
    names: JSON.parse(row.names),
  }));
}

/** Something that the driver of a run noticed around it. */
export interface Observation {
  kind: string;
  detail: unknown;
}

/** Notes what the driver of a run noticed. */
export async function observe(world: D1Database, run: string, seen: Observation[]): Promise<void> {
  await world
    .prepare(
      `INSERT INTO observations (run, kind, detail, at)
       SELECT ?1, value ->> '$.kind', value -> '$.detail', ?3 FROM json_each(?2)`,
    )
    .bind(run, JSON.stringify(seen), Date.now())
    .run();
}

/** What was noticed of a run, in its order. */
export async function observationsOf(world: D1Database, run: string): Promise<Observation[]> {
  const { results } = await world
    .prepare("SELECT kind, detail FROM observations WHERE run = ?1 ORDER BY id")
    .bind(run)
    .all<{ kind: string; detail: string }>();
  return results.map((row) => ({ kind: row.kind, detail: JSON.parse(row.detail) }));
}

/** Everything that happened to the outside world in a run or was noticed around it, in the order of time. */
export async function marksOf(world: D1Database, run: string): Promise<Mark[]> {
  const { results } = await world
    .prepare(
      `SELECT kind, detail, at FROM effects WHERE run = ?1
       UNION ALL SELECT kind, detail, at FROM observations WHERE run = ?1 ORDER BY at`,
    )
    .bind(run)
    .all<{ kind: string; detail: string; at: number }>();
  return results.map((row) => ({ ...row, detail: JSON.parse(row.detail) }));
}

/**
 * Forgets what is older than a time: runs by their start, everything else by when it happened. A key that was used before then
 * is a new one after it, as with a provider that keeps its keys for so long.
 *
 * @param before milliseconds since the epoch
 */
export async function sweepWorld(world: D1Database, before: number): Promise<void> {
  const older = (table: string, column: string) =>
    world.prepare(`DELETE FROM ${table} WHERE ${column} < ?1`).bind(before);
  await world.batch([
    older("runs", "started_at"),
    older("calls", "at"),
    older("effects", "at"),
    older("observations", "at"),
  ]);
}

/** Counts effects by kind. */
export function countEffects(effects: readonly Effect[]): Evidence {
  const evidence: Evidence = {};
  for (const { kind } of effects) evidence[kind] = (evidence[kind] ?? 0) + 1;
  return evidence;
}

/** Counts the effects of a run by kind. */
export const evidenceOf = async (world: D1Database, run: string): Promise<Evidence> =>
  countEffects(await effectsOf(world, run));

/** Counts the effects of every run that has any, by kind. */
export async function evidenceByRun(world: D1Database): Promise<Map<string, Evidence>> {
  const { results } = await world
    .prepare("SELECT run, kind, COUNT(*) AS n FROM effects GROUP BY run, kind")
    .all<{ run: string; kind: EffectKind; n: number }>();
  const byRun = new Map<string, Evidence>();
  for (const { run, kind, n } of results) byRun.set(run, { ...byRun.get(run), [kind]: n });
  return byRun;
}

/** One call of a provider, answered or not. */
export interface Call {
  operation: Operation;
  /** Which of its run's calls of its operation it is, from 1. */
  nth: number;
  /** What it met: null where the script says nothing of it. */
  fault: Fault | null;
  /** Did it wait, or does it still, for an answer that never comes? */
  hangs: boolean;
}

/** The calls of a run, or of all runs, in the order of time. */
export async function callsOf(world: D1Database, run?: string): Promise<Call[]> {
  const { results } = await world
    .prepare(
      "SELECT operation, nth, fault, hangs FROM calls WHERE ?1 IS NULL OR run = ?1 ORDER BY at, nth",
    )
    .bind(run ?? null)
    .all<{ operation: Operation; nth: number; fault: string | null; hangs: number }>();
  return results.map(({ fault, hangs, ...call }) => ({
    ...call,
    fault: JSON.parse(fault ?? "null"),
    hangs: hangs === 1,
  }));
}

/** How many calls have hung so far, of every run that has called anybody: 0 where none has. */
export async function hangsByRun(world: D1Database): Promise<Map<string, number>> {
  const { results } = await world
    .prepare("SELECT run, SUM(hangs) AS n FROM calls GROUP BY run")
    .all<{ run: string; n: number }>();
  return new Map(results.map(({ run, n }) => [run, n]));
}

/** The operations of which a call of this run waits for an answer that never comes, since the run was last woken. */
export async function hangingCalls(world: D1Database, run: string): Promise<Operation[]> {
  const { results } = await world
    .prepare("SELECT DISTINCT operation FROM calls WHERE run = ?1 AND hangs = 1")
    .bind(run)
    .all<{ operation: Operation }>();
  return results.map((row) => row.operation);
}

/** Notes that nobody waits any more in this run: its runtime was killed. */
export async function forgetHangs(world: D1Database, run: string): Promise<void> {
  await world.prepare("UPDATE calls SET hangs = 0 WHERE run = ?1").bind(run).run();
}
