import { observationsOf, observe } from "@durable-lessons/outside-world";
import type { QueuePair } from "../../pair.ts";
import type { LabBindings, LabMessage } from "../env.ts";
import { queueOf } from "../../queues.ts";
import { databaseOf } from "../database.ts";
import { boundQueue } from "../run-queue.ts";
import { lastOf, neighbourOf } from "../../trials.ts";
import { isAtOnce, timesDelivered } from "./deliver.ts";
import type { Engine, EngineRun } from "./engine.ts";
import { isQueueEmpty, observedInstanceIds, settledMessages } from "./observed.ts";

/** Of a hundred messages ten show as much in a trial, and a hundred trials of them cost a tenth. */
const MOST_IN_A_TRIAL = 10;

/** A run whose messages the lab sends; the variant consumes them. */
export function queueEngine<Env extends LabBindings>({
  env,
  pair,
  variant,
  context,
  disturb,
  scope,
}: EngineRun<Env, QueuePair>): Engine {
  const { WORLD } = env;
  const { run } = context;
  const instanceIds = async () => observedInstanceIds(await observationsOf(WORLD, run));

  const messages = (): MessageSendRequest<LabMessage>[] =>
    bodies().map((body, index) => ({ body: { lab: { ...scope, index }, body } }));

  function bodies(): unknown[] {
    const own = pair.messages(context).slice(0, scope.trial && MOST_IN_A_TRIAL);
    if (!disturb || !("neighbour" in disturb || "neighbourFails" in disturb)) return own;
    // Another run's: a person, or an order, of its own.
    const [failing] = pair.messages({ ...context, run: neighbourOf(run) });
    const bad = "neighbour" in disturb ? disturb.neighbour : failing;
    const [last] = pair.messages({ ...context, run: lastOf(run) });
    return [...own, bad, last];
  }

  async function send(batch: MessageSendRequest<LabMessage>[]): Promise<void> {
    if (batch.length > 0)
      await boundQueue(env, queueOf(pair, variant, scope.trial?.lane)?.binding).sendBatch(batch);
  }

  async function readOutput(): Promise<unknown> {
    if (!pair.output) return null;
    const { binding, sql } = pair.output;
    return databaseOf(env, binding).prepare(sql).bind(run).first();
  }

  return {
    async start() {
      const times = timesDelivered(disturb);
      const batches = isAtOnce(disturb)
        ? [messages().flatMap((message) => Array.from({ length: times }, () => message))]
        : Array.from({ length: times }, () => messages());
      for (const batch of batches) await send(batch);
    },

    async wake() {
      const settled = new Set(settledMessages(await observationsOf(WORLD, run)));
      const lost = messages().filter(({ body }) => !settled.has(body.lab.index));
      await send(lost);
      return `sent ${lost.length} messages again`;
    },

    async disturb() {
      if (!disturb || !("expire" in disturb)) return null;
      const ids = await instanceIds();
      await observe(
        WORLD,
        run,
        ids.map((detail) => ({ kind: "workflow.expired", detail })),
      );
      for (const id of ids) await (await env.PITFALLS.get(id)).delete();
      await send(messages());
      return "deleted the instances and sent the messages again";
    },

    async ending() {
      const observations = await observationsOf(WORLD, run);
      const settled = settledMessages(observations);
      const isExpired = observations.some(({ kind }) => kind === "workflow.expired");
      const times = timesDelivered(disturb) + (isExpired ? 1 : 0);
      const done = messages().every(
        ({ body: { lab } }) => settled.filter((index) => index === lab.index).length >= times,
      );
      // What a consumer has put into the queue counts too.
      if (!done || !isQueueEmpty(observations))
        return { status: "running", output: null, error: null };
      return { status: "complete", output: await readOutput(), error: null };
    },

    instanceIds,
  };
}
