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
        messages.map((message) => noticed("message.dead-lettered", message)),
      );
    }
    return;
  }
  for (const [run, messages] of runs) {
    try {
      await consumeRun(pairs, batch, run, messages, env);
    } catch (error) {
      if (runs.size === 1) throw error;
      for (const message of messages) message.retry();
    }
  }
}

async function consumeRun<Env extends LabBindings>(
  pairs: readonly RunnablePair<Env>[],
  batch: MessageBatch<LabMessage>,
  run: string,
  messages: Message<LabMessage>[],
  env: Env,
): Promise<void> {
  const [first] = messages;
  if (!first) return;
  const { pair: id, variant } = first.body.lab;
  const module = pairs.find((pair) => pair.id === id)?.[variant];
  if (!module || !("consume" in module)) throw new Error(`The pair "${id}" has no consume().`);

  await observe(env.WORLD, run, [
    { kind: "consumer.called", detail: batch.queue },
    ...messages.map((message) => noticed("message.delivered", message)),
  ]);
  const marked = messages.map((message) => new MarkedMessage(message));
  const own: MessageBatch = {
    queue: batch.queue,
    metadata: batch.metadata,
    messages: marked,
    ackAll: () => marked.forEach((message) => message.ack()),
    retryAll: (options) => marked.forEach((message) => message.retry(options)),
  };
  await module.consume(own, variantEnv(env, { pair: id, variant, run }));
  const acked = messages.filter((_, index) => marked[index]?.mark !== "retry");
  await observe(
    env.WORLD,
    run,
    acked.map((message) => noticed("message.acked", message)),
  );
}

const noticed = (kind: string, message: Message<LabMessage>): Observation => ({
  kind,
  detail: message.body.lab.index,
});

/** A message with the variant's own body, that remembers its first mark. The platform keeps to the first one too. */
class MarkedMessage implements Message {
  readonly #message: Message<LabMessage>;
  mark: "ack" | "retry" | undefined;

  constructor(message: Message<LabMessage>) {
    this.#message = message;
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
