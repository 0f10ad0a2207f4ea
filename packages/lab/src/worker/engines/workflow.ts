import type { WorkflowPair } from "../../pair.ts";
import { bootId } from "../boot.ts";
import type { LabBindings } from "../env.ts";
import type { Engine, EngineRun } from "./engine.ts";

/** A run that is one instance of the lesson's `PitfallWorkflow`, with the run's id. */
export function workflowEngine<Env extends LabBindings>({
  env,
  pair,
  context,
  disturb,
  scope,
}: EngineRun<Env, WorkflowPair>): Engine {
  const id = context.run;
  return {
    async start() {
      await env.PITFALLS.create({
        id,
        params: { ...scope, createdIn: bootId(), params: pair.params?.(context) },
      });
    },

    // Every instance of a run gets an event.
    wake: async () => "sent the instance an event",

    async disturb() {
      if (disturb && "restart" in disturb) {
        const instance = await env.PITFALLS.get(id);
        const { from } = disturb.restart;
        await instance.restart(from ? { from: { name: from } } : {});
        return from ? `restarted from "${from}"` : "restarted";
      }
      if (disturb && "sendEvent" in disturb) {
        const instance = await env.PITFALLS.get(id);
        const { type, payload = null, times = 1 } = disturb.sendEvent;
        for (let nth = 1; nth <= times; nth++) await instance.sendEvent({ type, payload });
        return `sent "${type}" ${times} times`;
      }
      return null;
    },

    ending: async () => null,

    instanceIds: async () => [id],
  };
}
