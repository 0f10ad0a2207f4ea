import { instanceIdFor } from "@durable-lessons/idempotency";
import type { LessonFlows } from "@durable-lessons/lab/flow";
import { evidenceOf } from "@durable-lessons/outside-world";
import { type Invitation, reviewLink } from "./src/review-link.ts";

/** A token and a key of the gauntlet's own runtime. */
const SECRETS = {
  DRAFT_TOKEN: "token-of-the-gauntlets-own-runtime",
  REVIEW_LINK_KEY: "key-of-the-gauntlet-key-of-the-gauntlet",
};

const runOf = (id: string) => instanceIdFor("draft", id);

/** How the gauntlet starts this lesson's own code. */
export default {
  vars: { ...SECRETS, RETRY_DELAY: 10 },
  flows: [
    {
      name: "a draft",
      workflow: "DRAFTS",
      runOf,
      start: (lesson, id) =>
        lesson.send(
          "POST",
          "/drafts",
          { draftId: id, prompt: "Why is tea green?", reviewer: `bob+${id}@example.com` },
          { authorization: `Bearer ${SECRETS.DRAFT_TOKEN}` },
        ),
      // The reviewer presses the button behind the link in the mail, which nobody keeps: it is signed here once more.
      async tend(lesson, id, says) {
        const { DB, PUBLIC_ORIGIN, WORLD } = await lesson.env<{
          DB: D1Database;
          PUBLIC_ORIGIN: string;
          WORLD: D1Database;
        }>();
        if (!(await evidenceOf(WORLD, await runOf(id)))["email.sent"]) return;
        const invitation = await DB.prepare(
          `SELECT draft_id AS draftId, sha256, reviewer, CAST(expires_at AS TEXT) AS expires
           FROM drafts WHERE draft_id = ?1`,
        )
          .bind(id)
          .first<Invitation>();
        if (!invitation) return;
        const link = await reviewLink({ ...SECRETS, PUBLIC_ORIGIN }, invitation);
        const { pathname, search } = new URL(link);
        const form = { "content-type": "application/x-www-form-urlencoded" };
        const decision = `decision=${says === "yes" ? "approve" : "reject"}`;
        await (await lesson.send("POST", pathname + search, decision, form)).text();
      },
    },
  ],
} satisfies LessonFlows;
