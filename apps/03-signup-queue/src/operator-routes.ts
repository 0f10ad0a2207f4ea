import { jsonBody, limitBody, onlyMethods } from "@durable-lessons/worker-helpers/http";
import { body, line } from "@durable-lessons/types/fields";
import { type Context, Hono } from "hono";
import * as v from "valibot";
import { idsOf, listDeadLetters, MAX_PAGE, reasonsOf, type Settlement } from "./dead-letters.ts";
import { type Operator, requireOperator } from "./operators.ts";
import { type Settled, settleDeadLetters } from "./settle-dead-letters.ts";
import { unavailable } from "./unavailable.ts";

type App = { Bindings: ProducerEnv; Variables: Operator };

/** A thousand ids of 36 characters and what is around them. */
const MAX_BODY_BYTES = 64 * 1024;

const ids = v.pipe(
  v.array(line("ids", 100), "ids must be a list"),
  v.minLength(1, "ids must not be empty"),
  v.maxLength(MAX_PAGE, `ids must be at most ${MAX_PAGE}`),
);

/** Body of `POST /dead-letters/settle`: those that are chosen, or up to a thousand that died of one reason. */
const settlement = v.pipe(
  body({
    as: v.picklist(["redriven", "discarded"], 'as must be "redriven" or "discarded"'),
    ids: v.optional(ids),
    reason: v.optional(line("reason", 10_000)),
  }),
  v.check(
    ({ ids: chosen, reason }) => (chosen === undefined) !== (reason === undefined),
    "name either ids or a reason",
  ),
);

/** What operators see and decide. Everything here shows addresses or sends mail. */
export const operatorRoutes = new Hono<App>();
operatorRoutes.use(requireOperator);

operatorRoutes.get("/", async (c) => {
  const { settled, reason, limit = "100", after } = c.req.query();
  const [, at, id] = /^(\d{1,15})\.(.{1,200})$/s.exec(after ?? "0.0") ?? [];
  if (at === undefined || id === undefined) {
    return c.json({ error: "after must be what next has said", field: "after" }, 400);
  }
  if (!/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > MAX_PAGE) {
    return c.json({ error: `limit must be 1 to ${MAX_PAGE}`, field: "limit" }, 400);
  }
  const { deadLetters, next } = await listDeadLetters(c.env.DB, {
    settled: settled === "yes",
    reason,
    limit: Number(limit),
    ...(after === undefined ? {} : { after: { at: Number(at), id } }),
  });
  const query = new URLSearchParams({
    ...c.req.query(),
    after: next ? `${next.at}.${next.id}` : "",
  });
  return c.json({ deadLetters, next: next && `/dead-letters?${query.toString()}` });
});
operatorRoutes.all("/", onlyMethods("GET"));

operatorRoutes.get("/reasons", async (c) => c.json({ reasons: await reasonsOf(c.env.DB) }));
operatorRoutes.all("/reasons", onlyMethods("GET"));

operatorRoutes.post("/settle", limitBody(MAX_BODY_BYTES), jsonBody(settlement), async (c) => {
  const { as, reason, ids: chosen = [] } = c.req.valid("json");
  try {
    const { ids: letters, more } =
      reason === undefined ? { ids: chosen, more: false } : await idsOf(c.env.DB, reason);
    const settled = await settleDeadLetters(c.env, letters, decisionOf(c, as));
    const failed = settled.find(({ outcome }) => outcome === "failed");
    if (failed?.outcome === "failed") return unavailable(c, failed.error);
    const count = (outcome: Settled["outcome"]) =>
      settled.filter((letter) => letter.outcome === outcome).length;
    return c.json({
      settled: count("settled"),
      settledBefore: count("settled before"),
      inProgress: count("in progress"),
      unknown: count("unknown"),
      refused: settled.flatMap((letter) =>
        letter.outcome === "refused" ? [{ id: letter.id, error: letter.reason }] : [],
      ),
      more,
    });
  } catch (error) {
    return unavailable(c, error);
  }
});
operatorRoutes.all("/settle", onlyMethods("POST"));

operatorRoutes.post("/:id/redrive", (c) => settleOne(c, "redriven"));
operatorRoutes.all("/:id/redrive", onlyMethods("POST"));

operatorRoutes.delete("/:id", (c) => settleOne(c, "discarded"));
operatorRoutes.all("/:id", onlyMethods("DELETE"));

async function settleOne(c: Context<App>, settledAs: Settlement["settledAs"]) {
  const decision = decisionOf(c, settledAs);
  const [letter] = await settleDeadLetters(c.env, [c.req.param("id") ?? ""], decision);
  switch (letter?.outcome) {
    case "settled":
      return c.json({ id: letter.id, ...decision });
    case "settled before": {
      const { settledAs: as, settledBy, settledAt } = letter.by;
      const when = new Date(settledAt).toISOString();
      return c.json({ error: `This dead letter was ${as} by ${settledBy} at ${when}.` }, 409);
    }
    case "in progress": {
      const seconds = Math.ceil(letter.retryAfterMs / 1000);
      const error = "Somebody else is at this dead letter. Look again in a few seconds.";
      return c.json({ error }, 409, { "retry-after": String(seconds) });
    }
    case "refused":
      return c.json({ error: letter.reason }, 422);
    case "failed":
      return unavailable(c, letter.error);
    case "unknown":
    case undefined:
      return c.json({ error: "There is no such dead letter." }, 404);
  }
}

const decisionOf = (c: Context<App>, settledAs: Settlement["settledAs"]): Settlement => ({
  settledAs,
  settledBy: c.var.operator,
  settledAt: Date.now(),
});
