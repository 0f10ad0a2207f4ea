import { instanceIdFor } from "@durable-lessons/idempotency";
import type { LessonFlows } from "@durable-lessons/lab/flow";
import { effectsOf } from "@durable-lessons/outside-world";

/** A token and a key of the gauntlet's own runtime. */
const SECRETS = {
  DRAFT_TOKEN: "token-of-the-gauntlet",
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
      // The reviewer presses the button behind the link in the mail.
      async tend(lesson, id, says) {
        const { WORLD } = await lesson.env<{ WORLD: D1Database }>();
        const mail = (await effectsOf(WORLD, await runOf(id))).find(
          ({ kind }) => kind === "email.sent",
        );
        const [url] =
          /https?:\S+/.exec(JSON.stringify(mail?.detail ?? "").replaceAll("\\n", " ")) ?? [];
        if (!url) return;
        const { pathname, search } = new URL(url);
        const form = { "content-type": "application/x-www-form-urlencoded" };
        const decision = `decision=${says === "yes" ? "approve" : "reject"}`;
        await (await lesson.send("POST", pathname + search, decision, form)).text();
      },
    },
  ],
} satisfies LessonFlows;
