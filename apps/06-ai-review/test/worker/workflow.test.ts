import { introspectWorkflowInstance } from "cloudflare:test";
import { PATIENTLY, untilOver } from "@durable-lessons/test-kit";
import { env, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";
import {
  callsOf,
  effectsOf,
  keptOf,
  type FaultScript,
  outsideWorld,
  scriptFaults,
} from "@durable-lessons/outside-world";
import { afterEach, describe, expect, test, vi } from "vitest";
import { insertArticle } from "../../src/articles.ts";
import { claimReview } from "../../src/drafts.ts";
import { EVENTS } from "../../src/events.ts";
import { DraftWorkflow } from "../../src/index.ts";
import type { DraftRequest } from "../../src/schemas.ts";
import {
  decide,
  draftInReview,
  evidence,
  idOf,
  linkTo,
  mailedLink,
  newDraft,
  PUBLISHED,
  rowOf,
  send,
  sendJson,
  start,
  untilState,
} from "./helpers.ts";

const down = { always: "fail" } as const;

afterEach(() => vi.restoreAllMocks());

/** Starts a draft whose waits of these names time out at once. */
const startWithTimeouts = (...names: string[]) => startFaulty({}, ...names);

/** The same, in an outside world with faults. */
async function startFaulty(faults: FaultScript, ...names: string[]) {
  const draft = newDraft();
  const introspector = await introspectWorkflowInstance(env.DRAFTS, idOf(draft));
  await introspector.modify(async (modifier) => {
    for (const name of names) await modifier.forceEventTimeout({ name });
  });
  return { ...(await start(faults, draft)), introspector };
}

const untilWaiting = async (instance: WorkflowInstance, type: string) => {
  using subscription = await instance.subscribe({ filter: ["wait_started"] });
  for (;;) {
    const { value, done } = await subscription.next();
    if (done || (value.type === "wait_started" && value.eventType === type)) return;
  }
};

describe("a draft that is", () => {
  test("approved is published once", async () => {
    const { draft, instance } = await start();
    expect((await decide(await mailedLink(draft), "approve")).status).toBe(200);
    const { sha256, text } = await rowOf(draft);
    expect(await untilOver(instance)).toMatchObject({
      status: "complete",
      output: { status: "published", sha256 },
    });
    expect(await evidence(draft)).toEqual(PUBLISHED);
    const effects = await effectsOf(env.WORLD, idOf(draft));
    expect(effects.find(({ kind }) => kind === "article.published")?.detail).toEqual(
      await keptOf(idOf(draft), { articleId: draft.draftId, text }),
    );
    expect((await send("GET", `/articles/${draft.draftId}`)).text).toBe(text);
  });

  test("rejected is not", async () => {
    const { draft, instance } = await start();
    await decide(await mailedLink(draft), "reject");
    expect(await untilOver(instance)).toMatchObject({ output: { status: "rejected" } });
    expect(await evidence(draft)).toEqual({ "email.sent": 1, "model.called": 1 });
    expect((await send("GET", `/articles/${draft.draftId}`)).status).toBe(404);
  });

  test("approved after the reminder is published: the second wait has an event type of its own", async () => {
    const { draft, instance, introspector } = await startWithTimeouts("wait for review");
    await using _ = introspector;
    const link = await mailedLink(draft, "reminder.sent");
    expect(link).toBe(await mailedLink(draft));
    await untilWaiting(instance, EVENTS.draftReviewReminded);
    expect((await decide(link, "approve")).status).toBe(200);
    expect(await untilOver(instance)).toMatchObject({ output: { status: "published" } });
    expect(await evidence(draft)).toEqual({ ...PUBLISHED, "reminder.sent": 1 });
  });

  test("restarted after the reminder hears the click: it goes on with the second wait", async () => {
    const { draft, instance } = await start();
    await mailedLink(draft);
    await untilWaiting(instance, EVENTS.draftReview);
    await env.DB.prepare("UPDATE drafts SET reminded_at = 1 WHERE draft_id = ?1")
      .bind(draft.draftId)
      .run();
    await instance.restart();
    const link = await mailedLink(draft, "reminder.sent");
    expect((await decide(link, "approve")).status).toBe(200);
    expect(await untilOver(instance)).toMatchObject({ output: { status: "published" } });
    expect(await evidence(draft)).toEqual({ ...PUBLISHED, "reminder.sent": 1 });
  });

  test("E6: neither approved nor rejected is closed after one reminder", async () => {
    const { draft, instance, introspector } = await startWithTimeouts(
      "wait for review",
      "wait once more",
    );
    await using _ = introspector;
    expect(await untilOver(instance)).toMatchObject({
      status: "complete",
      output: { status: "closed" },
    });
    expect(await evidence(draft)).toEqual({
      "email.sent": 1,
      "model.called": 1,
      "reminder.sent": 1,
    });
    expect((await decide(await mailedLink(draft), "approve")).status).toBe(410);
    expect((await rowOf(draft)).state).toBe("closed");
  });
});

test("a click whose event was lost counts: the next one wakes the draft, and hears that it is approved", async () => {
  const { draft, instance } = await start();
  const link = await mailedLink(draft);
  await untilWaiting(instance, EVENTS.draftReview);
  await claimReview(env.DB, await rowOf(draft), "approved");
  const again = await decide(link, "reject");
  expect([again.status, again.text]).toEqual([410, expect.stringContaining("was approved")]);
  expect(await untilOver(instance)).toMatchObject({ output: { status: "published" } });
  expect(await evidence(draft)).toEqual(PUBLISHED);
});

describe("E9: an event that comes when the wait is over wakes nobody, but the row", () => {
  /** Approves in the row when the Workflow comes to this wait. The event is lost. */
  function approveUnheardAt(wait: string) {
    const { run } = DraftWorkflow.prototype;
    vi.spyOn(DraftWorkflow.prototype, "run").mockImplementation(function approved(
      this: DraftWorkflow,
      event: WorkflowEvent<DraftRequest>,
      step: WorkflowStep,
    ) {
      const waitForEvent: WorkflowStep["waitForEvent"] = async (name, options) => {
        if (name === wait) await claimReview(env.DB, await rowOf(event.payload), "approved");
        return step.waitForEvent(name, options);
      };
      const watched = { do: step.do, waitForEvent } as unknown as WorkflowStep;
      return run.call(this, event, watched);
    });
  }

  test("is lost: the second wait hears nothing of it, and goes on", async () => {
    const { draft, instance, introspector } = await startWithTimeouts("wait for review");
    await using _ = introspector;
    await untilWaiting(instance, EVENTS.draftReviewReminded);
    await instance.sendEvent({ type: EVENTS.draftReview, payload: { approved: true } });
    // Had it been heard, the draft would be closed by now, or at the click: nobody has decided in the row.
    expect((await decide(await mailedLink(draft), "approve")).status).toBe(200);
    expect(await untilOver(instance)).toMatchObject({ output: { status: "published" } });
    expect(await evidence(draft)).toEqual({ ...PUBLISHED, "reminder.sent": 1 });
  });

  test("has the decision: no reminder is sent, and the draft is published", async () => {
    approveUnheardAt("wait for review");
    const { draft, instance, introspector } = await startWithTimeouts("wait for review");
    await using _ = introspector;
    expect(await untilOver(instance)).toMatchObject({ output: { status: "published" } });
    expect(await evidence(draft)).toEqual(PUBLISHED);
  });

  test("has the decision: the draft is not closed", async () => {
    approveUnheardAt("wait once more");
    const { draft, instance, introspector } = await startWithTimeouts(
      "wait for review",
      "wait once more",
    );
    await using _ = introspector;
    expect(await untilOver(instance)).toMatchObject({ output: { status: "published" } });
    expect(await evidence(draft)).toEqual({ ...PUBLISHED, "reminder.sent": 1 });
  });
});

test("E5: an event is no approval, whatever it holds", async () => {
  const { draft, instance } = await start();
  await mailedLink(draft);
  await instance.sendEvent({
    type: EVENTS.draftReview,
    payload: { approved: true, decision: "approved", state: "approved" },
  });
  expect(await untilOver(instance)).toMatchObject({ output: { status: "closed" } });
  expect(await evidence(draft)).toEqual({ "email.sent": 1, "model.called": 1 });
});

describe("what is published is what was reviewed", () => {
  test.each([
    ["its text is another one by then", "UPDATE drafts SET text = text || '!' WHERE draft_id = ?1"],
    ["its text is gone", "UPDATE drafts SET text = NULL WHERE draft_id = ?1"],
    [
      "text and hash are others",
      "UPDATE drafts SET text = 'x', sha256 = '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881' WHERE draft_id = ?1",
    ],
  ])("E2: nothing, where %s", async (_name, sql) => {
    const { draft, instance } = await start();
    await mailedLink(draft);
    await untilWaiting(instance, EVENTS.draftReview);
    // Somebody changes the row between the click and its event.
    await claimReview(env.DB, await rowOf(draft), "approved");
    await env.DB.prepare(sql).bind(draft.draftId).run();
    await instance.sendEvent({ type: EVENTS.draftReview, payload: null });
    expect((await untilOver(instance)).status).toBe("errored");
    const { reason } = await vi.waitUntil(async () => {
      const row = await rowOf(draft);
      return row.reason !== null && row;
    }, PATIENTLY);
    expect(reason).toContain("is not the one that was reviewed");
    expect(await evidence(draft)).toEqual({ "email.sent": 1, "model.called": 1 });
    expect((await send("GET", `/articles/${draft.draftId}`)).status).toBe(404);
  });

  test("E2: the text that was checked, where the row has another one a moment later", async () => {
    const draft = await draftInReview("Reviewed");
    const { sha256 } = await rowOf(draft);
    await claimReview(env.DB, await rowOf(draft), "approved");
    await env.DB.prepare("UPDATE drafts SET text = 'Another', sha256 = 'x' WHERE draft_id = ?1")
      .bind(draft.draftId)
      .run();
    await insertArticle(env.DB, draft.draftId, { text: "Reviewed", sha256: String(sha256) });
    const article = await send("GET", `/articles/${draft.draftId}`);
    expect([article.text, article.headers.get("etag")]).toEqual(["Reviewed", `"${sha256}"`]);
  });

  test.each(["in review", "rejected", "closed", "withdrawn"])(
    "E2: nothing of a draft that is %s",
    async (state) => {
      const draft = await draftInReview("Reviewed");
      await env.DB.prepare("UPDATE drafts SET state = ?2 WHERE draft_id = ?1")
        .bind(draft.draftId, state)
        .run();
      await insertArticle(env.DB, draft.draftId, { text: "Reviewed", sha256: "x" });
      expect((await send("GET", `/articles/${draft.draftId}`)).status).toBe(404);
      expect((await rowOf(draft)).state).toBe(state);
    },
  );

  test("restarted with another link, mails that one, and is not withdrawn", async () => {
    const { draft, instance } = await start();
    const link = await mailedLink(draft);
    // As after a change of the signing key: the same invitation, signed in another way.
    await env.DB.prepare("UPDATE drafts SET expires_at = expires_at + 1 WHERE draft_id = ?1")
      .bind(draft.draftId)
      .run();
    await instance.restart();
    await vi.waitUntil(async () => (await evidence(draft))["email.sent"] === 2, PATIENTLY);
    await untilWaiting(instance, EVENTS.draftReview);
    expect((await rowOf(draft)).state).toBe("in review");
    expect(await linkTo(draft)).not.toBe(link);
  });

  test("after a restart too: the first text stays, and nothing is done twice", async () => {
    const { draft, instance } = await start();
    const link = await mailedLink(draft);
    const before = await rowOf(draft);
    await instance.restart();
    await untilWaiting(instance, EVENTS.draftReview);
    expect(await rowOf(draft)).toEqual(before);
    expect((await decide(link, "approve")).status).toBe(200);
    expect(await untilOver(instance)).toMatchObject({ output: { status: "published" } });

    await instance.restart();
    expect(await untilOver(instance)).toMatchObject({ output: { status: "published" } });
    expect(await evidence(draft)).toEqual(PUBLISHED);
    // Not even asked: a model that knows no key would have written something else.
    const calls = await callsOf(env.WORLD, idOf(draft));
    expect(calls.filter(({ operation }) => operation === "model.run")).toHaveLength(1);
  });
});

describe("a reminder that cannot be sent", () => {
  test.each([
    ["for a while", Array<"fail">(4).fill("fail"), { ...PUBLISHED, "reminder.sent": 1 }],
    ["for good", down, PUBLISHED],
  ])("%s: the review stays open, and is heard", async (_what, fault, expected) => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const { draft, instance, introspector } = await startFaulty(
      { "mail.remind": fault },
      "wait for review",
    );
    await using _ = introspector;
    const link = await mailedLink(draft);
    await untilWaiting(instance, EVENTS.draftReviewReminded);
    expect(await rowOf(draft)).toMatchObject({ state: "in review", reason: null });
    expect((await send("GET", link)).status).toBe(200);
    expect((await decide(link, "approve")).status).toBe(200);
    expect(await untilOver(instance)).toMatchObject({ output: { status: "published" } });
    expect(await evidence(draft)).toEqual(expected);
  });

  test("takes a click that comes while it is still tried", async () => {
    const { draft, instance, introspector } = await startFaulty(
      { "mail.remind": [{ slowMs: 300 }] },
      "wait for review",
    );
    await using _ = introspector;
    await vi.waitUntil(async () => (await rowOf(draft)).reminded_at !== null, PATIENTLY);
    expect((await decide(await mailedLink(draft), "approve")).status).toBe(200);
    expect(await untilOver(instance)).toMatchObject({ output: { status: "published" } });
  });
});

describe("a draft whose run has stopped", () => {
  const restart = (draft: DraftRequest) => send("POST", `/drafts/${draft.draftId}/restart`);
  const again = async (draft: DraftRequest) => {
    const { status, text } = await sendJson("/drafts", draft);
    return { status, body: JSON.parse(text) as { status?: string; error?: string } };
  };
  const inReview = async () => {
    const { draft, instance } = await start();
    const link = await mailedLink(draft);
    await untilWaiting(instance, EVENTS.draftReview);
    return { draft, instance, link };
  };

  test("terminated from outside: a click decides nothing and says so, and is good after the restart", async () => {
    const { draft, instance, link } = await inReview();
    await instance.terminate();
    for (const answer of [await send("GET", link), await decide(link, "approve")]) {
      expect([answer.status, answer.text]).toEqual([409, expect.stringContaining("has stopped")]);
      expect(answer.text).not.toContain("<form");
    }
    expect(await rowOf(draft)).toMatchObject({ state: "in review", decided_at: null });

    const refused = await again(draft);
    expect([refused.status, refused.body.error]).toEqual([
      409,
      expect.stringContaining(`terminated. POST /drafts/${draft.draftId}/restart`),
    ]);
    expect((await restart(draft)).status).toBe(202);
    expect(await again(draft)).toMatchObject({ status: 200, body: { status: "already-started" } });
    expect((await decide(link, "approve")).status).toBe(200);
    expect(await untilOver(instance)).toMatchObject({ output: { status: "published" } });
    expect(await evidence(draft)).toEqual(PUBLISHED);
    expect(await again(draft)).toMatchObject({ status: 200, body: { status: "published" } });
  });

  test("forgotten by the platform: the same request makes a new run, which goes on with the old text", async () => {
    const { draft, instance, link } = await inReview();
    const { sha256 } = await rowOf(draft);
    await instance.terminate();
    await instance.delete();
    expect((await decide(link, "approve")).status).toBe(409);
    const refused = await restart(draft);
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining("POST /drafts,")]);
    expect((await again(draft)).status).toBe(200);
    expect((await decide(link, "approve")).status).toBe(200);
    expect(await untilOver(await env.DRAFTS.get(idOf(draft)))).toMatchObject({
      output: { status: "published", sha256 },
    });
    expect(await evidence(draft)).toEqual(PUBLISHED);
  });

  test("approved, and not published: page, API and GET say so, and a restart publishes", async () => {
    const { draft, instance } = await start({ "site.publish": down });
    const link = await mailedLink(draft);
    await decide(link, "approve");
    await untilOver(instance);
    const view = await vi.waitUntil(async () => {
      const { text } = await send("GET", `/drafts/${draft.draftId}`);
      const { state, reason } = JSON.parse(text) as { state: string; reason: string | null };
      return reason !== null && { state, reason };
    }, PATIENTLY);
    expect(view).toEqual({
      state: "approved",
      reason: expect.stringContaining("site.publish"),
    });
    const click = await decide(link, "approve");
    expect([click.status, click.text]).toEqual([409, expect.stringContaining("not published")]);
    expect((await again(draft)).status).toBe(409);

    await scriptFaults(env.WORLD, idOf(draft), {});
    expect((await restart(draft)).status).toBe(202);
    await untilState(draft, "published");
    expect((await rowOf(draft)).reason).toBeNull();
    expect(await evidence(draft)).toEqual(PUBLISHED);
  });

  test("withdrawn: it stays so, and a new id is the way on", async () => {
    const { draft, instance } = await start({ "model.run": down });
    await untilOver(instance);
    await untilState(draft, "withdrawn");
    const refused = await again(draft);
    expect([refused.status, refused.body.error]).toEqual([
      409,
      expect.stringMatching(/model\.run.*Choose a new id/),
    ]);
    expect((await restart(draft)).status).toBe(409);
  });

  test("paused: whoever asks again hears how it goes on", async () => {
    const { draft, instance } = await inReview();
    await instance.pause();
    const refused = await again(draft);
    expect([refused.status, refused.body.error]).toEqual([
      409,
      expect.stringContaining(`wrangler workflows instances resume drafts ${idOf(draft)}`),
    ]);
    await instance.resume();
    await vi.waitUntil(async () => (await again(draft)).status === 200, PATIENTLY);
  });

  test("a run that is under way is not restarted, nor is one of ten at once a 500", async () => {
    const { draft, instance } = await inReview();
    const running = await restart(draft);
    expect([running.status, running.text]).toEqual([409, expect.stringContaining("running")]);
    await instance.terminate();
    const answers = await Promise.all(Array.from({ length: 10 }, () => restart(draft)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses).toContain(202);
    for (const status of statuses) expect([202, 409]).toContain(status);
  });

  test.each([
    ["without the token", 401, { token: null }],
    ["of no draft", 404, {}],
  ])("a restart %s is %d", async (_what, status, options) => {
    expect((await send("POST", "/drafts/nope/restart", options)).status).toBe(status);
  });
});

test("a model whose answer has no text is paid once, and GET says why", async () => {
  const original = DraftWorkflow.prototype.run;
  const AI = { run: vi.fn(async () => null) };
  vi.spyOn(DraftWorkflow.prototype, "run").mockImplementation(function run(
    this: DraftWorkflow,
    event,
    step,
  ) {
    Object.defineProperty(this, "env", { value: { ...env, AI } });
    return original.call(this, event, step);
  });
  const { draft } = await start();
  await untilState(draft, "withdrawn");
  const { text } = await send("GET", `/drafts/${draft.draftId}`);
  expect(JSON.parse(text)).toMatchObject({
    state: "withdrawn",
    reason: expect.stringContaining("The model returned no text, but null."),
  });
  expect(AI.run).toHaveBeenCalledTimes(1);
});

describe("a provider that fails", () => {
  test("a few times delays the draft and doubles nothing", async () => {
    const { draft, instance } = await start({
      "model.run": ["fail", "fail-after-effect"],
      "mail.send": ["fail", "fail-after-effect"],
      "site.publish": ["fail", "fail-after-effect"],
    });
    await decide(await mailedLink(draft), "approve");
    expect(await untilOver(instance)).toMatchObject({ output: { status: "published" } });
    expect(await evidence(draft)).toEqual(PUBLISHED);
  });

  test.each(["model.run", "mail.send"])("for good withdraws the draft: %s", async (operation) => {
    const { draft, instance } = await start({ [operation]: down });
    expect((await untilOver(instance)).status).toBe("errored");
    expect(await rowOf(draft)).toMatchObject({
      state: "withdrawn",
      reason: expect.stringContaining(operation),
    });
    const { text } = await send("GET", `/drafts/${draft.draftId}`);
    expect(JSON.parse(text)).toMatchObject({ state: "withdrawn", instance: { status: "errored" } });
  });

  test("for good after the approval leaves it approved: repaired and restarted, it is published", async () => {
    const { draft, instance } = await start({ "site.publish": down });
    await decide(await mailedLink(draft), "approve");
    expect((await untilOver(instance)).status).toBe("errored");
    expect((await rowOf(draft)).state).toBe("approved");
    await scriptFaults(env.WORLD, idOf(draft), {});
    await instance.restart({ from: { name: "publish article" } });
    expect(await untilOver(instance)).toMatchObject({ status: "complete" });
    expect(await evidence(draft)).toEqual(PUBLISHED);
  });
});

test("a draft that is terminated with rollback is withdrawn, and its link is good no more", async () => {
  const { draft, instance } = await start();
  const link = await mailedLink(draft);
  await untilWaiting(instance, EVENTS.draftReview);
  await instance.terminate({ rollback: true });
  await untilState(draft, "withdrawn");
  expect((await send("GET", link)).status).toBe(410);
  expect((await decide(link, "approve")).status).toBe(410);
});

test.each([
  ["as often as it is tried, without a key", undefined, 2],
  ["once, with a key that its provider knows", "k", 1],
])("E3: a model in a step is called %s", async (_name, key, calls) => {
  const draft = newDraft();
  await scriptFaults(env.WORLD, idOf(draft), { "model.run": ["fail-after-effect"] });
  vi.spyOn(DraftWorkflow.prototype, "run").mockImplementation(async (_event, step) => {
    const { model } = outsideWorld(env, idOf(draft));
    await step.do("generate draft", { retries: { limit: 1, delay: 10 } }, () =>
      model.run("a-model", { messages: [] }, key ? { key } : {}),
    );
    return { status: "done" };
  });
  const instance = await env.DRAFTS.create({ id: idOf(draft), params: draft });
  expect((await untilOver(instance)).status).toBe("complete");
  await vi.waitFor(
    async () => expect(await evidence(draft)).toEqual({ "model.called": calls }),
    PATIENTLY,
  );
});
