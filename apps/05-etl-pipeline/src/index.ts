import {
  errorAsJson,
  jsonBody,
  limitBody,
  notFoundAsJson,
  onlyMethods,
  requireToken,
} from "@durable-lessons/worker-helpers/http";
import { Hono } from "hono";
import { isOver } from "./days.ts";
import { rejectsOf } from "./rejects.ts";
import { findRun, type RunRow, viewOf } from "./runs.ts";
import { etlRun, isDay } from "./schemas.ts";
import { restartRun, startRun } from "./start-run.ts";

export { EtlWorkflow } from "./etl-workflow.ts";
export { NightlyWorkflow } from "./nightly-workflow.ts";

const asAdministrator = requireToken("ETL_TOKEN");

const app = new Hono<{ Bindings: Env; Variables: { row: RunRow } }>();
app.onError(errorAsJson);
app.notFound(notFoundAsJson);
app.use(limitBody());

// Whoever starts something or reads a customer's data needs the token, before they hear whether there is such a day.
app.use("/runs/*", asAdministrator);

app.post("/runs", jsonBody(etlRun), async (c) => {
  const { day } = c.req.valid("json");
  // A run of a day that is not over would take the place of the one that the night starts.
  if (!isOver(day, Date.now())) {
    const message = `day must be over: files of ${day} may still come`;
    return c.json({ error: message, issues: [{ field: "day", message }] }, 400);
  }
  const { instanceId, isNew, obstacle } = await startRun(c.env, day);
  if (obstacle) return c.json({ error: obstacle }, 409);
  const body = { status: isNew ? "started" : "already-started", day, instanceId };
  return c.json(body, isNew ? 202 : 200, { location: `/runs/${day}` });
});
app.all("/runs", onlyMethods("POST"));

app.use("/runs/:day/*", async (c, next) => {
  const day = c.req.param("day");
  if (!isDay(day)) {
    return c.json({ error: `"${day}" is not a day such as 2026-11-28.`, field: "day" }, 400);
  }
  const row = await findRun(c.env.DB, day);
  if (!row) return c.json({ error: `There is no run of ${day}.` }, 404);
  c.set("row", row);
  await next();
});

app.get("/runs/:day", async (c) => c.json(await viewOf(c.env, c.var.row)));
app.all("/runs/:day", onlyMethods("GET"));

app.post("/runs/:day/restart", async (c) => {
  const refusal = await restartRun(c.env, c.var.row.day);
  return refusal ? c.json({ error: refusal }, 409) : c.json({ status: "accepted" }, 202);
});
app.all("/runs/:day/restart", onlyMethods("POST"));

app.get("/runs/:day/rejects", async (c) => {
  const { file = "", line = "0", limit = "100" } = c.req.query();
  for (const [field, text] of Object.entries({ line, limit })) {
    if (!/^\d{1,9}$/.test(text)) return c.json({ error: `${field} must be a number`, field }, 400);
  }
  const page = { after: { file, line: Number(line) }, limit: Number(limit) };
  return c.json(await rejectsOf(c.env.DB, c.var.row.day, page));
});
app.all("/runs/:day/rejects", onlyMethods("GET"));

export default { fetch: app.fetch } satisfies ExportedHandler<Env>;
