import { sweep } from "@durable-lessons/idempotency";
import { sweepWorld } from "@durable-lessons/outside-world";
import { consumeDeadLetters } from "./consume-dead-letters.ts";
import { consumeSignups } from "./consume-signups.ts";
import { QUEUES } from "./queues.ts";

/** A message lives for 14 days in the queue and 14 more among the dead; an operator may take weeks to redrive it. */
const RETENTION_MS = 90 * 24 * 60 * 60 * 1000;

export default {
  async queue(batch, env) {
    if (batch.queue === QUEUES.signupsDeadLetters) await consumeDeadLetters(batch, env);
    else await consumeSignups(batch, env);
  },

  async scheduled({ scheduledTime }, env) {
    while ((await sweep(env.DB, { olderThanMs: RETENTION_MS })) > 0);
    await env.DB.prepare("DELETE FROM delivery_failures WHERE failed_at <= ?1")
      .bind(scheduledTime - RETENTION_MS)
      .run();
    await sweepWorld(env.WORLD, scheduledTime - RETENTION_MS);
  },
} satisfies ExportedHandler<ConsumerEnv>;
