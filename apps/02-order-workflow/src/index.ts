import { scriptFaults } from "@durable-lessons/outside-world";
import {
  errorAsJson,
  hasToken,
  jsonBody,
  limitBody,
  notFoundAsJson,
  onlyMethods,
  requireToken,
} from "@durable-lessons/worker-helpers/http";
import { limitCallers, limitRecipient } from "@durable-lessons/worker-helpers/limits";
import { findInstance } from "@durable-lessons/worker-helpers/instances";
import { type Context, Hono } from "hono";
import { oneAtATime, pause, restart, resume, review, terminate } from "./control.ts";
import { summaryOf, viewOf } from "./order-view.ts";
import { findOrder, type OrderRow } from "./orders.ts";
import { faultsOf, onlyOnThisMachine, outage } from "./outage.ts";
import { placeOrder } from "./place-order.ts";
import { orderRequest, orderRestart, orderReview } from "./schemas.ts";

export { OrderWorkflow } from "./order-workflow.ts";

type App = { Bindings: Env; Variables: { row: OrderRow } };

const app = new Hono<App>();
app.onError(errorAsJson);
app.notFound(notFoundAsJson);
app.use(limitBody());

// Anybody may order, so nobody may order without end: neither a caller, nor all of them together for one address.
app.post("/orders", limitCallers, jsonBody(orderRequest), async (c) => {
  const order = c.req.valid("json");
  await limitRecipient(c.env.PER_RECIPIENT, order.email);
  const placed = await placeOrder(c.env, order);
  if (placed.state === "conflict") {
    return c.json({ error: `There is another order "${order.orderId}". Choose a new id.` }, 409);
  }
  if (placed.state === "unsold") {
    return c.json({ error: `There is no product with the sku ${placed.skus.join(", ")}.` }, 400);
  }
  const status = placed.state === "new" ? "started" : "already-started";
  return c.json(
    { status, orderId: order.orderId, instanceId: placed.row.instance_id, state: placed.row.state },
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
  await next();
});

app.get("/orders/:id", async (c) => {
  const { row } = c.var;
  // An id can be guessed: who reviewed it, what was done and why it failed is for those who have the token.
  if (!(await hasToken(c, c.env.REVIEW_TOKEN))) return c.json(summaryOf(row));
  return c.json(await viewOf(row, await findInstance(c.env.ORDERS, row.instance_id)));
});
app.all("/orders/:id", onlyMethods("GET"));

/** Answers a command for an order: 202 once it is carried out, or is sure to be; else 409 with the reason and the way on. */
async function answer(c: Context<App>, command: Parameters<typeof oneAtATime>[0]) {
  const refusal = await oneAtATime(command, c.var.row, c.env, c.executionCtx);
  return refusal ? c.json({ error: refusal }, 409) : c.json({ status: "accepted" }, 202);
}

app.post("/orders/:id/review", jsonBody(orderReview), (c) =>
  answer(c, review(c.req.valid("json"))),
);
app.post("/orders/:id/pause", (c) => answer(c, pause));
app.post("/orders/:id/resume", (c) => answer(c, resume));
app.post("/orders/:id/terminate", (c) => answer(c, terminate));
app.post("/orders/:id/restart", jsonBody(orderRestart), (c) =>
  answer(c, restart(c.req.valid("json").from)),
);
app.all("/orders/:id/:command{review|pause|resume|terminate|restart}", onlyMethods("POST"));

// To try things out, so only on your machine: for this order some of the outside world is down, or up again.
app.put("/orders/:id/outage", onlyOnThisMachine, jsonBody(outage), async (c) => {
  await scriptFaults(c.env.WORLD, c.var.row.instance_id, faultsOf(c.req.valid("json")));
  return c.json({ status: "accepted" }, 202);
});
app.all("/orders/:id/outage", onlyMethods("PUT"));

export default { fetch: app.fetch } satisfies ExportedHandler<Env>;
