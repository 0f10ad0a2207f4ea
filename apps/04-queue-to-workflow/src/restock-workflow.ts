import { stepKey } from "@durable-lessons/idempotency";
import { outsideWorld } from "@durable-lessons/outside-world";
import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";

/** The event that a restock waits for: its truck has come. */
export const DELIVERED = "delivered";

/** Orders more of a product, and lasts until that has come. Started by its {@link Shelf} only. */
export class RestockWorkflow extends WorkflowEntrypoint<Env, { sku: string }> {
  override async run(event: WorkflowEvent<{ sku: string }>, step: WorkflowStep) {
    const { sku } = event.payload;
    const { mail } = outsideWorld(this.env, event.instanceId);
    await step.do("order from supplier", (ctx) =>
      mail.send({
        to: "supplier@example.com",
        subject: "An order",
        text: `Please send 100 pieces of ${sku}.`,
        key: stepKey(event, ctx),
      }),
    );
    await step.waitForEvent("wait for the truck", { type: DELIVERED, timeout: "30 days" });
  }
}
