import {
  errorAsJson,
  issuesAsText,
  jsonBody,
  limitBody,
  notFoundAsJson,
  onlyMethods,
} from "@durable-lessons/worker-helpers/http";
import { Hono } from "hono";
import * as v from "valibot";
import { consumeOrders } from "./consume-orders.ts";
import { consumeDeadLetters } from "./dead-letters.ts";
import { viewOf } from "./order-view.ts";
import { findOrder } from "./orders.ts";
import { placeOrders } from "./place-orders.ts";
import { QUEUES } from "./queues.ts";
import { fulfilmentOrder, fulfilmentOrderBatch, MAX_BATCH_BYTES } from "./schemas.ts";
import { unavailable } from "./unavailable.ts";

export { FulfilmentWorkflow } from "./fulfilment-workflow.ts";
export { RestockWorkflow } from "./restock-workflow.ts";
export { Shelf } from "./shelf.ts";

const app = new Hono<{ Bindings: Env }>();
app.onError(errorAsJson);
app.notFound(notFoundAsJson);

// One order. 202 as soon as the queue has it: what comes of it takes its time.
app.post("/orders", limitBody(), jsonBody(fulfilmentOrder), async (c) => {
  const order = c.req.valid("json");
  try {
    const [placed] = await placeOrders(c.env, [order]);
    if (placed === "conflict") {
      return c.json({ error: `There is another order "${order.orderId}". Choose a new id.` }, 409);
    }
    const location = `/orders/${encodeURIComponent(order.orderId)}`;
    const body = { status: placed, orderId: order.orderId };
    return c.json(body, placed === "accepted" ? 202 : 200, { location });
  } catch (error) {
    return unavailable(c, error);
  }
});
app.all("/orders", onlyMethods("POST"));

// Up to a hundred. An invalid one is named and left out; the valid ones go into the queue together.
app.post("/orders/batch", limitBody(MAX_BATCH_BYTES), jsonBody(fulfilmentOrderBatch), async (c) => {
  const parsed = c.req.valid("json").orders.map((order) => v.safeParse(fulfilmentOrder, order));
  const orders = parsed.flatMap((order) => (order.success ? [order.output] : []));
  try {
    const placed = (await placeOrders(c.env, orders)).values();
    const outcomes = parsed.map((order, index) => ({
      index,
      outcome: order.success ? placed.next().value : "invalid",
      error: order.success ? "There is another order with this id." : issuesAsText(order.issues),
    }));
    const accepted = outcomes.filter(({ outcome }) => outcome === "accepted").length;
    const known = outcomes.filter(({ outcome }) => outcome === "known").length;
    const rejected = outcomes
      .filter(({ outcome }) => outcome === "invalid" || outcome === "conflict")
      .map(({ index, error }) => ({ index, error }));
    return c.json({ accepted, known, rejected }, accepted + known > 0 ? 202 : 400);
  } catch (error) {
    return unavailable(c, error);
  }
});

app.get("/orders/:id", async (c) => {
  const row = await findOrder(c.env.DB, c.req.param("id"));
  if (!row) return c.json({ error: `There is no order "${c.req.param("id")}".` }, 404);
  return c.json(await viewOf(c.env, row));
});
app.all("/orders/batch", onlyMethods("GET", "POST"));
app.all("/orders/:id", onlyMethods("GET"));

// "One run at a time" is a Durable Object's work: everybody who asks for this product asks the same object.
app.post("/products/:sku/restock", async (c) => {
  const sku = c.req.param("sku");
  const restock = await c.env.SHELVES.getByName(sku).restock(sku);
  return c.json(restock, restock.started ? 202 : 200);
});
app.all("/products/:sku/restock", onlyMethods("POST"));

export default {
  fetch: app.fetch,
  async queue(batch, env) {
    if (batch.queue === QUEUES.ordersDeadLetters) await consumeDeadLetters(batch, env);
    else await consumeOrders(batch, env);
  },
} satisfies ExportedHandler<Env>;
