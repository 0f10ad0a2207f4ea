import { stepKey } from "@durable-lessons/idempotency";
import { outsideWorld } from "@durable-lessons/outside-world";
import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";
import { approvedText, insertArticle } from "./articles.ts";
import { sha256 as sha256Of } from "./bytes.ts";
import { closeReview, failDraft, findText, startReminder, storeText } from "./drafts.ts";
import { isTimeout } from "./errors.ts";
import { EVENTS } from "./events.ts";
import { invitationMail, reminderMail } from "./mails.ts";
import { generate } from "./model.ts";
import { reviewLink } from "./review-link.ts";
import type { DraftRequest } from "./schemas.ts";

/** Have a text written, ask a person, remind them once, and publish what they approved. */
export class DraftWorkflow extends WorkflowEntrypoint<Env, DraftRequest> {
  override async run(event: WorkflowEvent<DraftRequest>, step: WorkflowStep) {
    const { draftId, prompt, reviewer } = event.payload;
    const { DB, REMIND_AFTER_SECONDS, CLOSE_AFTER_SECONDS, RETRY_DELAY } = this.env;
    const { mail, model, site } = outsideWorld(this.env, event.instanceId);
    // The same for every attempt and every replay, so that a provider does once what is asked twice.
    const keyOf = (name: string) => stepKey(event, { step: { name, count: 1 } });

    const retryPolicy = {
      retries: { limit: 5, delay: RETRY_DELAY, backoff: "exponential" },
      timeout: "10 seconds",
    } as const;

    const draft = await step.do(
      "generate draft",
      // A long text takes time, and an abandoned attempt still costs money.
      { retries: { limit: 2, delay: RETRY_DELAY, backoff: "exponential" }, timeout: "5 minutes" },
      async () =>
        // After a restart the text is there already.
        (await findText(DB, draftId)) ?? generate(this.env, model, prompt, keyOf("generate draft")),
      {
        // Whatever fails for good before the decision, and `terminate({ rollback: true })`: the link becomes invalid.
        rollback: ({ error }) => failDraft(DB, draftId, error.message),
        rollbackConfig: retryPolicy,
      },
    );

    const reviewSeconds = REMIND_AFTER_SECONDS + CLOSE_AFTER_SECONDS;
    const { state, sha256, expiresAt, isReminded } = await step.do("store draft", retryPolicy, () =>
      storeText(DB, draftId, draft, reviewSeconds),
    );
    const invitation = { draftId, sha256, reviewer, expires: String(expiresAt) };

    await step.do("mail reviewer", retryPolicy, async () => {
      const link = await reviewLink(this.env, invitation);
      // With another signing key, after a restart, it is another link, and so another email.
      const key = `${keyOf("mail reviewer")}-${await sha256Of(link)}`;
      await mail.send({ ...invitationMail(invitation, draft.model, link), key });
    });

    // An event only ends the wait. The row counts, whoever sent the event and whenever it came.
    const isAnswered = async (name: string, type: string, seconds: number) => {
      try {
        await step.waitForEvent(name, { type, timeout: seconds * 1000 });
        return true;
      } catch (error) {
        // Only a timeout means that nobody answered. A pause or a lost engine arrives here as well.
        if (!isTimeout(error)) throw error;
        return false;
      }
    };

    if (
      state === "in review" &&
      // Restarted after the reminder: a click sends the event of the second wait now.
      (isReminded ||
        !(await isAnswered("wait for review", EVENTS.draftReview, REMIND_AFTER_SECONDS)))
    ) {
      const isOpen = await step.do("start reminder", retryPolicy, () => startReminder(DB, draftId));
      if (isOpen) {
        // Best effort: if it cannot be sent, the review stays open, and the first email has the link.
        const reminder = step.do("remind reviewer", retryPolicy, async () => {
          const link = await reviewLink(this.env, invitation);
          const key = `${keyOf("remind reviewer")}-${await sha256Of(link)}`;
          await mail.remind({ ...reminderMail(invitation, draft.model, link), key });
        });
        await reminder.catch((error: unknown) => console.error(error));
        await isAnswered("wait once more", EVENTS.draftReviewReminded, CLOSE_AFTER_SECONDS);
      }
    }

    // A click in the very last moment is in the row, and counts.
    const decision = await step.do("close review", retryPolicy, () => closeReview(DB, draftId));
    if (decision !== "approved") return { status: decision };

    await step.do("publish article", retryPolicy, async () => {
      const text = await approvedText(DB, draftId, sha256);
      await site.publish({ articleId: draftId, text, key: keyOf("publish article") });
      await insertArticle(DB, draftId, { text, sha256 });
    });
    return { status: "published", sha256 };
  }
}
