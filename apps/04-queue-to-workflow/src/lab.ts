/**
 * For your machine only, never deployed: runs this lesson's pairs, and hands every other request to the lesson. It is a
 * Worker of its own, so that a deploy of the lesson needs no lab queue.
 */
import {
  consumePitfalls,
  type LabMessage,
  pitfallRoutes,
  pitfallWorkflow,
} from "@durable-lessons/lab/worker";
import { Hono } from "hono";
import { pairs } from "./pitfalls/index.ts";

export const PitfallWorkflow = pitfallWorkflow(pairs);

const app = new Hono<{ Bindings: LabEnv }>();
app.route("/pitfalls", pitfallRoutes(pairs));
app.all("*", (c) => c.env.LESSON.fetch(c.req.raw));

export default {
  fetch: app.fetch,
  queue: (batch, env) => consumePitfalls(pairs, batch, env),
} satisfies ExportedHandler<LabEnv, LabMessage>;
