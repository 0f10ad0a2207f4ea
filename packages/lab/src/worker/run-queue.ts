import { observe } from "@durable-lessons/outside-world";
import type { LabBindings, LabMessage, RunScope } from "./env.ts";

/** The queue that the Worker binds under this name. */
export function boundQueue(env: object, binding: string | undefined): Queue<LabMessage> {
  const queue: unknown = binding && Reflect.get(env, binding);
  if (!binding) throw new Error("This pair has no queue: say `queue: {}` in its pair.ts.");
  if (!isQueue(queue)) throw new Error(`The Worker has no queue binding "${binding}".`);
  return queue;
}

/**
 * A lab queue as one run sees it. Every message that it takes is an observation, so that the lab can wait until all are
 * settled.
 */
export function runQueue(env: LabBindings, scope: RunScope, binding: string | undefined): Queue {
  const sendBatch: Queue["sendBatch"] = async (messages, options) => {
    const tagged = [...messages].map(({ body, ...rest }) => ({
      ...rest,
      body: { lab: { ...scope, index: randomIndex() }, body },
    }));
    const response = await boundQueue(env, binding).sendBatch(tagged, options);
    await observe(
      env.WORLD,
      scope.run,
      tagged.flatMap(({ body }) => [
        { kind: "message.sent", detail: body.lab.index },
        // Local queues live in memory: a message that dies with the runtime is sent again from here.
        ...(scope.trial ? [{ kind: "message.body", detail: body }] : []),
      ]),
    );
    return response;
  };
  return {
    metrics: () => boundQueue(env, binding).metrics(),
    send: (body, options) => sendBatch([{ body, ...options }]),
    sendBatch,
  };
}

/** Requests do not know of each other, so the messages that they send cannot be counted through. */
const randomIndex = () => crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;

const isQueue = (value: unknown): value is Queue<LabMessage> =>
  typeof value === "object" && value !== null && "sendBatch" in value;
