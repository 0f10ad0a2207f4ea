import { DEFAULT_RETENTION_MS, sweep } from "@durable-lessons/idempotency";
import { sweepWorld } from "@durable-lessons/outside-world";
import { alertOperators } from "./alert-operators.ts";
import { consumeDeadLetters } from "./consume-dead-letters.ts";
import { consumeSignups } from "./consume-signups.ts";
import { QUEUES } from "./queues.ts";

/** The cron that cleans up, once a night. The other one, every quarter of an hour, tells operators what they do not know yet. */
const NIGHTLY = "0 3 * * *";

/** How long it can be seen who has decided about a letter: 30 days. */
const SETTLED_MS = 30 * 24 * 60 * 60 * 1000;

export default {
  async queue(batch, env) {
    if (batch.queue === QUEUES.signupsDeadLetters) await consumeDeadLetters(batch, env);
    else await consumeSignups(batch, env);
  },

  async scheduled({ scheduledTime, cron }, env) {
    if (cron !== NIGHTLY) {
      await alertOperators(env, scheduledTime);
      return;
    }
    // Keys are kept for 90 days: a message lives for 14 days in the queue and 14 more among the dead, and an operator may
    // take weeks to redrive it. What is too much for one night waits for the next.
    await sweep(env.DB, { maxRows: 100_000 });
    const old = scheduledTime - DEFAULT_RETENTION_MS;
    await env.DB.batch([
      env.DB.prepare("DELETE FROM delivery_failures WHERE failed_at <= ?1").bind(old),
      env.DB.prepare("DELETE FROM dead_letters WHERE settled_at <= ?1").bind(
        scheduledTime - SETTLED_MS,
      ),
    ]);
    await sweepWorld(env.WORLD, old);
  },
} satisfies ExportedHandler<ConsumerEnv>;
