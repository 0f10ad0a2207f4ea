import { backoffSeconds, delaySeconds } from "./backoff.ts";
import { claim, type Claim } from "./claim.ts";
import { complete } from "./complete.ts";
import type { Settings } from "./consume-options.ts";
import { FingerprintConflictError, LeaseLostError } from "./errors.ts";
import { checkKey, checkText } from "./key.ts";
import type { Lease } from "./lease.ts";
import { release } from "./release.ts";
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
   * - `failed`: retried with back-off, see `error`
   * - `permanent failure`: handed to `onPermanentFailure` and acked, see `error`
   */
  outcome: "done" | "duplicate" | "in progress" | "failed" | "permanent failure";
  error?: unknown;
  /** The delay of the retry. Undefined if the message was acked. */
  delaySeconds?: number;
  /** What the delay was made from, if from a lease: what is left of it, in milliseconds. */
  retryAfterMs?: number;
}

type Verdict =
  | { outcome: "done" | "duplicate" }
  | { outcome: "in progress"; retryAfterMs: number }
  | { outcome: "failed"; error: unknown; retryAfterMs?: number }
  | { outcome: "permanent failure"; error: unknown };

/** The messages of one key and fingerprint, and what is known of them so far. */
interface Work<Body> {
  first: Message<Body>;
  messages: Message<Body>[];
  key: string | undefined;
  fingerprint: string | undefined;
  /** Held until the work is settled. */
  lease: Lease | undefined;
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
  const work = { first: message, messages: [message], lease: undefined };
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
  { db, leaseMs, now }: Settings<Body>,
): Promise<void> {
  const keyed = works.flatMap((work) => {
    const { key, fingerprint } = work;
    return key === undefined ? [] : [{ work, key, fingerprint }];
  });
  try {
    const claims = await claim(db, keyed, { leaseMs, now });
    for (const [index, answer] of claims.entries()) {
      const work = keyed[index]?.work;
      if (work === undefined) continue;
      if (answer.state === "claimed") work.lease = { key: answer.key, owner: answer.owner };
      else work.verdict = judge(answer);
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
      return { outcome: "permanent failure", error: new FingerprintConflictError(answer.key) };
  }
}

export async function runHandler<Body>(
  work: Work<Body>,
  { handler, isPermanent, leaseMs, handlerTimeoutMs }: Settings<Body>,
  elapsedMs: () => number,
): Promise<void> {
  const { first, lease } = work;
  if (lease === undefined) return;
  if (elapsedMs() + handlerTimeoutMs > leaseMs) {
    const error = new Error("Not started, the batch takes too long: make leaseMs longer");
    work.verdict = { outcome: "failed", error };
    return;
  }
  try {
    await withTimeout(handlerTimeoutMs, (signal) => handler(first, { ...lease, signal }));
    work.verdict = { outcome: "done" };
  } catch (error) {
    if (error instanceof TimeoutError) {
      // It may still be at work, so its lease is left to end by itself.
      work.lease = undefined;
      work.verdict = { outcome: "failed", error, retryAfterMs: leaseMs - elapsedMs() };
      return;
    }
    work.verdict = { outcome: decide(isPermanent, error), error };
  }
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
  { db, leaseMs, now }: Settings<Body>,
): Promise<void> {
  const held = works.flatMap((work) => (work.lease ? [{ work, ...work.lease }] : []));
  const done = held.filter(({ work }) => work.verdict?.outcome === "done");
  const undone = held.filter(({ work }) => work.verdict?.outcome !== "done");
  try {
    const completed = await complete(db, done, { now });
    for (const [index, { work, key }] of done.entries()) {
      if (!completed[index]) work.verdict = { outcome: "failed", error: new LeaseLostError(key) };
    }
  } catch (error) {
    for (const { work } of done) {
      work.verdict = { outcome: "failed", error, retryAfterMs: leaseMs };
    }
  }
  // A lease that could not be released ends by itself.
  await release(db, undone).catch(() => undefined);
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
  key: string | undefined,
  verdict: Verdict,
  { backoff }: Settings<Body>,
): MessageOutcome {
  const told = { messageId: message.id, key, ...verdict };
  switch (verdict.outcome) {
    case "done":
    case "duplicate":
    case "permanent failure":
      message.ack();
      return told;
    case "in progress":
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
