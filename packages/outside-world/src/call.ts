import type { EffectKind } from "@durable-lessons/types";
import { type Fault, type Operation, ProviderError } from "./faults.ts";
import { keptOf } from "./kept.ts";

/** A request to a provider, before anything has happened. */
export interface ProviderRequest {
  operation: Operation;
  /** The effect that success leaves behind. */
  kind: EffectKind;
  /** The effect that a decline leaves behind; without it a `decline` is a plain failure. */
  declinedKind?: EffectKind;
  /** What is asked for. The same key with another detail is refused. Of it {@link keptOf} is kept. */
  detail: Record<string, unknown>;
  /** The caller's idempotency key. */
  key?: string | undefined;
  /**
   * Asks a real provider behind the simulated one, unless the key is known. It takes no keys itself: where its answer is lost, or
   * this Worker dies before the receipt is written, it is asked again. So what it does is done at least once.
   */
  reallyDo?: (() => Promise<unknown>) | undefined;
}

/** What a provider remembers of a request. */
export interface Receipt {
  /** The provider's own id of the effect. */
  id: string;
  kind: EffectKind;
}

/**
 * Sends one request to a provider of the run's outside world.
 *
 * @returns the receipt of the effect, or the first receipt where the key is known
 * @throws ProviderError where the run's script says so, or with the code `idempotency_key_reused` where the key
 *   stands for another request
 */
export async function call(
  world: D1Database,
  run: string,
  request: ProviderRequest,
): Promise<Receipt> {
  const { operation } = request;
  const fault = await meetFault(world, run, operation, request.detail);

  const kind = fault === "decline" ? request.declinedKind : request.kind;
  if (!kind) throw new ProviderError(operation, "declined", "the provider said no");
  if (request.reallyDo && !(await isKnown(world, run, request))) await request.reallyDo();
  const receipt = await remember(world, run, { ...request, kind });

  if (fault === "hang-after-effect") await neverAnswer(world, run, operation);
  if (fault === "fail-after-effect") {
    throw new ProviderError(operation, "connection_reset", "the answer was lost on its way");
  }
  if (typeof fault === "object" && "slowMs" in fault) await scheduler.wait(fault.slowMs);
  return receipt;
}

/**
 * Notes a call, and lets it fail or hang before anything has happened, where the run's script says so. For an operation
 * without an effect that is all there is to it.
 *
 * @param detail what is asked for
 * @returns the fault that is left to meet once it has happened
 * @throws ProviderError where the run's script says so
 */
export async function meetFault(
  world: D1Database,
  run: string,
  operation: Operation,
  detail: unknown = null,
): Promise<Fault> {
  const fault = await nextFault(world, run, operation, detail);
  if (fault === "hang") await neverAnswer(world, run, operation);
  if (fault === "fail")
    throw new ProviderError(operation, "unavailable", "no answer from upstream");
  if (typeof fault === "object" && "code" in fault) {
    throw new ProviderError(operation, fault.code, fault.message, fault.retryAfterSeconds);
  }
  return fault;
}

/** Notes the call and reads its fault in one statement, so that two calls at once never share a number. */
async function nextFault(
  world: D1Database,
  run: string,
  operation: Operation,
  detail: unknown,
): Promise<Fault> {
  const row = await world
    .prepare(
      `INSERT INTO calls (run, operation, nth, fault, at)
       SELECT ?1, ?2, n, (
         SELECT COALESCE(
           CASE WHEN instr(?4, COALESCE(script ->> ('$."' || ?2 || '".about'), ''))
             THEN script -> ('$."' || ?2 || '".always') END,
           script -> ('$."' || ?2 || '"[' || (n - 1) || ']'))
         FROM runs WHERE run = ?1
       ), ?3
       FROM (SELECT COUNT(*) + 1 AS n FROM calls WHERE run = ?1 AND operation = ?2)
       RETURNING fault`,
    )
    .bind(run, operation, Date.now(), JSON.stringify(detail))
    .first<{ fault: string | null }>();
  return row?.fault ? JSON.parse(row.fault) : "ok";
}

async function remember(
  world: D1Database,
  run: string,
  request: ProviderRequest,
): Promise<Receipt> {
  const { operation, kind, key = null } = request;
  const detail = JSON.stringify(await keptOf(run, request.detail));
  const inserted = await world
    .prepare(
      `INSERT INTO effects (run, kind, operation, key, detail, at, names)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6, json_group_array(name.value)
       FROM runs, json_each(runs.names) AS name WHERE runs.run = ?1 AND instr(?7, name.value)
       ON CONFLICT (run, key) DO NOTHING
       RETURNING id`,
    )
    .bind(run, kind, operation, key, detail, Date.now(), JSON.stringify(request.detail))
    .first<{ id: number }>();
  if (inserted) return { id: receiptId(kind, inserted.id), kind };

  const first = await world
    .prepare("SELECT id, kind, operation, detail FROM effects WHERE run = ?1 AND key = ?2")
    .bind(run, key)
    .first<{ id: number; kind: EffectKind; operation: string; detail: string }>();
  if (first?.operation !== operation || first.detail !== detail) {
    throw new ProviderError(
      operation,
      "idempotency_key_reused",
      `the key "${key}" stands for another request`,
    );
  }
  return { id: receiptId(first.kind, first.id), kind: first.kind };
}

const isKnown = async (world: D1Database, run: string, { key }: ProviderRequest) =>
  key !== undefined && (await receiptOf(world, run, key)) !== null;

/** What a provider remembers under a key, or null. */
export async function receiptOf(
  world: D1Database,
  run: string,
  key: string,
): Promise<Receipt | null> {
  const row = await world
    .prepare("SELECT id, kind FROM effects WHERE run = ?1 AND key = ?2")
    .bind(run, key)
    .first<{ id: number; kind: EffectKind }>();
  return row && { id: receiptId(row.kind, row.id), kind: row.kind };
}

/** Which of its run's effects of its kind this is, from 1. */
export async function numberOf(world: D1Database, receipt: Receipt): Promise<number> {
  const row = await world
    .prepare(
      `SELECT COUNT(*) AS n FROM effects AS earlier JOIN effects AS this
       ON earlier.run = this.run AND earlier.kind = this.kind AND earlier.id <= this.id
       WHERE this.id = ?1`,
    )
    .bind(rowIdOf(receipt))
    .first<{ n: number }>();
  return row?.n ?? 0;
}

/** The provider's own id of an effect. */
export const receiptId = (kind: EffectKind, id: number) => `${kind.replace(".", "_")}_${id}`;
const rowIdOf = ({ id }: Receipt) => Number(id.split("_").at(-1));

/** Notes that the call hangs, which is what a crash waits for, and then hangs. */
export async function neverAnswer(
  world: D1Database,
  run: string,
  operation: Operation,
): Promise<never> {
  await world
    .prepare(
      `UPDATE calls SET hangs = 1 WHERE run = ?1 AND operation = ?2 AND nth =
         (SELECT MAX(nth) FROM calls WHERE run = ?1 AND operation = ?2 AND fault IN ('"hang"', '"hang-after-effect"'))`,
    )
    .bind(run, operation)
    .run();
  // A timer keeps the invocation alive: workerd ends one that waits for nothing (measured locally).
  for (;;) await scheduler.wait(60_000);
}
