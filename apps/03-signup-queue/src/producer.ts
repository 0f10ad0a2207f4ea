import { signupRequest } from "@durable-lessons/types";
import {
  errorAsJson,
  jsonBody,
  limitBody,
  notFoundAsJson,
  onlyMethods,
} from "@durable-lessons/worker-helpers/http";
import { countAgainst, limitCallers } from "@durable-lessons/worker-helpers/limits";
import { Hono } from "hono";
import { listDeadLetters } from "./dead-letters.ts";
import { operatorPage } from "./operator-page.ts";
import { type Operator, requireOperator } from "./operators.ts";
import { settleDeadLetter } from "./settle-dead-letter.ts";
import { signupId } from "./signup-id.ts";
import { unavailable } from "./unavailable.ts";

const app = new Hono<{ Bindings: ProducerEnv; Variables: Operator }>();
app.onError(errorAsJson);
app.notFound(notFoundAsJson);
app.use(limitBody());

// Takes the form, puts it into the queue and answers. What comes of it is the consumer's work, and takes its time.
// Anybody may sign up, so nobody may do so without end: neither a caller, nor all of them together for one address.
app.post("/signup", limitCallers, jsonBody(signupRequest), async (c) => {
  const signup = c.req.valid("json");
  const id = await signupId(signup.email);
  await countAgainst(c.env.PER_RECIPIENT, id, "for this e-mail address");
  try {
    await c.env.SIGNUPS.send({ id, ...signup });
  } catch (error) {
    // Nothing is lost: who gets no 202 asks again, and the id is the same if the message had arrived after all.
    return unavailable(c, error);
  }
  return c.json({ queued: true, id }, 202);
});
app.all("/signup", onlyMethods("POST"));

app.get("/", operatorPage);
app.all("/", onlyMethods("GET"));

// Everything below shows addresses or sends mail: only for operators.
app.use("/dead-letters", requireOperator);
app.use("/dead-letters/*", requireOperator);

app.get("/dead-letters", async (c) => {
  const settled = c.req.query("settled") === "yes";
  return c.json(await listDeadLetters(c.env.DB, { settled }));
});
app.all("/dead-letters", onlyMethods("GET"));

app.post("/dead-letters/:id/redrive", (c) => settleDeadLetter(c, "redriven"));
app.all("/dead-letters/:id/redrive", onlyMethods("POST"));

app.delete("/dead-letters/:id", (c) => settleDeadLetter(c, "discarded"));
app.all("/dead-letters/:id", onlyMethods("DELETE"));

export default { fetch: app.fetch } satisfies ExportedHandler<ProducerEnv>;
