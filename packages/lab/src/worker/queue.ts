import { observe, type Observation } from "@durable-lessons/outside-world";
import type { LabBindings, LabMessage, RunnablePair } from "./env.ts";
import { variantEnv } from "./variant-env.ts";

/** Names of lab queues start with this, so that a lesson's consumer can tell them from its own. */
export const LAB_QUEUE_PREFIX = "lab-";

/** Names of their dead letter queues end with this. */
const DEAD_LETTERS = "-dlq";

/**
 * The consumer of a lesson's lab queues: hands each run its messages, as a batch of its own, to the variant's
 * `consume`.
 *
 * @throws what `consume` throws, where the batch holds messages of one run only: then the platform does what it does
 *   to a batch that throws. With more runs in one batch only the thrower's unmarked messages are retried.
 *
 * @example
 * ```ts
 * if (batch.queue.startsWith(LAB_QUEUE_PREFIX)) return consumePitfalls(pairs, batch, env);
 * ```
 */
export async function consumePitfalls<Env extends LabBindings>(
  pairs: readonly RunnablePair<Env>[],
  batch: MessageBatch<LabMessage>,
  env: Env,
): Promise<void> {
  const runs = Map.groupBy(batch.messages, (message) => message.body.lab.run);
  if (batch.queue.endsWith(DEAD_LETTERS)) {
    for (const [run, messages] of runs) {
      await observe(
        env.WORLD,
        run,
        messages.map(({ body }) => noticed("message.dead-lettered", body)),
      );
    }
    return;
  }
  for (const [run, messages] of runs) {
    const marked = messages.map((message) => new MarkedMessage(message));
    try {
      await consumeRun(pairs, batch, run, marked, env);
    } catch (error) {
      if (runs.size === 1) throw error;
      // The batch itself does not throw: what was acked before the throw stays acked, the first mark wins.
      for (const message of marked) message.retry();
      await observeAcked(env, run, marked);
    }
  }
}

async function consumeRun<Env extends LabBindings>(
  pairs: readonly RunnablePair<Env>[],
  batch: MessageBatch<LabMessage>,
  run: string,
  messages: MarkedMessage[],
  env: Env,
): Promise<void> {
  const [first] = messages;
  if (!first) return;
  const { pair: id, variant } = first.lab;
  const module = pairs.find((pair) => pair.id === id)?.[variant];
  if (!module || !("consume" in module)) throw new Error(`The pair "${id}" has no consume().`);

  await observe(env.WORLD, run, [
    { kind: "consumer.called", detail: batch.queue },
    ...messages.map((message) => noticed("message.delivered", message)),
  ]);
  const own: MessageBatch = {
    queue: batch.queue,
    metadata: batch.metadata,
    messages,
    ackAll: () => messages.forEach((message) => message.ack()),
    retryAll: (options) => messages.forEach((message) => message.retry(options)),
  };
  await module.consume(own, variantEnv(env, { pair: id, variant, run }));
  await observeAcked(env, run, messages);
}

/** The platform acks every message of a batch that returns, unless it is marked for a retry. */
async function observeAcked(env: LabBindings, run: string, messages: MarkedMessage[]) {
  const acked = messages.filter(({ mark }) => mark !== "retry");
  await observe(
    env.WORLD,
    run,
    acked.map((message) => noticed("message.acked", message)),
  );
}

const noticed = (kind: string, { lab }: { lab: LabMessage["lab"] }): Observation => ({
  kind,
  detail: lab.index,
});

/** A message with the variant's own body, that remembers its first mark. The platform keeps to the first one too. */
class MarkedMessage implements Message {
  readonly #message: Message<LabMessage>;
  mark: "ack" | "retry" | undefined;

  constructor(message: Message<LabMessage>) {
    this.#message = message;
  }
  get lab() {
    return this.#message.body.lab;
  }
  get id() {
    return this.#message.id;
  }
  get timestamp() {
    return this.#message.timestamp;
  }
  get body() {
    return this.#message.body.body;
  }
  get attempts() {
    return this.#message.attempts;
  }
  ack() {
    this.mark ??= "ack";
    this.#message.ack();
  }
  retry(options?: QueueRetryOptions) {
    this.mark ??= "retry";
    this.#message.retry(options);
  }
}
