import { backoffSeconds, delaySeconds } from "./backoff.ts";
import { claim, type Claim } from "./claim.ts";
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
   * - `failed`: retried with back-off, see `error`
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

type Verdict =
  | { outcome: "done" | "duplicate" }
  | { outcome: "in progress"; retryAfterMs: number }
  | { outcome: "not started"; error: unknown; retryAfterMs: number }
  | { outcome: "failed"; error: unknown; retryAfterMs?: number }
  | { outcome: "permanent failure"; error: unknown };

/** The messages of one key and fingerprint, and what is known of them so far. */
export interface Work<Body> {
  first: Message<Body>;
  messages: Message<Body>[];
  key: string | undefined;
  fingerprint: string | undefined;
  /** Held until the work is settled. */
  lease: Lease | undefined;
  record: KeyRecord | undefined;
  controller: AbortController;
  tookMs: number | undefined;
  verdict: Verdict | undefined;
}

export async function groupByKey<Body>(
  messages: readonly Message<Body>[],
  settings: Settings<Body>,
): Promise<Work<Body>[]> {
  const works = await Promise.all(messages.map((message) => readKey(message, settings)));
  const groups = new Map<unknown, Work<Body>>();
  for (const work of works) {
    const id = work.key === undefined ? work : JSON.stringify([work.key, work.fingerprint]);
    const group = groups.get(id);
    if (group === undefined) groups.set(id, work);
    else group.messages.push(work.first);
  }
  return [...groups.values()];
}

async function readKey<Body>(
  message: Message<Body>,
  { key, fingerprint, handlerTimeoutMs }: Settings<Body>,
): Promise<Work<Body>> {
  const work = {
    first: message,
    messages: [message],
    lease: undefined,
    record: undefined,
    controller: new AbortController(),
    tookMs: undefined,
  };
  try {
    // What comes after the timeout comes to nothing.
    const made = await withTimeout(handlerTimeoutMs, async () => ({
      key: checkKey(await key(message)),
      fingerprint: fingerprint && checkText(await fingerprint(message), "fingerprint"),
    }));
    return { ...work, ...made, verdict: undefined };
  } catch (error) {
    // The key is made of the message alone, so it fails again the next time: only one that never came is worth a retry.
    const outcome = error instanceof TimeoutError ? "failed" : "permanent failure";
    return { ...work, key: undefined, fingerprint: undefined, verdict: { outcome, error } };
  }
}

export async function claimKeys<Body>(
  works: readonly Work<Body>[],
  settings: Settings<Body>,
): Promise<void> {
  const keyed = works.flatMap((work) => {
    const { key, fingerprint } = work;
    return key === undefined ? [] : [{ work, key, fingerprint }];
  });
  try {
    const claims = await claim(settings.db, keyed, settings);
    for (const [index, answer] of claims.entries()) {
      const work = keyed[index]?.work;
      if (work === undefined) continue;
      if (answer.state !== "claimed") work.verdict = judge(answer);
      else {
        work.lease = { key: answer.key, owner: answer.owner };
        work.record = answer.record;
      }
    }
  } catch (error) {
    for (const { work } of keyed) work.verdict = { outcome: "failed", error };
  }
}

function judge(answer: Exclude<Claim, { state: "claimed" }>): Verdict {
  switch (answer.state) {
    case "done":
      return { outcome: "duplicate" };
    case "in progress":
      return { outcome: "in progress", retryAfterMs: answer.retryAfterMs };
    case "conflict":
      return { outcome: "permanent failure", error: new FingerprintConflictError(answer.record) };
    case "in doubt":
      return { outcome: "permanent failure", error: new InDoubtError(answer.record) };
  }
}

/** Renews the leases of a batch for as long as it is at work, the finished handlers' too: they are recorded at its end. */
export function keepBatch<Body>(
  works: readonly Work<Body>[],
  claimedAt: number,
  settings: Settings<Body>,
): KeptLeases {
  const holders = () => works.filter(({ lease }) => lease !== undefined);
  return keepLeases(
    () => holders().flatMap(({ lease }) => lease ?? []),
    ({ key, owner }) => {
      const lost = holders().find(({ lease }) => lease?.key === key && lease.owner === owner);
      lost?.controller.abort(new LeaseLostError(key));
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
  const { first, lease, controller } = work;
  const { handler, isPermanent, leaseMs, handlerTimeoutMs, monotonicNow } = settings;
  if (lease === undefined) return;
  work.verdict = refusal(work, settings, elapsedMs(), kept);
  if (work.verdict !== undefined) return;

  const start = monotonicNow();
  try {
    const { signal } = controller;
    await withTimeout(handlerTimeoutMs, () => handler(first, { ...lease, signal }), controller);
    work.verdict = { outcome: "done" };
  } catch (error) {
    if (error instanceof TimeoutError) {
      // It may still be at work, so its lease is left to end by itself.
      work.lease = undefined;
      work.verdict = { outcome: "failed", error, retryAfterMs: leaseMs - kept.sinceRenewedMs() };
    } else {
      work.verdict = { outcome: decide(isPermanent, error), error };
    }
  }
  work.tookMs = monotonicNow() - start;
}

/** Why a handler does not start, if it does not. */
function refusal<Body>(
  { record }: Work<Body>,
  { leaseMs, handlerTimeoutMs, batchTimeoutMs, providerRemembersMs }: Settings<Body>,
  elapsedMs: number,
  kept: KeptLeases,
): Verdict | undefined {
  const soon = { outcome: "not started", retryAfterMs: 0 } as const;
  if (elapsedMs + handlerTimeoutMs > batchTimeoutMs) {
    return { ...soon, error: new Error("Not started: the batch takes longer than batchTimeoutMs") };
  }
  // Renewals come after each third of a lease: this one was not answered.
  if (kept.sinceRenewedMs() + Math.min(handlerTimeoutMs, leaseMs / 2) > leaseMs) {
    return { ...soon, error: new Error("Not started: its lease could not be renewed") };
  }
  // In doubt by the time when the handler would be over, although not yet when it was claimed.
  if (providerRemembersMs === undefined || record === undefined || record.tries === 1)
    return undefined;
  const begunMs = record.changedAt - record.firstClaimedAt + elapsedMs;
  if (begunMs + handlerTimeoutMs <= providerRemembersMs) return undefined;
  const asReleased = { state: "unfinished", tries: record.tries - 1, leaseLeftMs: 0 } as const;
  return { outcome: "permanent failure", error: new InDoubtError({ ...record, ...asReleased }) };
}

function decide(isPermanent: (error: unknown) => boolean, error: unknown) {
  try {
    return isPermanent(error) ? "permanent failure" : "failed";
  } catch {
    return "failed";
  }
}

export async function settleLeases<Body>(
  works: readonly Work<Body>[],
  settings: Settings<Body>,
): Promise<void> {
  const held = works.flatMap((work) => (work.lease ? [{ work, ...work.lease }] : []));
  const done = held.filter(({ work }) => work.verdict?.outcome === "done");
  const undone = held.filter(({ work }) => work.verdict?.outcome !== "done");
  try {
    const completed = await complete(settings.db, done, settings);
    for (const [index, { work, key }] of done.entries()) {
      if (!completed[index]) work.verdict = { outcome: "failed", error: new LeaseLostError(key) };
    }
  } catch (error) {
    for (const { work } of done) {
      work.verdict = { outcome: "failed", error, retryAfterMs: settings.leaseMs };
    }
  }
  const releases = undone.map(({ work, key, owner }) => ({
    key,
    owner,
    nothingHappened: hadNoEffect(work),
  }));
  // A lease that could not be released ends by itself.
  await release(settings.db, releases, settings).catch(() => undefined);
}

function hadNoEffect<Body>({ tookMs, verdict }: Work<Body>): boolean {
  if (tookMs === undefined) return true;
  return (
    verdict !== undefined && "error" in verdict && verdict.error instanceof NothingHappenedError
  );
}

export async function handOver<Body>(
  message: Message<Body>,
  { first, verdict }: Work<Body>,
  { onPermanentFailure, handlerTimeoutMs }: Settings<Body>,
): Promise<Verdict> {
  if (verdict === undefined) return { outcome: "failed", error: new Error("Nothing was decided") };
  if (verdict.outcome === "done" && message !== first) return { outcome: "duplicate" };
  if (verdict.outcome !== "permanent failure") return verdict;
  if (onPermanentFailure === undefined) return { outcome: "failed", error: verdict.error };
  try {
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
  switch (verdict.outcome) {
    case "done":
    case "duplicate":
    case "permanent failure":
      message.ack();
      return told;
    case "in progress":
    case "not started":
    case "failed": {
      const seconds =
        verdict.retryAfterMs === undefined
          ? backoffSeconds(Math.max(1, message.attempts), backoff)
          : delaySeconds(verdict.retryAfterMs / 1000);
      message.retry({ delaySeconds: seconds });
      return { ...told, delaySeconds: seconds };
    }
  }
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
