/**
 * For your machine only, never deployed: runs this lesson's pairs, and hands every other request to the producer. It is
 * a Worker of its own, so that a deploy of the lesson needs no lab queue.
 */
import {
  consumePitfalls,
  type LabMessage,
  pitfallRoutes,
  pitfallWorkflow,
} from "@durable-lessons/lab/worker";
import { Hono } from "hono";
import { pairs } from "./pitfalls/index.ts";
import { whatToTry } from "./what-to-try.ts";

export const PitfallWorkflow = pitfallWorkflow(pairs);

const app = new Hono<{ Bindings: LabEnv }>();
app.route("/pitfalls", pitfallRoutes(pairs));
app.get("/", async (c, next) => {
  // `pnpm dev` asks for text; a browser gets the producer's page.
  if (c.req.header("accept") !== "text/plain") return next();
  return c.text(whatToTry(new URL(c.req.url).origin));
});
app.all("*", (c) => c.env.PRODUCER.fetch(c.req.raw));

export default {
  fetch: app.fetch,
  queue: (batch, env) => consumePitfalls(pairs, batch, env),
} satisfies ExportedHandler<LabEnv, LabMessage>;
