import { DEFAULT_RETENTION_MS, sweep } from "@durable-lessons/idempotency";
import { sweepWorld } from "@durable-lessons/outside-world";
import { consumeDeadLetters } from "./consume-dead-letters.ts";
import { consumeSignups } from "./consume-signups.ts";
import { QUEUES } from "./queues.ts";

export default {
  async queue(batch, env) {
    if (batch.queue === QUEUES.signupsDeadLetters) await consumeDeadLetters(batch, env);
    else await consumeSignups(batch, env);
  },

  async scheduled({ scheduledTime }, env) {
    // Keys are kept for 90 days: a message lives for 14 days in the queue and 14 more among the dead, and an operator may
    // take weeks to redrive it. What is too much for one night waits for the next.
    await sweep(env.DB, { maxRows: 100_000 });
    await env.DB.prepare("DELETE FROM delivery_failures WHERE failed_at <= ?1")
      .bind(scheduledTime - DEFAULT_RETENTION_MS)
      .run();
    await sweepWorld(env.WORLD, scheduledTime - DEFAULT_RETENTION_MS);
  },
} satisfies ExportedHandler<ConsumerEnv>;
