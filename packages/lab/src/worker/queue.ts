import {
  observationsOf,
  observe,
  type Observation,
  readRun,
  scriptFaults,
} from "@durable-lessons/outside-world";
import { isDeadLetterQueue, queueOf } from "../queues.ts";
import type { Consumes, LabBindings, LabMessage, RunnablePair } from "./env.ts";
import { planOf } from "./run-record.ts";
import { exportedFunction, runVariantCode } from "./variant-code.ts";
import { variantEnv } from "./variant-env.ts";

/**
 * The consumer of the variants' queues: hands each run its messages, as a batch of its own, to the variant's
 * `consume`.
 *
 * @throws what `consume` throws, where the batch holds messages of one run only: then the platform does what it does
 *   to a batch that throws. With more runs in one batch only the thrower's unmarked messages are retried.
 */
export async function consumePitfalls<Env extends LabBindings>(
  pairs: readonly RunnablePair<Env>[],
  batch: MessageBatch<LabMessage>,
  env: Env,
): Promise<void> {
  const runs = Map.groupBy(batch.messages, (message) => message.body.lab.run);
  for (const [run, messages] of runs) {
    const marked = messages.map((message) => new MarkedMessage(message));
    try {
      await consumeRun(pairs, batch, run, marked, env);
    } catch (error) {
      if (runs.size === 1) throw error;
      // The batch itself does not throw: what was acked before the throw stays acked, the first mark wins.
      for (const message of marked) message.retry();
      await observeSettled(env, batch, run, marked);
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
  const { index: _, ...scope } = first.lab;
  const { pair: id, variant } = scope;
  const pair = pairs.find((candidate) => candidate.id === id);
  if (!pair) throw new Error(`There is no pair "${id}".`);
  const load: (() => Promise<object>) | undefined = pair[variant];
  const consume = await exportedFunction<Consumes<Env>["consume"]>(load, "consume", scope);
  const own: MessageBatch = {
    queue: batch.queue,
    metadata: batch.metadata,
    messages,
    ackAll: () => messages.forEach((message) => message.ack()),
    retryAll: (options) => messages.forEach((message) => message.retry(options)),
  };
  const ownEnv = variantEnv(env, scope, queueOf(pair, variant, scope.trial?.lane)?.binding);
  if (isDeadLetters(batch)) {
    const { consumeDeadLetters }: Partial<Consumes<Env>> = (await load?.()) ?? {};
    if (consumeDeadLetters) await runVariantCode(scope, () => consumeDeadLetters(own, ownEnv));
  } else {
    if (pair.engine === "http") await untilAnswered(env, run);
    const { disturb } = await planOf(env.WORLD, run);
    if (disturb && "outage" in disturb) await endOutage(env, run, disturb.outage.seconds);
    await observe(env.WORLD, run, [
      { kind: "consumer.called", detail: batch.queue },
      ...messages.map((message) => noticed("message.delivered", message)),
      ...(scope.trial
        ? messages.map((message) => ({ kind: "message.id", detail: message.id }))
        : []),
    ]);
    await runVariantCode(scope, () => consume(own, ownEnv));
  }
  await observeSettled(env, batch, run, messages);
}

const isDeadLetters = ({ queue }: MessageBatch) => isDeadLetterQueue(queue);

/** The platform acks every message of a batch that returns, unless it is marked for a retry. */
async function observeSettled(
  env: LabBindings,
  batch: MessageBatch,
  run: string,
  messages: MarkedMessage[],
) {
  const kind = isDeadLetters(batch) ? "message.dead-lettered" : "message.acked";
  await observe(
    env.WORLD,
    run,
    messages.map((message) =>
      message.mark === "retry"
        ? { kind: "message.retried", detail: message.delaySeconds }
        : noticed(kind, message),
    ),
  );
}

async function untilAnswered(env: LabBindings, run: string): Promise<void> {
  while (!(await readRun(env.WORLD, run))?.status) await scheduler.wait(20);
}

/** Ends the run's faults if its messages have waited for long enough. */
async function endOutage(env: LabBindings, run: string, seconds: number): Promise<void> {
  const waits = (await observationsOf(env.WORLD, run))
    .filter(({ kind }) => kind === "message.retried")
    .map(({ detail }) => Number(detail));
  const waited = waits.reduce((sum, wait) => sum + wait, 0);
  if (waited >= seconds) await scriptFaults(env.WORLD, run, {});
}

const noticed = (kind: string, { lab }: { lab: LabMessage["lab"] }): Observation => ({
  kind,
  detail: lab.index,
});

/** A message with the variant's own body, that remembers its first mark. The platform keeps to the first one too. */
class MarkedMessage implements Message {
  readonly #message: Message<LabMessage>;
  mark: "ack" | "retry" | undefined;
  /** Of the retry, as far as the variant asked for one. */
  delaySeconds = 0;

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
    if (!this.mark) this.delaySeconds = options?.delaySeconds ?? 0;
    this.mark ??= "retry";
    this.#message.retry(options);
  }
}
