import { effectsOf, observationsOf, readRun, recordRun } from "@durable-lessons/outside-world";
import type { HttpPair } from "../../pair.ts";
import type { Handles, LabBindings, Loading, RequestContext } from "../env.ts";
import { queueOf } from "../../queues.ts";
import { exportedFunction, runVariantCode } from "../variant-code.ts";
import { variantEnv } from "../variant-env.ts";
import { timesDelivered } from "./deliver.ts";
import type { Engine, EngineRun } from "./engine.ts";
import { isQueueEmpty, observedInstanceIds } from "./observed.ts";

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

  async function request(ctx: RequestContext): Promise<void> {
    const body = JSON.stringify(pair.body(context));
    try {
      const responses = [];
      const times = timesDelivered(disturb);
      const load: () => Promise<object> = pair[variant];
      const handle = await exportedFunction<Handles<Env>["handle"]>(load, "handle", scope);
      for (let nth = 1; nth <= times; nth++) {
        const sent = new Request("https://lesson.example/", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body,
        });
        const ownEnv = variantEnv(env, scope, queueOf(pair, variant)?.binding);
        const response = await runVariantCode(scope, () => handle(sent, ownEnv, ctx));
        const effects = (await effectsOf(WORLD, run)).length;
        responses.push({ status: response.status, body: await response.text(), effects });
      }
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
