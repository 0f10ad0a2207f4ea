import { stepKey } from "@durable-lessons/idempotency";
import { outsideWorld } from "@durable-lessons/outside-world";
import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";
import { NonRetryableError } from "cloudflare:workflows";
import * as v from "valibot";
import { giveUpOn, isTimeout } from "./errors.ts";
import { EVENTS } from "./events.ts";
import { transitionTo, closeOrder, closeReview, markCancelling } from "./orders.ts";
import { retryAfter } from "./retry-after.ts";
import { orderReview, type OrderReview, type PlacedOrder } from "./schemas.ts";

const NOBODY: OrderReview = { approved: false, reviewer: "nobody answered in time" };

/** Reserve stock, charge the card, wait for a review, wait a little more, ship, mail. */
export class OrderWorkflow extends WorkflowEntrypoint<Env, PlacedOrder> {
  override async run(event: WorkflowEvent<PlacedOrder>, step: WorkflowStep) {
    const { orderId, email, card, lines, totalCents } = event.payload;
    const { DB, REVIEW_TIMEOUT, GRACE_PERIOD, RETRY_DELAY } = this.env;
    const { carrier, mail, payments, stock } = outsideWorld(this.env, event.instanceId);
    // The same for every attempt and every replay, so that a provider does once what is asked twice.
    const keyOf = (name: string) => stepKey(event, { step: { name, count: 1 } });

    // Pauses of 1, 2, 4, 8 and 16 delays outlast a short outage. A hanging call is given up after 10 seconds, ten times
    // as long as a slow answer.
    const retryPolicy = {
      retries: { limit: 5, delay: RETRY_DELAY, backoff: "exponential" },
      timeout: "10 seconds",
    } as const;
    // Nobody else gives the money back, so a rollback handler is retried for longer than its step.
    const rollbackPolicy = { ...retryPolicy, retries: { ...retryPolicy.retries, limit: 8 } };
    const compensateWith = (compensate: (reason: string) => Promise<void>) => ({
      rollback: async ({ error }: { error: Error }) => {
        if (await markCancelling(DB, orderId, error.message)) await compensate(error.message);
      },
      rollbackConfig: rollbackPolicy,
    });
    // A rollback handler asks the provider: the answer may be lost, and after a restart the step's whole result is.
    const refund = async () => {
      const known = await payments.find({ key: keyOf("charge card") });
      if (known?.status !== "charged") return;
      const { chargeId } = known;
      await payments.refund({ chargeId, cents: totalCents, key: keyOf("refund card") });
    };
    const recall = async () => {
      await carrier.recall({ orderId, key: keyOf("recall parcel") });
    };

    await step.do(
      "reserve stock",
      retryPolicy,
      () => stock.reserve({ orderId, lines, key: keyOf("reserve stock") }),
      // The first step's handler runs last. A run that was restarted a moment ago has forgotten the other steps, and their
      // handlers with them. Releasing what was not reserved does no harm.
      compensateWith(async (reason) => {
        if (await carrier.find({ key: keyOf("ship parcel") })) await recall();
        await refund();
        await stock.release({ orderId, key: keyOf("release stock") });
        await closeOrder(DB, orderId, "cancelled", reason);
      }),
    );

    const charge = await step.do(
      "charge card",
      {
        // The provider says when to try again, so five retries are enough. Constant, since any other backoff would
        // multiply that delay.
        retries: { limit: 5, delay: retryAfter, backoff: "constant" },
        // Banks take their time, and a charge given up too early goes on without us.
        timeout: "30 seconds",
      },
      async () => {
        await transitionTo(DB, orderId, "reserved");
        return payments.charge({ orderId, card, cents: totalCents, key: keyOf("charge card") });
      },
      compensateWith(refund),
    );

    if (charge.status === "declined") {
      // A refusal is a result, not an error: nothing to retry, no rollback. So the stock is released right here.
      await step.do("release stock", rollbackPolicy, async () => {
        await stock.release({ orderId, key: keyOf("release stock") });
        await closeOrder(DB, orderId, "declined", `${charge.code}: ${charge.message}`);
      });
      return { status: "declined", code: charge.code };
    }

    const known = await step.do("ask for review", retryPolicy, async () => {
      const { review } = await transitionTo(DB, orderId, "in review");
      return review;
    });
    let given = NOBODY;
    try {
      // After a restart the answer may be there already.
      if (!known) {
        const options = { type: EVENTS.orderReview, timeout: REVIEW_TIMEOUT };
        const { payload } = await step.waitForEvent<OrderReview>("wait for review", options);
        given = v.parse(orderReview, payload);
      }
    } catch (error) {
      // Only a timeout means that nobody answered. A pause or a lost engine arrives here as well.
      if (!isTimeout(error)) throw error;
    }
    // A review that was taken in the very last moment is in the row, and counts.
    const review = await step.do("close review", retryPolicy, () =>
      closeReview(DB, orderId, given),
    );
    // Thrown, not returned: only an uncaught error runs the rollback handlers.
    if (!review.approved) throw new NonRetryableError(`Not approved: ${review.reviewer}.`);

    await step.do("approve order", retryPolicy, async () => {
      await transitionTo(DB, orderId, "approved");
    });
    // The customer can still change their mind: `terminate({ rollback: true })`.
    await step.sleep("grace period", GRACE_PERIOD);

    const { parcelId } = await step.do(
      "ship parcel",
      retryPolicy,
      async () => {
        await transitionTo(DB, orderId, "shipping");
        const parcel = await carrier
          .ship({ orderId, key: keyOf("ship parcel") })
          .catch(giveUpOn("address_unknown"));
        await transitionTo(DB, orderId, "shipped", parcel);
        return parcel;
      },
      compensateWith(recall),
    );

    // The parcel has left, so a failed email compensates nothing: repair the mail, restart from this step.
    await step.do("send mail", retryPolicy, async () => {
      const text = `Your order ${orderId} is on its way as ${parcelId}.`;
      await mail.send({ to: email, subject: "On its way", text, key: keyOf("send mail") });
      await transitionTo(DB, orderId, "complete");
    });

    return { status: "shipped", parcelId };
  }
}
