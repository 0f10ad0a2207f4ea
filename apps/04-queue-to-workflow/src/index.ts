import {
  errorAsJson,
  hasToken,
  issuesAsText,
  jsonBody,
  limitBody,
  notFoundAsJson,
  onlyMethods,
  requireToken,
} from "@durable-lessons/worker-helpers/http";
import { limitCallers } from "@durable-lessons/worker-helpers/limits";
import { Hono } from "hono";
import { createMiddleware } from "hono/factory";
import * as v from "valibot";
import { consumeDeadLetters } from "./consume-dead-letters.ts";
import { consumeOrders } from "./consume-orders.ts";
import { cancel, restartFailed } from "./failed-orders.ts";
import { summaryOf, viewOf } from "./order-view.ts";
import { findOrder, type OrderRow } from "./orders.ts";
import { placeOrders } from "./place-orders.ts";
import { QUEUES } from "./queues.ts";
import {
  fulfilmentOrder,
  fulfilmentOrderBatch,
  MAX_BATCH_BYTES,
  orderCancellation,
  productSku,
} from "./schemas.ts";
import { unavailable } from "./unavailable.ts";

export { FulfilmentWorkflow } from "./fulfilment-workflow.ts";
export { RestockWorkflow } from "./restock-workflow.ts";
export { Shelf } from "./shelf.ts";

const asOperator = requireToken("OPERATOR_TOKEN");

/** Why an order is refused that has the form of one. */
const REFUSALS = {
  conflict: "There is another order with this id.",
  failed: "This order has failed. It stays so until an operator restarts or cancels it.",
};

type Bound = { Bindings: Env; Variables: { row: OrderRow } };
const app = new Hono<Bound>();
app.onError(errorAsJson);
app.notFound(notFoundAsJson);

// One order. 202 as soon as the queue has it: what comes of it takes its time.
app.post("/orders", limitCallers, limitBody(), jsonBody(fulfilmentOrder), async (c) => {
  const order = c.req.valid("json");
  // Whatever comes of it, here it can be looked up.
  c.header("location", `/orders/${encodeURIComponent(order.orderId)}`);
  try {
    const [placed] = await placeOrders(c.env, [order]);
    if (placed === "conflict" || placed === "failed") {
      return c.json({ error: REFUSALS[placed] }, 409);
    }
    const body = { status: placed, orderId: order.orderId };
    return c.json(body, placed === "accepted" ? 202 : 200);
  } catch (error) {
    return unavailable(c, error);
  }
});
app.all("/orders", onlyMethods("POST"));

// Up to a hundred, from a shop that has the token. What cannot be taken is named and left out; the others go into the queue
// together.
app.post(
  "/orders/batch",
  asOperator,
  limitBody(MAX_BATCH_BYTES),
  jsonBody(fulfilmentOrderBatch),
  async (c) => {
    const parsed = c.req.valid("json").orders.map((order) => v.safeParse(fulfilmentOrder, order));
    const orders = parsed.flatMap((order) => (order.success ? [order.output] : []));
    try {
      const placed = (await placeOrders(c.env, orders)).values();
      let [accepted, known, isConflict] = [0, 0, false];
      const rejected = parsed.flatMap((order, index) => {
        if (!order.success) return [{ index, error: issuesAsText(order.issues) }];
        const outcome = placed.next().value;
        if (outcome === "conflict" || outcome === "failed") {
          isConflict = true;
          return [{ index, error: REFUSALS[outcome] }];
        }
        if (outcome === "accepted") accepted += 1;
        else known += 1;
        return [];
      });
      const refused = isConflict ? 409 : 400;
      return c.json({ accepted, known, rejected }, accepted + known > 0 ? 202 : refused);
    } catch (error) {
      return unavailable(c, error);
    }
  },
);

const findRow = createMiddleware<Bound>(async (c, next) => {
  const id = c.req.param("id") ?? "";
  const row = await findOrder(c.env.DB, id);
  if (!row) return c.json({ error: `There is no order "${id}".` }, 404);
  c.set("row", row);
  await next();
});

app.get("/orders/:id", findRow, async (c) => {
  const view = await viewOf(c.env, c.var.row);
  // An id can be guessed: what was done and why it failed is for those who have the token.
  return c.json((await hasToken(c, c.env.OPERATOR_TOKEN)) ? view : summaryOf(view));
});
app.all("/orders/batch", onlyMethods("GET", "POST"));
app.all("/orders/:id", onlyMethods("GET"));

// Whoever moves an order needs the token, before they hear whether there is one.
app.post("/orders/:id/restart", asOperator, findRow, async (c) => {
  const refusal = await restartFailed(c.env, c.var.row);
  return refusal ? c.json({ error: refusal }, 409) : c.json({ status: "accepted" }, 202);
});
app.all("/orders/:id/restart", onlyMethods("POST"));

app.post(
  "/orders/:id/cancel",
  asOperator,
  findRow,
  limitBody(),
  jsonBody(orderCancellation),
  async (c) => {
    const refusal = await cancel(c.env, c.var.row, c.req.valid("json").reason);
    return refusal ? c.json({ error: refusal }, 409) : c.json({ status: "cancelled" });
  },
);
app.all("/orders/:id/cancel", onlyMethods("POST"));

// "One truck at a time" is a Durable Object's work: everybody who asks for this product asks the same object. Every name that is
// asked for is an object, so strangers may not ask.
app.use("/products/*", asOperator);
app.use("/products/:sku/*", async (c, next) => {
  const sku = v.safeParse(productSku, c.req.param("sku"));
  return sku.success ? next() : c.json({ error: issuesAsText(sku.issues) }, 400);
});

app.get("/products/:sku", async (c) => {
  const sku = c.req.param("sku");
  return c.json({ sku, ...(await c.env.SHELVES.getByName(sku).look(sku)) });
});
app.all("/products/:sku", onlyMethods("GET"));

app.post("/products/:sku/restock", async (c) => {
  const sku = c.req.param("sku");
  const location = `/products/${encodeURIComponent(sku)}`;
  try {
    const restock = await c.env.SHELVES.getByName(sku).restock(sku);
    const { instanceId, started, state, reason } = restock;
    if (state === "failed") {
      const error = `The last restock has failed, and its truck may come all the same: ${reason} Once that is settled, an operator says so: POST ${location}/delivered`;
      return c.json({ error }, 409, { location });
    }
    return c.json({ instanceId, started }, started ? 202 : 200, { location });
  } catch (error) {
    return unavailable(c, error);
  }
});
app.all("/products/:sku/restock", onlyMethods("POST"));

app.post("/products/:sku/delivered", async (c) => {
  const sku = c.req.param("sku");
  try {
    const { instanceId, state } = await c.env.SHELVES.getByName(sku).delivered(sku);
    if (state === "none") return c.json({ error: "No truck is on its way." }, 409);
    return c.json({ instanceId, status: "delivered" });
  } catch (error) {
    return unavailable(c, error);
  }
});
app.all("/products/:sku/delivered", onlyMethods("POST"));

export default {
  fetch: app.fetch,
  async queue(batch, env) {
    if (batch.queue === QUEUES.ordersDeadLetters) await consumeDeadLetters(batch, env);
    else await consumeOrders(batch, env);
  },
} satisfies ExportedHandler<Env>;
