import { signupRequest } from "@durable-lessons/types";
import {
  errorAsJson,
  jsonBody,
  limitBody,
  notFoundAsJson,
  onlyMethods,
} from "@durable-lessons/worker-helpers/http";
import { limitCallers } from "@durable-lessons/worker-helpers/limits";
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { operatorPage } from "./operator-page.ts";
import { operatorRoutes } from "./operator-routes.ts";
import { signUp } from "./sign-up.ts";
import { formRoutes } from "./signup-form.ts";
import { unavailable } from "./unavailable.ts";

const app = new Hono<{ Bindings: ProducerEnv }>();
app.onError(errorAsJson);
app.notFound(notFoundAsJson);

// It has a limit of its own for bodies: a thousand letters are decided at once.
app.route("/dead-letters", operatorRoutes);
app.use(limitBody());

// The form, and what a browser sends of it without any script.
app.route("/signup", formRoutes);

// Anybody may sign up, so nobody may do so without end. The answer comes when the queue has the wish: what comes of it is the
// consumer's work, and takes its time.
app.post("/signup", limitCallers, jsonBody(signupRequest), async (c) => {
  try {
    return c.json({ queued: true, id: await signUp(c.env, c.req.valid("json")) }, 202);
  } catch (error) {
    if (error instanceof HTTPException) throw error;
    // Nothing is lost: who gets no 202 asks again, and the id is the same if the message had arrived after all.
    return unavailable(c, error);
  }
});
app.all("/signup", onlyMethods("GET", "POST"));

app.get("/", operatorPage);
app.all("/", onlyMethods("GET"));

export default { fetch: app.fetch } satisfies ExportedHandler<ProducerEnv>;
