import { effectsOf, observationsOf, readRun, recordRun } from "@durable-lessons/outside-world";
import type { HttpPair } from "../../pair.ts";
import type { Handles, LabBindings, LabMessage, Loading, RequestContext } from "../env.ts";
import { queueOf } from "../../queues.ts";
import { exportedFunction, runVariantCode } from "../variant-code.ts";
import { variantEnv } from "../variant-env.ts";
import { isAtOnce, timesDelivered } from "./deliver.ts";
import type { Engine, EngineRun } from "./engine.ts";
import { boundQueue } from "../run-queue.ts";
import { isQueueEmpty, observedInstanceIds, settledMessages } from "./observed.ts";

/** A run whose requests the lab sends; the variant answers them. */
export function httpEngine<Env extends LabBindings>({
  env,
  pair,
  variant,
  context,
  disturb,
  scope,
}: EngineRun<Env, Loading<HttpPair, Handles<Env>>>): Engine {
  const { WORLD } = env;
  const { run } = context;

  const queue = queueOf(pair, variant, scope.trial?.lane)?.binding;

  /** What the variant has sent to its queue, and was not settled: in a trial, where it is kept. */
  async function lostMessages(): Promise<LabMessage[]> {
    const observations = await observationsOf(WORLD, run);
    const settled = new Set(settledMessages(observations));
    return observations
      .filter(({ kind }) => kind === "message.body")
      .map(({ detail }) => detail as LabMessage)
      .filter(({ lab }) => !settled.has(lab.index));
  }

  async function request(ctx: RequestContext): Promise<void> {
    const asked = disturb && "body" in disturb ? disturb.body : pair.body(context);
    const isOdd = disturb && "oddIds" in disturb;
    const body = JSON.stringify(asked, (_, value: unknown) =>
      isOdd && value === run ? `${run}@example.com` : value,
    );
    try {
      const times = timesDelivered(disturb);
      const load: (() => Promise<object>) | undefined = pair[variant];
      const handle = await exportedFunction<Handles<Env>["handle"]>(load, "handle", scope);
      const ask = async () => {
        const sent = new Request("https://lesson.example/", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body,
        });
        const ownEnv = variantEnv(env, scope, queue);
        const response = await runVariantCode(scope, () => handle(sent, ownEnv, ctx));
        const effects = (await effectsOf(WORLD, run)).length;
        return { status: response.status, body: await response.text(), effects };
      };
      const responses = isAtOnce(disturb)
        ? await Promise.all(Array.from({ length: times }, ask))
        : [];
      while (responses.length < times) responses.push(await ask());
      await recordRun(WORLD, run, { status: "complete", output: { responses } });
    } catch (error) {
      await recordRun(WORLD, run, { status: "errored", error: nameAndMessage(error) });
    }
  }

  return {
    async start(ctx) {
      ctx.waitUntil(request(ctx));
    },

    async wake(ctx) {
      const lost = await lostMessages();
      if (lost.length > 0) {
        await boundQueue(env, queue).sendBatch(lost.map((body) => ({ body })));
      }
      if ((await readRun(WORLD, run))?.status) return "every request has its answer";
      ctx.waitUntil(request(ctx));
      return "sent the request again";
    },

    disturb: async () => null,

    async ending() {
      const record = await readRun(WORLD, run);
      // Its answers are in, but what it has put into a queue counts too.
      const observations = record?.status ? await observationsOf(WORLD, run) : [];
      return {
        status: isQueueEmpty(observations) ? (record?.status ?? "running") : "running",
        output: record?.output ?? null,
        error: record?.error ?? null,
      };
    },

    instanceIds: async () => observedInstanceIds(await observationsOf(WORLD, run)),
  };
}

const nameAndMessage = (error: unknown) =>
  error instanceof Error
    ? { name: error.name, message: error.message }
    : { name: "Error", message: String(error) };
