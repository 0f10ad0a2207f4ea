import { checkPart } from "./key.ts";

/**
 * The idempotency key of one step of one Workflow instance, to hand to the provider that the step calls.
 *
 * The same for every attempt and every replay of the step, since a timed-out attempt goes on beside the next one
 * (measured locally); different for every other step, count of a step's name, instance and Workflow. The attempt is no
 * part of it: that would make every retry a new charge.
 *
 * It is the same again after `instance.restart()`, and for a later instance of the same id once the first is past its
 * retention. Where the effect must be repeated then, give the instance another id.
 *
 * ASCII, fit for an HTTP header. As long as its names, other characters of the step's name counting threefold or more:
 * keep step names short for a provider that limits its keys (Stripe: 255 characters; Stripe docs, "Idempotent requests").
 *
 * @param event the event that `run` was called with
 * @param ctx the context that the step's function was called with
 * @throws TypeError if a part is missing: `event` or `ctx` is not what the platform gave
 * @example
 * await step.do("charge card", (ctx) => payments.charge(order, { idempotencyKey: stepKey(event, ctx) }));
 */
export function stepKey(
  event: { workflowName: string; instanceId: string },
  ctx: { step: { name: string; count: number } },
): string {
  return [event.workflowName, event.instanceId, ctx.step.name, ctx.step.count]
    .map((part, index) => encodeURIComponent(checkPart(part, index, "a step's key")))
    .join(":");
}
