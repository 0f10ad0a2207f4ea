import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { evidenceOf, type FaultScript, openRun } from "@durable-lessons/outside-world";
import type { SignupMessage } from "@durable-lessons/types";
import { env } from "cloudflare:workers";
import consumer from "../../src/consumer.ts";
import { QUEUES } from "../../src/queues.ts";
import { signupId } from "../../src/signup-id.ts";

/** A signup that no other test has. */
export async function newSignup(faults?: FaultScript): Promise<SignupMessage> {
  const email = `ada+${crypto.randomUUID()}@example.com`;
  const id = await signupId(email);
  if (faults) await openRun(env.WORLD, id, { faults });
  return { id, email };
}

interface Options {
  queue?: string;
  attempts?: number;
  /** Ids of the messages, one for each body: the same id is the same message again. */
  ids?: string[];
  /** Bindings in place of the Worker's own. */
  env?: Partial<ConsumerEnv>;
}

/** Hands a batch to the consumer and tells what became of each message. */
export async function deliver(bodies: unknown[], options: Options = {}) {
  const {
    queue = QUEUES.signups,
    attempts = 1,
    ids = bodies.map(() => crypto.randomUUID()),
  } = options;
  const batch = createMessageBatch(
    queue,
    bodies.map((body, nth) => ({ id: ids[nth] ?? "", timestamp: new Date(), attempts, body })),
  );
  await consumer.queue(batch, { ...env, ...options.env });
  const result = await getQueueResult(batch, createExecutionContext());
  return {
    ids,
    acked: result.explicitAcks,
    retried: result.retryMessages.map(({ msgId }) => msgId),
  };
}

/** The effects of a run, by kind: of a signup's id for mails, of a message's id for alerts. */
export const evidence = (run: string) => evidenceOf(env.WORLD, run);

/** A dead letter's row. */
export const letterOf = (messageId: string) =>
  env.DB.prepare("SELECT * FROM dead_letters WHERE id = ?1")
    .bind(messageId)
    .first<{ body: string; reason: string; attempts: number | null; signup_id: string | null }>();

/** The Worker's bindings without its database, as in an outage of D1. */
export const withoutDatabase = { DB: undefined } as unknown as Partial<ConsumerEnv>;
