import { createInstanceOnce } from "@durable-lessons/idempotency";
import { sweepWorld } from "@durable-lessons/outside-world";
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
import { Hono } from "hono";
import * as v from "valibot";
import { consumeOnboardingRequests } from "./queue-consumer.ts";
import { onboardingRequest } from "./schemas.ts";
import { startOnboarding } from "./start-onboarding.ts";
import { findInstance } from "./status.ts";
import { unavailable } from "./unavailable.ts";

export { DailyReportWorkflow } from "./daily-report-workflow.ts";
export { OnboardingWorkflow } from "./onboarding-workflow.ts";

/** 90 days. */
const RETENTION_MS = 90 * 24 * 60 * 60 * 1000;

const app = new Hono<{ Bindings: Env }>();
app.onError(errorAsJson);
app.notFound(notFoundAsJson);
app.use(limitBody());

// The first trigger: a request. `create` returns at once, so the answer does not wait for the run.
// Anybody may call this, so it is limited: for each caller, and for each email address.
app.post("/onboard", limitCallers, jsonBody(onboardingRequest), async (c) => {
  const user = c.req.valid("json");
  await limitRecipient(c.env.PER_RECIPIENT, user.email);
  try {
    const onboarding = await startOnboarding(c.env, user);
    const { id, outcome } = onboarding;
    if (outcome === "refused") return c.json({ error: onboarding.reason }, 409);
    const body = { status: outcome, instanceId: id };
    return c.json(body, outcome === "started" ? 202 : 200, { location: `/status/${id}` });
  } catch (error) {
    return unavailable(c, error);
  }
});
app.all("/onboard", onlyMethods("POST"));

// Puts a request into the queue of the second trigger, whatever it holds: the consumer handles that. In production other Workers
// of ours send to it, and a stranger must not.
app.post("/onboard/queue", requireToken("OPERATOR_TOKEN"), jsonBody(v.unknown()), async (c) => {
  try {
    await c.env.ONBOARDING_REQUESTS.send(c.req.valid("json"));
    return c.json({ status: "queued" }, 202);
  } catch (error) {
    return unavailable(c, error);
  }
});
app.all("/onboard/queue", onlyMethods("POST"));

app.get("/status/:id", async (c) => {
  const id = c.req.param("id");
  const instance = await findInstance(c.env, id);
  if (!instance) return c.json({ error: `There is no instance "${id}".` }, 404);
  const { status, output = null, error = null } = await instance.status();
  // An id can be guessed. What a run has done and why it failed is for operators only.
  const details = (await hasToken(c, c.env.OPERATOR_TOKEN)) ? { output, error } : {};
  return c.json({ instanceId: id, status, ...details });
});
app.all("/status/:id", onlyMethods("GET"));

export default {
  fetch: app.fetch,

  // The second trigger: a message.
  queue: consumeOnboardingRequests,

  // The third trigger: a cron. If it fires twice for one time, the id is the same, and one run starts.
  async scheduled({ scheduledTime }, env) {
    await createInstanceOnce(env.DAILY_REPORT, {
      id: `daily-${scheduledTime}`,
      params: { scheduledTime },
    });
    // By then somebody has looked at the messages that could not be read.
    const before = scheduledTime - RETENTION_MS;
    await env.DB.prepare("DELETE FROM parked_messages WHERE parked_at < ?1").bind(before).run();
    await sweepWorld(env.WORLD, before);
  },
} satisfies ExportedHandler<Env>;
