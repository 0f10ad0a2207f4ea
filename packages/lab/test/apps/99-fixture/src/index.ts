import {
  consumePitfalls,
  LAB_QUEUE_PREFIX,
  type LabMessage,
  pitfallRoutes,
  pitfallWorkflow,
} from "@durable-lessons/lab/worker";
import { Hono } from "hono";
import { type FixtureEnv, pairs } from "./pitfalls/index.ts";

export const PitfallWorkflow = pitfallWorkflow(pairs);

const app = new Hono<{ Bindings: FixtureEnv }>();
app.route("/pitfalls", pitfallRoutes(pairs));

export default {
  fetch: app.fetch,
  async queue(batch, env) {
    if (batch.queue.startsWith(LAB_QUEUE_PREFIX)) await consumePitfalls(pairs, batch, env);
  },
} satisfies ExportedHandler<FixtureEnv, LabMessage>;
