import { stepKey } from "@durable-lessons/idempotency";
import { outsideWorld } from "@durable-lessons/outside-world";
import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";
import { closeOrder } from "./orders.ts";
import type { FulfilmentOrder } from "./schemas.ts";

/** Four minutes of retries, 1 + 2 + 4 + … seconds apart: most outages are shorter, and a restart takes a second. */
const retryPolicy = {
  retries: { limit: 8, delay: "1 second", backoff: "exponential" },
  timeout: "30 seconds",
} as const;

/** Reserve stock, charge the card, ship the parcel and record the result. */
export class FulfilmentWorkflow extends WorkflowEntrypoint<Env, FulfilmentOrder> {
  override async run(event: WorkflowEvent<FulfilmentOrder>, step: WorkflowStep) {
    const { orderId, card, cents, lines } = event.payload;
    const { DB } = this.env;
    const { carrier, payments, stock } = outsideWorld(this.env, event.instanceId);
    // The same for every attempt and every replay, so that a provider does once what is asked twice.
    const keyOf = (name: string) => stepKey(event, { step: { name, count: 1 } });

    await step.do(
      "reserve stock",
      retryPolicy,
      () => stock.reserve({ orderId, lines, key: keyOf("reserve stock") }),
      {
        // The first step's handler runs last: only now is everything compensated.
        rollback: async ({ error }) => {
          await stock.release({ orderId, key: keyOf("release stock") });
          await closeOrder(DB, orderId, { state: "cancelled", reason: error.message });
        },
        rollbackConfig: retryPolicy,
      },
    );

    const charge = await step.do(
      "charge card",
      retryPolicy,
      () => payments.charge({ orderId, card, cents, key: keyOf("charge card") }),
      {
        rollback: async ({ output }) => {
          // Without an output the card may be charged all the same: the answer was lost.
          const known = output ?? (await payments.find({ key: keyOf("charge card") }));
          if (known?.status !== "charged") return;
          await payments.refund({ chargeId: known.chargeId, cents, key: keyOf("refund card") });
        },
        rollbackConfig: retryPolicy,
      },
    );

    if (charge.status === "declined") {
      await step.do("close declined order", retryPolicy, async () => {
        await stock.release({ orderId, key: keyOf("release stock") });
        await closeOrder(DB, orderId, { state: "declined", reason: charge.message });
      });
      return { state: "declined" };
    }

    const { chargeId } = charge;
    const { parcelId } = await step.do(
      "ship parcel",
      retryPolicy,
      async () => {
        const parcel = await carrier.ship({ orderId, key: keyOf("ship parcel") });
        // Not in a step of its own: both can be repeated, and steps are what a month's bill is made of.
        await closeOrder(DB, orderId, { state: "shipped", chargeId, ...parcel });
        return parcel;
      },
      {
        // The parcel may have left all the same: the answer was lost. To recall one that has not does no harm.
        rollback: async () => {
          await carrier.recall({ orderId, key: keyOf("recall parcel") });
        },
        rollbackConfig: retryPolicy,
      },
    );
    return { state: "shipped", parcelId };
  }
}
