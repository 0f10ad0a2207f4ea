import { join } from "node:path";
import { LessonRuntime } from "@durable-lessons/lab/runner";
import {
  callsOf,
  effectsOf,
  type Evidence,
  evidenceOf,
  type FaultScript,
  hangsByRun,
  keptOf,
  type Operation,
  scriptFaults,
} from "@durable-lessons/outside-world";
import { PATIENTLY } from "@durable-lessons/test-kit";
import { WAKE_EVENT } from "@durable-lessons/types";
import { expect, vi } from "vitest";
import { EVENTS } from "../../src/events.ts";
import { invitationMail } from "../../src/mails.ts";
import { reviewLink } from "../../src/review-link.ts";
import type { DraftRequest } from "../../src/schemas.ts";

export const lesson = join(import.meta.dirname, "..", "..");

/** The secrets of the tests. */
export const SECRETS = {
  DRAFT_TOKEN: "token-of-ada-for-these-tests",
  REVIEW_LINK_KEY: "key-of-the-tests-key-of-the-tests-key",
};
const authorization = `Bearer ${SECRETS.DRAFT_TOKEN}`;

/** The lesson on a workerd of its own, with short retries. */
export const startLesson = (vars: Record<string, number | string> = {}) =>
  LessonRuntime.start(lesson, { RETRY_DELAY: 10, ...SECRETS, ...vars });

/** A draft that no other test has. */
export const newDraft = (fields: Partial<DraftRequest> = {}): DraftRequest => ({
  draftId: crypto.randomUUID().replaceAll("-", ""),
  prompt: "Why is tea green?",
  reviewer: "bob@example.com",
  ...fields,
});

const idOf = (draftId: string) => `draft-${draftId}`;

export const PUBLISHED = { "article.published": 1, "email.sent": 1, "model.called": 1 };

/** A row of the table `drafts`, as far as the tests look at it. */
export interface Row {
  draft_id: string;
  state: string;
  text: string | null;
  sha256: string | null;
  reviewer: string;
  model: string | null;
  expires_at: number | null;
  reminded_at: number | null;
}

/** A client of a lesson that runs. */
export function clientOf(runtime: Pick<LessonRuntime, "env" | "fetch">) {
  const bindings = async () =>
    (await runtime.env()) as unknown as {
      DB: D1Database;
      DRAFTS: Workflow;
      PUBLIC_ORIGIN: string;
      WORLD: D1Database;
    };

  const rows = async (): Promise<Row[]> => {
    const { DB } = await bindings();
    return (await DB.prepare("SELECT * FROM drafts").all<Row>()).results;
  };
  const row = async (draftId: string) => {
    const { DB } = await bindings();
    const found = await DB.prepare("SELECT * FROM drafts WHERE draft_id = ?1")
      .bind(draftId)
      .first<Row>();
    if (!found) throw new Error(`There is no draft ${draftId}.`);
    return found;
  };
  const untilRow = (draftId: string, condition: (row: Row) => boolean) =>
    vi.waitUntil(async () => {
      const found = await row(draftId);
      return condition(found) && found;
    }, PATIENTLY);

  return {
    bindings,
    rows,
    row,
    untilRow,

    /** Asks for a draft whose outside world has these faults. */
    async request(faults: FaultScript = {}, draft = newDraft()): Promise<DraftRequest> {
      await scriptFaults((await bindings()).WORLD, idOf(draft.draftId), faults);
      const { status } = await runtime.fetch("/drafts", {
        method: "POST",
        headers: { "content-type": "application/json", authorization },
        body: JSON.stringify(draft),
      });
      if (status !== 202) throw new Error(`POST /drafts: ${status}`);
      return draft;
    },

    /** The path of the link in a draft's mail, once it is sent: the ledger keeps no text, but which mail it was. */
    async mailedLink(draftId: string): Promise<string> {
      const { PUBLIC_ORIGIN, WORLD } = await bindings();
      const { detail } = await vi.waitUntil(async () => {
        const effects = await effectsOf(WORLD, idOf(draftId));
        return effects.find(({ kind }) => kind === "email.sent");
      }, PATIENTLY);
      const { expires_at, model, reviewer, sha256 } = await row(draftId);
      const invitation = { draftId, sha256: sha256 ?? "", reviewer, expires: String(expires_at) };
      const link = await reviewLink({ ...SECRETS, PUBLIC_ORIGIN }, invitation);
      const mail = invitationMail(invitation, model ?? "", link);
      expect(detail).toEqual(await keptOf(idOf(draftId), mail));
      const { pathname, search } = new URL(link);
      return pathname + search;
    },

    /** Presses a button of the reviewer's page. */
    async decide(link: string, decision = "approve"): Promise<number> {
      const { status } = await runtime.fetch(link, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: `decision=${decision}`,
      });
      return status;
    },

    async evidence(draftId: string): Promise<Evidence> {
      return evidenceOf((await bindings()).WORLD, idOf(draftId));
    },

    /** How many calls of these drafts have hung so far, by draft. */
    async hangs(): Promise<Map<string, number>> {
      const hangs = await hangsByRun((await bindings()).WORLD);
      return new Map([...hangs].map(([run, n]) => [run.replace(/^draft-/, ""), n]));
    },

    /** How often a draft has called this operation. */
    async calls(draftId: string, operation: Operation): Promise<number> {
      const calls = await callsOf((await bindings()).WORLD, idOf(draftId));
      return calls.filter((call) => call.operation === operation).length;
    },

    async wake(draftId: string): Promise<void> {
      const { DRAFTS } = await bindings();
      const instance = await DRAFTS.get(idOf(draftId));
      await instance.sendEvent({ type: WAKE_EVENT, payload: null });
    },

    async article(draftId: string): Promise<string | null> {
      const response = await runtime.fetch(`/articles/${draftId}`);
      return response.status === 200 ? response.text() : null;
    },

    /** Waits until an instance waits for an event of this type. */
    async untilWaiting(draftId: string, type: string): Promise<void> {
      await vi.waitUntil(async () => {
        const response = await runtime.fetch(`/drafts/${draftId}`, {
          headers: { authorization },
        });
        const { steps } = (await response.json()) as { steps: Record<string, string> };
        const wait = type === EVENTS.draftReview ? "wait for review" : "wait once more";
        return steps[wait] === "started";
      }, PATIENTLY);
    },
  };
}
