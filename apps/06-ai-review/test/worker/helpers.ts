import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { PATIENTLY } from "@durable-lessons/test-kit";
import { env } from "cloudflare:workers";
import {
  effectsOf,
  evidenceOf,
  type FaultScript,
  keptOf,
  scriptFaults,
} from "@durable-lessons/outside-world";
import { expect, vi } from "vitest";
import { type DraftRow, findDraft, insertDraft, storeText } from "../../src/drafts.ts";
import worker from "../../src/index.ts";
import { invitationMail, reminderMail } from "../../src/mails.ts";
import { requestDraft } from "../../src/request-draft.ts";
import { type Invitation, reviewLink } from "../../src/review-link.ts";
import type { DraftRequest } from "../../src/schemas.ts";

interface Options {
  body?: string | Uint8Array;
  type?: string;
  /** By default the right one. */
  token?: string | null;
  /** Bindings in place of the Worker's own. */
  env?: Record<string, unknown>;
}

/** Instances that stand behind the drafts of {@link draftInReview}: they are running, and hear nothing. */
const deaf = new Set<string>();
const DRAFTS = {
  create: (options: WorkflowInstanceCreateOptions<DraftRequest>) => env.DRAFTS.create(options),
  get: async (id: string) =>
    deaf.has(id)
      ? {
          id,
          status: async () => ({ status: "running" }),
          sendEvent: () => Promise.reject(new Error("the event was lost")),
        }
      : env.DRAFTS.get(id),
};

/** Sends a request to the Worker. */
export async function send(method: string, path: string, options: Options = {}) {
  const { token = env.DRAFT_TOKEN } = options;
  const request = new Request<unknown, IncomingRequestCfProperties>(
    new URL(path, "https://lesson.example"),
    {
      method,
      headers: {
        ...(options.type === undefined ? {} : { "content-type": options.type }),
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(options.body === undefined ? {} : { body: options.body }),
    },
  );
  const ctx = createExecutionContext();
  const response = await worker.fetch(
    request,
    { ...env, DRAFTS: DRAFTS as unknown as Workflow, ...options.env },
    ctx,
  );
  await waitOnExecutionContext(ctx);
  return {
    status: response.status,
    headers: response.headers,
    bytes: new Uint8Array(await response.clone().arrayBuffer()),
    text: await response.text(),
  };
}

export const sendJson = (path: string, body: unknown, options: Options = {}) =>
  send("POST", path, { body: JSON.stringify(body), type: "application/json", ...options });

/** What the buttons of the page send. */
export const decide = (link: string, decision: string, options: Options = {}) =>
  send("POST", link, {
    body: `decision=${decision}`,
    type: "application/x-www-form-urlencoded",
    ...options,
  });

/** A draft that no other test has. */
export const newDraft = (fields: Partial<DraftRequest> = {}): DraftRequest => ({
  draftId: crypto.randomUUID().replaceAll("-", ""),
  prompt: "Why is tea green?",
  reviewer: "bob@example.com",
  ...fields,
});

/** The instance that works on this draft. */
export const idOf = ({ draftId }: DraftRequest) => `draft-${draftId}`;

/** Asks for a draft whose outside world has these faults. */
export async function start(faults: FaultScript = {}, draft = newDraft()) {
  await scriptFaults(env.WORLD, idOf(draft), faults);
  await requestDraft(env, draft);
  return { draft, instance: await env.DRAFTS.get(idOf(draft)) };
}

/** A draft that waits for its review, of any text. Its instance hears nothing. */
export async function draftInReview(text: string, fields: Partial<DraftRequest> = {}) {
  const draft = newDraft(fields);
  deaf.add(idOf(draft));
  await insertDraft(env.DB, { ...draft, instanceId: idOf(draft), fingerprint: "f" });
  await storeText(env.DB, draft.draftId, { model: "a model", text }, 3600);
  return draft;
}

export async function rowOf({ draftId }: DraftRequest): Promise<DraftRow> {
  const row = await findDraft(env.DB, draftId);
  if (!row) throw new Error(`There is no draft ${draftId}.`);
  return row;
}

export const untilState = (draft: DraftRequest, state: string) =>
  vi.waitUntil(async () => (await rowOf(draft)).state === state, PATIENTLY);

/** The invitation that a draft's mail carries. */
export async function invitationTo(draft: DraftRequest): Promise<Invitation> {
  const { sha256, expires_at } = await rowOf(draft);
  const { draftId, reviewer } = draft;
  return { draftId, reviewer, sha256: sha256 ?? "", expires: String(expires_at) };
}

/** A link as the Workflow signs it, of an invitation in which some fields differ. */
export async function linkTo(draft: DraftRequest, fields: Partial<Invitation> = {}) {
  const link = await reviewLink(env, { ...(await invitationTo(draft)), ...fields });
  const { pathname, search } = new URL(link);
  return pathname + search;
}

/**
 * Waits for the mail to a draft's reviewer, and gives the link that stands in it: the ledger keeps no text, but which mail
 * it was.
 */
export async function mailedLink(
  draft: DraftRequest,
  kind: "email.sent" | "reminder.sent" = "email.sent",
): Promise<string> {
  const run = idOf(draft);
  const mail = await vi.waitUntil(async () => {
    const effects = await effectsOf(env.WORLD, run);
    return effects.find((effect) => effect.kind === kind);
  }, PATIENTLY);
  const invitation = await invitationTo(draft);
  const link = await reviewLink(env, invitation);
  const write = kind === "email.sent" ? invitationMail : reminderMail;
  const { model } = await rowOf(draft);
  expect(mail.detail).toEqual(await keptOf(run, write(invitation, model ?? "", link)));
  const { pathname, search } = new URL(link);
  return pathname + search;
}

/** The effects of a draft, by kind. */
export const evidence = (draft: DraftRequest) => evidenceOf(env.WORLD, idOf(draft));

export const PUBLISHED = { "article.published": 1, "email.sent": 1, "model.called": 1 };
