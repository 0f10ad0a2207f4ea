import {
  errorAsJson,
  jsonBody,
  limitBody,
  notFoundAsJson,
  onlyMethods,
  requireToken,
} from "@durable-lessons/worker-helpers/http";
import { findInstance } from "@durable-lessons/worker-helpers/instances";
import { Hono } from "hono";
import { findArticle } from "./articles.ts";
import { isOpen, restartDraft } from "./draft-run.ts";
import { viewOf } from "./draft-view.ts";
import { findDraft } from "./drafts.ts";
import { requestDraft } from "./request-draft.ts";
import { obstacleToLinks } from "./review-link.ts";
import { reviewRoutes } from "./review-routes.ts";
import { draftRequest } from "./schemas.ts";

export { DraftWorkflow } from "./draft-workflow.ts";

const app = new Hono<{ Bindings: Env }>();
app.onError(errorAsJson);
app.notFound(notFoundAsJson);

// It answers with pages, and has a limit of its own.
app.route("/review", reviewRoutes);
app.use(limitBody());

// Whoever asks spends the model's tokens, and says who reviews: with an address of their own they could publish anything.
app.use("/drafts/*", requireToken("DRAFT_TOKEN"));
app.post("/drafts", jsonBody(draftRequest), async (c) => {
  const obstacle = obstacleToLinks(c.env, c.req.url);
  if (obstacle) return c.json({ error: obstacle }, 503);
  const draft = c.req.valid("json");
  const requested = await requestDraft(c.env, draft);
  if ("obstacle" in requested) return c.json({ error: requested.obstacle }, 409);
  const { isNew, row } = requested;
  const status = isNew ? "started" : isOpen(row) ? "already-started" : row.state;
  return c.json(
    { status, draftId: draft.draftId, instanceId: row.instance_id },
    isNew ? 202 : 200,
    { location: `/drafts/${draft.draftId}` },
  );
});
app.all("/drafts", onlyMethods("POST"));

app.get("/drafts/:id", async (c) => {
  const row = await findDraft(c.env.DB, c.req.param("id"));
  if (!row) return c.json({ error: `There is no draft "${c.req.param("id")}".` }, 404);
  return c.json(await viewOf(row, await findInstance(c.env.DRAFTS, row.instance_id)));
});
app.all("/drafts/:id", onlyMethods("GET"));

app.post("/drafts/:id/restart", async (c) => {
  const row = await findDraft(c.env.DB, c.req.param("id"));
  if (!row) return c.json({ error: `There is no draft "${c.req.param("id")}".` }, 404);
  const refusal = await restartDraft(c.env, row);
  return refusal ? c.json({ error: refusal }, 409) : c.json({ status: "accepted" }, 202);
});
app.all("/drafts/:id/restart", onlyMethods("POST"));

app.get("/articles/:id", async (c) => {
  const article = await findArticle(c.env.DB, c.req.param("id"));
  if (!article) return c.json({ error: `There is no article "${c.req.param("id")}".` }, 404);
  return c.text(article.text, 200, {
    etag: `"${article.sha256}"`,
    "x-written-by": article.model,
    "x-content-type-options": "nosniff",
  });
});
app.all("/articles/:id", onlyMethods("GET"));

export default { fetch: app.fetch } satisfies ExportedHandler<Env>;
