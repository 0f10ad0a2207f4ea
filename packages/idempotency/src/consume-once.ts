import { checked, type ConsumeOnceOptions } from "./consume-options.ts";
import {
  claimKeys,
  groupByKey,
  handOver,
  keepBatch,
  mark,
  runHandler,
  settleLeases,
  tell,
  type MessageOutcome,
} from "./consume-stages.ts";
import { sideBySide } from "./side-by-side.ts";

/**
 * Consumes a queue batch so that the work of each key is done once: one claim and one completion for the whole batch (and
 * one release, if a handler failed; one renewal for each third of a lease that it takes), handlers side by side, and every
 * message acked or retried by itself.
 *
 * Messages of one key within the batch run once and share what comes of it. Nothing that one message does touches
 * another: its key function, handler or callback may throw or never end.
 *
 * Guaranteed: as for `claim`. Leases are renewed until the batch is recorded, so a batch may take longer than one. A
 * handler starts only under a lease that was renewed in time, nobody waits for it for longer than `handlerTimeoutMs`, and
 * its signal says when its lease was lost. A message is acked only after its work is recorded as done, or `onPermanentFailure` has taken it: none is
 * lost.
 *
 * Not guaranteed: that an effect outside of D1 happens once. All effects of the batch are recorded when its last handler
 * has ended: after a crash before that, or of a handler that did its work and then threw or ran out of time, they run
 * again. Hand `context.key` to the provider as its idempotency key: that closes the gap. Rows in this database are
 * written exactly once if `completeStatement(db, [context])` is part of the handler's own `db.batch()`.
 *
 * With `providerRemembersMs` that is not asked of a provider who may have forgotten the key: such a message is a permanent
 * failure with an `InDoubtError`, and nothing is done.
 *
 * Permanent failures release their key, so that a corrected message can be sent again under it.
 *
 * @returns one outcome for each message, in the batch's order: for logs
 * @throws RangeError or TypeError if an option makes no sense; no message is touched then, and the queue delivers all again. It throws
 *   nothing else: if D1 cannot be reached, every message is retried
 */
export async function consumeOnce<Body>(
  batch: MessageBatch<Body>,
  options: ConsumeOnceOptions<Body>,
): Promise<MessageOutcome[]> {
  const settings = checked(options);
  const works = await groupByKey(batch.messages, settings);

  // When a lease ends is for D1's clock to say. This only measures how much of it is gone.
  const start = settings.monotonicNow();
  const elapsedMs = () => settings.monotonicNow() - start;
  await claimKeys(works, settings);
  const kept = keepBatch(works, start, settings);
  await sideBySide(works, settings.concurrency, (work) =>
    runHandler(work, settings, elapsedMs, kept),
  );
  await kept.stop();
  await settleLeases(works, settings);

  const outcomes = new Map<Message<Body>, MessageOutcome>();
  const judged = works.flatMap((work) => work.messages.map((message) => ({ message, work })));
  await sideBySide(judged, settings.concurrency, async ({ message, work }) => {
    const verdict = await handOver(message, work, settings);
    const outcome = mark(message, work, verdict, settings);
    outcomes.set(message, outcome);
    await tell(outcome, message, settings);
  });
  return batch.messages.flatMap((message) => outcomes.get(message) ?? []);
}
