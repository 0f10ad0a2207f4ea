import { scriptFaults } from "@durable-lessons/outside-world";
import {
  errorAsJson,
  jsonBody,
  limitBody,
  notFoundAsJson,
  onlyMethods,
  requireToken,
} from "@durable-lessons/worker-helpers/http";
import { findInstance } from "@durable-lessons/worker-helpers/instances";
import { Hono } from "hono";
import { control, restart } from "./control.ts";
import { EVENTS } from "./events.ts";
import { viewOf } from "./order-view.ts";
import { claimReview, findOrder, type Order } from "./orders.ts";
import { faultsOf, onlyOnThisMachine, outage } from "./outage.ts";
import { placeOrder } from "./place-order.ts";
import { unknownSkus } from "./prices.ts";
import { orderRequest, orderRestart, orderReview } from "./schemas.ts";

export { OrderWorkflow } from "./order-workflow.ts";

const app = new Hono<{ Bindings: Env; Variables: Order }>();
app.onError(errorAsJson);
app.notFound(notFoundAsJson);
app.use(limitBody());

app.post("/orders", jsonBody(orderRequest), async (c) => {
  const order = c.req.valid("json");
  const unknown = await unknownSkus(c.env.DB, order.lines);
  if (unknown.length > 0) {
    return c.json({ error: `Nobody sells the sku ${unknown.join(", ")}.`, unknown }, 400);
  }
  const placed = await placeOrder(c.env, order);
  if (placed.state === "conflict") {
    return c.json({ error: `There is another order "${order.orderId}". Choose a new id.` }, 409);
  }
  const body = { status: placed.state === "new" ? "started" : "already-started" };
  return c.json(
    { ...body, orderId: order.orderId, instanceId: placed.row.instance_id },
    placed.state === "new" ? 202 : 200,
    { location: `/orders/${order.orderId}` },
  );
});
app.all("/orders", onlyMethods("POST"));

// Everything below is about one order. Whoever moves it needs the token, before they hear whether there is one.
app.on(["POST", "PUT"], "/orders/:id/:action", requireToken("REVIEW_TOKEN"));
app.use("/orders/:id/*", async (c, next) => {
  const row = await findOrder(c.env.DB, c.req.param("id"));
  if (!row) return c.json({ error: `There is no order "${c.req.param("id")}".` }, 404);
  c.set("row", row);
  c.set("instance", await findInstance(c.env.ORDERS, row.instance_id));
  await next();
});

app.get("/orders/:id", async (c) => c.json(await viewOf(c.var.row, c.var.instance)));
app.all("/orders/:id", onlyMethods("GET"));

app.post("/orders/:id/review", jsonBody(orderReview), async (c) => {
  const { row, instance } = c.var;
  const review = c.req.valid("json");
  if (!instance || !(await claimReview(c.env.DB, row.order_id, review))) {
    return c.json({ error: "This order does not wait for a review, or has one already." }, 409);
  }
  // Should this fail, the review is not lost: the Workflow finds it in the row when its wait ends.
  await instance.sendEvent({ type: EVENTS.orderReview, payload: review });
  return c.json({ status: "accepted" }, 202);
});
app.all("/orders/:id/review", onlyMethods("POST"));

for (const action of ["pause", "resume", "terminate"] as const) {
  app.post(`/orders/:id/${action}`, async (c) => {
    const refusal = await control(c.var, action);
    return refusal ? c.json({ error: refusal }, 409) : c.json({ status: "accepted" }, 202);
  });
  app.all(`/orders/:id/${action}`, onlyMethods("POST"));
}

app.post("/orders/:id/restart", jsonBody(orderRestart), async (c) => {
  const refusal = await restart(c.var, c.req.valid("json").from);
  return refusal ? c.json({ error: refusal }, 409) : c.json({ status: "accepted" }, 202);
});
app.all("/orders/:id/restart", onlyMethods("POST"));

// To try things out, so only on your machine: for this order some of the outside world is down, or up again.
app.put("/orders/:id/outage", onlyOnThisMachine, jsonBody(outage), async (c) => {
  await scriptFaults(c.env.WORLD, c.var.row.instance_id, faultsOf(c.req.valid("json")));
  return c.json({ status: "accepted" }, 202);
});
app.all("/orders/:id/outage", onlyMethods("PUT"));

export default { fetch: app.fetch } satisfies ExportedHandler<Env>;
