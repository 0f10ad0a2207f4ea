import type { FaultScript, Operation } from "@durable-lessons/outside-world";
import { body } from "@durable-lessons/types/fields";
import type { MiddlewareHandler } from "hono";
import * as v from "valibot";

const OPERATIONS = [
  "carrier.recall",
  "carrier.ship",
  "mail.send",
  "payments.charge",
  "payments.refund",
  "stock.release",
  "stock.reserve",
] satisfies Operation[];

/** Body of `PUT /orders/:id/outage`: what does not work for this order, from now on. None: all works again. */
export const outage = body({
  down: v.array(
    v.picklist(OPERATIONS, `down may name ${OPERATIONS.join(", ")}`),
    "down must be a list",
  ),
});

export const faultsOf = ({ down }: v.InferOutput<typeof outage>): FaultScript =>
  Object.fromEntries(down.map((operation) => [operation, { always: "fail" }]));

/** Answers 404 in production: no request to a deployed Worker comes from the machine that it runs on. */
export const onlyOnThisMachine: MiddlewareHandler = async (c, next) => {
  const { hostname } = new URL(c.req.url);
  if (hostname !== "localhost" && hostname !== "127.0.0.1") return c.notFound();
  await next();
};
