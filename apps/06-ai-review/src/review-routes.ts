import { onlyMethods } from "@durable-lessons/worker-helpers/http";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import * as v from "valibot";
import { runOf } from "./draft-run.ts";
import { claimReview, type Decision, type DraftRow, findDraft } from "./drafts.ts";
import { EVENTS } from "./events.ts";
import { messagePage, reviewPage } from "./review-page.ts";
import { isSigned, obstacleToLinks } from "./review-link.ts";
import { draftReview } from "./schemas.ts";

const MAX_FORM_BYTES = 1024;
const DECISIONS = { approve: "approved", reject: "rejected" } as const satisfies Record<
  string,
  Decision
>;

/** The reviewer's page: `GET` shows, `POST` decides. Mail scanners follow links, so that `GET` changes nothing. */
export const reviewRoutes = new Hono<{ Bindings: Env; Variables: { row: DraftRow } }>();

reviewRoutes.onError((error, c) => {
  console.error(error);
  return messagePage(c, 500, "Something went wrong", "Nothing was decided. Try again later.");
});

reviewRoutes.use("/:id", async (c, next) => {
  const obstacle = obstacleToLinks(c.env, c.req.url);
  if (obstacle) return messagePage(c, 503, "Reviews are not possible yet", obstacle);

  const { expires = "", signature = "" } = c.req.query();
  const row = await findDraft(c.env.DB, c.req.param("id"));
  // What the link does not say of itself is read from the draft: another draft, reviewer or text is another signature.
  const { draft_id: draftId = "", sha256 = "", reviewer = "" } = row ?? {};
  const invitation = { draftId, sha256: sha256 ?? "", reviewer, expires };
  // The same answer where there is no such draft: a stranger does not learn which ones there are.
  if (!(await isSigned(c.env, invitation, signature)) || !row) {
    const why =
      "It was changed on its way, or it belongs to another draft. Use the link in your mail as it is.";
    return messagePage(c, 403, "This link is not valid", why);
  }
  if (row.state !== "in review") {
    // The click that counted may have died between the row and its event.
    if (c.req.method === "POST" && row.state === "approved") await wake(c.env.DRAFTS, row);
    return decidedPage(c, c.env, row);
  }
  if (Date.now() >= Number(expires)) {
    return messagePage(c, 410, "This link has expired", "The draft was not published.");
  }
  // Terminated from outside, say: nobody would publish what is approved now.
  const run = await runOf(c.env, row);
  if (run.isStuck) return stuckPage(c, run.row);
  c.set("row", row);
  await next();
});

reviewRoutes.get("/:id", (c) => reviewPage(c, c.var.row));

reviewRoutes.post(
  "/:id",
  bodyLimit({
    maxSize: MAX_FORM_BYTES,
    onError: (c) => messagePage(c, 413, "Too large", "Use the buttons of this page."),
  }),
  async (c) => {
    const type = c.req.header("content-type") ?? "";
    if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type)) {
      return messagePage(c, 415, "Not a form", "Use the buttons of this page.");
    }
    const form = v.safeParse(draftReview, await c.req.parseBody({ all: true }));
    if (!form.success) {
      const issues = form.issues.map(({ message }) => message).join("; ");
      return messagePage(c, 400, "Nothing was decided", issues);
    }
    const { row } = c.var;
    const decided = await claimReview(c.env.DB, row, DECISIONS[form.output.decision]);
    // Of two clicks at once one is the first.
    if (!decided) return decidedPage(c, c.env, row);
    await wake(c.env.DRAFTS, decided);
    return decided.state === "approved"
      ? messagePage(c, 200, "Approved", "Thank you. The text is being published as you saw it.")
      : messagePage(c, 200, "Rejected", "Thank you. The text will not be published.");
  },
);
reviewRoutes.all("/:id", onlyMethods("GET", "POST"));

/** Ends the wait. Should this fail, nothing is lost: the Workflow finds the decision in the row when its wait ends. */
async function wake(workflow: Workflow, { instance_id, reminded_at }: DraftRow): Promise<void> {
  const type = reminded_at === null ? EVENTS.draftReview : EVENTS.draftReviewReminded;
  try {
    await (await workflow.get(instance_id)).sendEvent({ type, payload: null });
  } catch (error) {
    console.error(error);
  }
}

function stuckPage(c: Context, { state }: DraftRow) {
  const what =
    state === "approved"
      ? "The draft was approved, and is not published: its run has stopped."
      : "Nothing was decided: the draft's run has stopped, and nobody would publish what you approve.";
  const wayOn =
    "Tell whoever asked for the draft. When they have restarted it, this link is good again.";
  return messagePage(c, 409, "This draft has stopped", `${what} ${wayOn}`);
}

async function decidedPage(c: Context, env: Env, known: DraftRow) {
  const { row, isStuck } = await runOf(env, known);
  const { state } = row;
  if (isStuck && state === "approved") return stuckPage(c, row);
  const messages: Record<string, string> = {
    approved: "The draft was approved: it is being published.",
    published: "The draft was approved, and is published.",
    rejected: "The draft was rejected.",
    closed: "Nobody decided in time, so the draft was closed. It was not published.",
    withdrawn: "The draft was withdrawn. It was not published.",
  };
  const title = state === "closed" || state === "withdrawn" ? "Too late" : "Already decided";
  return messagePage(c, 410, title, messages[state] ?? "");
}
