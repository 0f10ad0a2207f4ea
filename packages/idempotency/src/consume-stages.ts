import { backoffSeconds, delaySeconds } from "./backoff.ts";
import { claim } from "./claim.ts";
import { complete } from "./complete.ts";
import type { Settings } from "./consume-options.ts";
import {
  FingerprintConflictError,
  InDoubtError,
  LeaseLostError,
  NothingHappenedError,
} from "./errors.ts";
import { checkKey, checkText } from "./key.ts";
import type { Lease } from "./lease.ts";
import type { KeyRecord } from "./record.ts";
import { release } from "./release.ts";
import { keepLeases, type KeptLeases } from "./renew.ts";
import { TimeoutError, withTimeout } from "./side-by-side.ts";

/** What became of one message. */
export interface MessageOutcome {
  messageId: string;
  /** Undefined if there is none: the key function failed. */
  key: string | undefined;
  /**
   * - `done`: the handler ran; acked
   * - `duplicate`: the work was done before; acked
   * - `in progress`: another consumer is at it; retried after its lease
   * - `not started`: the batch took too long; retried at once
   * - `failed`: retried with backoff, see `error`
   * - `permanent failure`: handed to `onPermanentFailure` and acked, see `error`
   */
  outcome: "done" | "duplicate" | "in progress" | "not started" | "failed" | "permanent failure";
  error?: unknown;
  /** How long the handler took, in milliseconds, if it ran. */
  tookMs?: number;
  /** The delay of the retry. Undefined if the message was acked. */
  delaySeconds?: number;
  /** What the delay was made from, if from a lease: what is left of it, in milliseconds. */
  retryAfterMs?: number;
}

const PERMANENT = "permanent failure";

type Verdict =
  | { outcome: "done" }
  | { outcome: "duplicate" }
  | { outcome: "in progress"; retryAfterMs: number }
  | { outcome: "not started" | "failed"; error: unknown; retryAfterMs?: number }
  | { outcome: typeof PERMANENT; error: unknown };

/** The messages of one key and fingerprint, and what is known of them so far. */
export interface Work<Body> {
  first: Message<Body>;
  messages: Message<Body>[];
  controller: AbortController;
  key?: string;
  fingerprint?: string | undefined;
  /** Held until the work is settled. */
  lease?: Lease | undefined;
  /** What was known of the key when it was claimed. */
  record?: KeyRecord;
  verdict?: Verdict;
  tookMs?: number;
}

/** Whose key was made, or could not be. */
type Keyed<Body> = Work<Body> & { key: string };
type Holder<Body> = Work<Body> & { lease: Lease };

const isKeyed = <Body>(work: Work<Body>): work is Keyed<Body> => work.key !== undefined;
const isHolder = <Body>(work: Work<Body>): work is Holder<Body> => work.lease !== undefined;
const leaseOf = <Body>({ lease }: Holder<Body>) => lease;

export async function groupByKey<Body>(
  messages: readonly Message<Body>[],
  settings: Settings<Body>,
): Promise<Work<Body>[]> {
  const works = await Promise.all(messages.map((message) => readKey(message, settings)));
  const groups = new Map<unknown, Work<Body>>();
  for (const work of works) {
    const id = isKeyed(work) ? JSON.stringify([work.key, work.fingerprint]) : work;
    const group = groups.get(id);
    if (group === undefined) groups.set(id, work);
    else group.messages.push(work.first);
  }
  return [...groups.values()];
}

async function readKey<Body>(
  first: Message<Body>,
  { key, fingerprint, handlerTimeoutMs }: Settings<Body>,
): Promise<Work<Body>> {
  const work = { first, messages: [first], controller: new AbortController() };
  try {
    // What comes after the timeout comes to nothing.
    const made = await withTimeout(handlerTimeoutMs, async () => ({
      key: checkKey(await key(first)),
      fingerprint: fingerprint && checkText(await fingerprint(first), "fingerprint"),
    }));
    return { ...work, ...made };
  } catch (error) {
    // The key is made of the message alone, so it fails again the next time: only one that never came is worth a retry.
    const outcome = error instanceof TimeoutError ? "failed" : PERMANENT;
    return { ...work, verdict: { outcome, error } };
  }
}

export async function claimKeys<Body>(
  works: readonly Work<Body>[],
  settings: Settings<Body>,
): Promise<void> {
  const keyed = works.filter(isKeyed);
  try {
    const answers = await claim(settings.db, keyed, settings);
    for (const [index, work] of keyed.entries()) {
      const answer = answers[index];
      switch (answer?.state) {
        case "claimed":
          work.lease = { key: work.key, owner: answer.owner };
          work.record = answer.record;
          break;
        case "done":
          work.verdict = { outcome: "duplicate" };
          break;
        case "in progress":
          work.verdict = { outcome: "in progress", retryAfterMs: answer.retryAfterMs };
          break;
        case "conflict":
          work.verdict = { outcome: PERMANENT, error: new FingerprintConflictError(answer.record) };
          break;
        case "in doubt":
          work.verdict = { outcome: PERMANENT, error: new InDoubtError(answer.record) };
          break;
        case undefined:
      }
    }
  } catch (error) {
    for (const work of keyed) work.verdict = { outcome: "failed", error };
  }
}

/** Renews the leases of a batch for as long as it is at work, the finished handlers' too: they are recorded at its end. */
export function keepBatch<Body>(
  works: readonly Work<Body>[],
  claimedAt: number,
  settings: Settings<Body>,
): KeptLeases {
  return keepLeases(
    () => works.filter(isHolder).map(leaseOf),
    (lost) => {
      const work = works.find(({ lease }) => lease === lost);
      work?.controller.abort(new LeaseLostError(lost.key));
    },
    { ...settings, claimedAt },
  );
}

export async function runHandler<Body>(
  work: Work<Body>,
  settings: Settings<Body>,
  elapsedMs: () => number,
  kept: KeptLeases,
): Promise<void> {
  if (!isHolder(work)) return;
  const { first, lease, controller } = work;
  const { handler, isPermanent, leaseMs, handlerTimeoutMs, monotonicNow } = settings;
  const refused = refusal(work, settings, elapsedMs(), kept);
  if (refused !== undefined) {
    work.verdict = refused;
    return;
  }
  const start = monotonicNow();
  const run = (signal: AbortSignal) => handler(first, { ...lease, signal });
  try {
    await withTimeout(handlerTimeoutMs, run, controller);
    work.verdict = { outcome: "done" };
  } catch (error) {
    if (error instanceof TimeoutError) {
      // It may still be at work, so its lease is left to end by itself.
      (work as Work<Body>).lease = undefined;
      const retryAfterMs = leaseMs - kept.sinceRenewedMs();
      work.verdict = { outcome: "failed", error, retryAfterMs };
    } else {
      work.verdict = { outcome: decide(isPermanent, error), error };
    }
  }
  work.tookMs = monotonicNow() - start;
}

/** Why a handler does not start, if it does not. */
function refusal<Body>(
  { record }: Work<Body>,
  { leaseMs, handlerTimeoutMs, batchTimeoutMs, providerRemembersMs = Infinity }: Settings<Body>,
  elapsedMs: number,
  kept: KeptLeases,
): Verdict | undefined {
  const isLate = elapsedMs + handlerTimeoutMs > batchTimeoutMs;
  // Renewals come after each third of a lease: this one was not answered.
  if (isLate || kept.sinceRenewedMs() + Math.min(handlerTimeoutMs, leaseMs / 2) > leaseMs) {
    const why = isLate ? "No time left" : "No lease was renewed";
    return { outcome: "not started", error: new Error(why), retryAfterMs: 0 };
  }
  // In doubt by the time when the handler would be over, although not yet when it was claimed.
  if (record === undefined || record.tries === 1) return undefined;
  const begunMs = record.changedAt - record.firstClaimedAt + elapsedMs;
  if (begunMs + handlerTimeoutMs <= providerRemembersMs) return undefined;
  const released = { state: "unfinished", tries: record.tries - 1, leaseLeftMs: 0 } as const;
  return { outcome: PERMANENT, error: new InDoubtError({ ...record, ...released }) };
}

function decide(isPermanent: (error: unknown) => boolean, error: unknown) {
  try {
    return isPermanent(error) ? PERMANENT : "failed";
  } catch {
    return "failed";
  }
}

export async function settleLeases<Body>(
  works: readonly Work<Body>[],
  settings: Settings<Body>,
): Promise<void> {
  const isDone = ({ verdict }: Work<Body>) => verdict?.outcome === "done";
  const held = works.filter(isHolder);
  const done = held.filter(isDone);
  try {
    const completed = await complete(settings.db, done.map(leaseOf), settings);
    for (const [index, work] of done.entries()) {
      const error = new LeaseLostError(work.lease.key);
      if (!completed[index]) work.verdict = { outcome: "failed", error };
    }
  } catch (error) {
    const retryAfterMs = settings.leaseMs;
    for (const work of done) work.verdict = { outcome: "failed", error, retryAfterMs };
  }
  const releases = held
    .filter((work) => !done.includes(work))
    .map((work) => ({ ...work.lease, nothingHappened: hadNoEffect(work) }));
  // A lease that could not be released ends by itself.
  await release(settings.db, releases, settings).catch(() => undefined);
}

function hadNoEffect<Body>({ tookMs, verdict }: Work<Body>): boolean {
  // It never ran.
  if (tookMs === undefined) return true;
  return (
    verdict !== undefined && "error" in verdict && verdict.error instanceof NothingHappenedError
  );
}

export async function handOver<Body>(
  message: Message<Body>,
  { first, verdict = { outcome: "failed", error: undefined } }: Work<Body>,
  { onPermanentFailure, handlerTimeoutMs }: Settings<Body>,
): Promise<Verdict> {
  if (verdict.outcome === "done" && message !== first) return { outcome: "duplicate" };
  if (verdict.outcome !== PERMANENT) return verdict;
  try {
    if (onPermanentFailure === undefined) throw verdict.error;
    await withTimeout(handlerTimeoutMs, () => onPermanentFailure(message, verdict.error));
    return verdict;
  } catch (error) {
    return { outcome: "failed", error };
  }
}

export function mark<Body>(
  message: Message<Body>,
  { key, first, tookMs }: Work<Body>,
  verdict: Verdict,
  { backoff }: Settings<Body>,
): MessageOutcome {
  const took = message === first && tookMs !== undefined ? { tookMs } : {};
  const told = { messageId: message.id, key, ...verdict, ...took };
  if (
    verdict.outcome === "done" ||
    verdict.outcome === "duplicate" ||
    verdict.outcome === PERMANENT
  ) {
    message.ack();
    return told;
  }
  const seconds =
    verdict.retryAfterMs === undefined
      ? backoffSeconds(Math.max(1, message.attempts), backoff)
      : delaySeconds(verdict.retryAfterMs / 1000);
  message.retry({ delaySeconds: seconds });
  return { ...told, delaySeconds: seconds };
}

export async function tell<Body>(
  outcome: MessageOutcome,
  message: Message<Body>,
  { onOutcome, handlerTimeoutMs }: Settings<Body>,
): Promise<void> {
  if (onOutcome === undefined) return;
  try {
    await withTimeout(handlerTimeoutMs, () => onOutcome(outcome, message));
  } catch (error) {
    // It is marked already, and its neighbours are not: a metric must cost no message.
    console.error("onOutcome failed", outcome, error);
  }
}
