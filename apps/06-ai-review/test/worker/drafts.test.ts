import { env } from "cloudflare:workers";
import { effectsOf, fingerprintOf } from "@durable-lessons/outside-world";
import { afterEach, describe, expect, test, vi } from "vitest";
import { findDraft } from "../../src/drafts.ts";
import { STAND_IN } from "../../src/model.ts";
import {
  decide,
  evidence,
  idOf,
  mailedLink,
  newDraft,
  PUBLISHED,
  rowOf,
  send,
  sendJson,
  untilState,
} from "./helpers.ts";

afterEach(() => vi.restoreAllMocks());

const json = async (answer: ReturnType<typeof send>) => {
  const { text, ...rest } = await answer;
  return { ...rest, body: JSON.parse(text) as Record<string, unknown> };
};

describe("POST /drafts", () => {
  test("202, then 200 for the same again, with one model call and one mail", async () => {
    const draft = newDraft();
    const answers = [
      await json(sendJson("/drafts", draft)),
      await json(sendJson("/drafts", draft)),
      await json(sendJson("/drafts", draft)),
    ];
    expect(answers.map(({ status }) => status)).toEqual([202, 200, 200]);
    const body = { draftId: draft.draftId, instanceId: idOf(draft) };
    expect(answers.map((answer) => answer.body)).toEqual([
      { status: "started", ...body },
      { status: "already-started", ...body },
      { status: "already-started", ...body },
    ]);
    expect(answers[0]?.headers.get("location")).toBe(`/drafts/${draft.draftId}`);
    await mailedLink(draft);
    expect(await evidence(draft)).toEqual({ "email.sent": 1, "model.called": 1 });
  });

  test.each([{ prompt: "Something else" }, { reviewer: "eve@example.com" }])(
    "409 for other content under the same id: %j",
    async (fields) => {
      const draft = newDraft();
      await sendJson("/drafts", draft);
      const { status, body } = await json(sendJson("/drafts", { ...draft, ...fields }));
      expect(status).toBe(409);
      expect(body["error"]).toContain(draft.draftId);
      expect(await rowOf(draft)).toMatchObject({ reviewer: draft.reviewer });
    },
  );

  test.each([
    [{ draftId: "no/slash" }, "draftId"],
    [{ prompt: "" }, "prompt"],
    [{ reviewer: "nobody" }, "reviewer"],
    [{ approved: true }, "approved"],
  ])("400 that names the field: %j", async (fields, field) => {
    const { status, body } = await json(sendJson("/drafts", { ...newDraft(), ...fields }));
    expect(status).toBe(400);
    expect(body).toMatchObject({ issues: [{ field }] });
  });

  test.each(["o'brien@example.com", "ü@example.com", "bob@bücher.example"])(
    "the reviewer may be %s: the mail goes there, and its link is good",
    async (reviewer) => {
      const draft = newDraft({ reviewer });
      expect((await sendJson("/drafts", draft)).status).toBe(202);
      expect((await decide(await mailedLink(draft), "reject")).status).toBe(200);
      const mail = (await effectsOf(env.WORLD, idOf(draft))).find(
        ({ kind }) => kind === "email.sent",
      );
      expect(mail?.detail).toMatchObject({ to: await fingerprintOf(idOf(draft), reviewer) });
    },
  );

  test.each([
    ["bytes that are no UTF-8", 400, "application/json", "\xff"],
    ["UTF-16", 415, "application/json; charset=utf-16", "a"],
  ])("%s: %i, and nothing happens", async (_what, status, type, name) => {
    const draft = newDraft({ prompt: `Why is ${name} green?` });
    // Each character of the text is one byte.
    const body = Uint8Array.from(JSON.stringify(draft), (letter) => letter.charCodeAt(0));
    expect((await send("POST", "/drafts", { body, type })).status).toBe(status);
    expect(await findDraft(env.DB, draft.draftId)).toBeNull();
  });

  test.each([
    [400, "{", "application/json"],
    [400, "[]", "application/json"],
    [415, JSON.stringify(newDraft()), "text/plain"],
    [413, JSON.stringify(newDraft({ prompt: "x".repeat(20_000) })), "application/json"],
  ])("%i for %j as %j", async (status, body, type) => {
    expect((await send("POST", "/drafts", { body, type })).status).toBe(status);
  });

  test.each([null, "", "wrong", "token-of-ada-for-these-test", "token-of-ada-for-these-tests2"])(
    "401 with the token %j, and nothing happens",
    async (token) => {
      const draft = newDraft();
      const answer = await sendJson("/drafts", draft, { token });
      expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
      expect(await findDraft(env.DB, draft.draftId)).toBeNull();
    },
  );

  test("503 where there is no token", async () => {
    const answer = await sendJson("/drafts", newDraft(), {
      env: { DRAFT_TOKEN: undefined },
      token: "any",
    });
    expect(answer.status).toBe(503);
    expect(answer.text).toContain("wrangler secret put DRAFT_TOKEN");
  });

  test.each(["GET", "PUT", "DELETE"])("%s: 405", async (method) => {
    const { status, headers } = await send(method, "/drafts");
    expect([status, headers.get("allow")]).toEqual([405, "POST"]);
  });

  test("starts what a request left behind that died between the row and the instance", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const draft = newDraft();
    const dying = { create: () => Promise.reject(new Error("the connection was lost")) };
    expect((await sendJson("/drafts", draft, { env: { DRAFTS: dying } })).status).toBe(500);
    expect(log).toHaveBeenCalledTimes(1);
    expect((await sendJson("/drafts", draft)).status).toBe(200);
    await mailedLink(draft);
  });
});

describe("GET /drafts/:id", () => {
  test("tells state, steps and times, but neither the text, the reviewer nor the link", async () => {
    const draft = newDraft({ prompt: "A secret prompt" });
    await sendJson("/drafts", draft);
    const link = await mailedLink(draft);
    const { text } = await send("GET", `/drafts/${draft.draftId}`);
    expect(JSON.parse(text)).toMatchObject({
      draftId: draft.draftId,
      state: "in review",
      model: STAND_IN,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      remindedAt: null,
      decidedAt: null,
      article: null,
      steps: { "generate draft": "completed", "store draft": "completed" },
    });
    expect(text).not.toMatch(/secret prompt|bob@|signature/);

    await decide(link, "approve");
    await untilState(draft, "published");
    const after = await json(send("GET", `/drafts/${draft.draftId}`));
    expect(after.body).toMatchObject({
      state: "published",
      decidedAt: expect.stringMatching(/^\d{4}-/),
      article: `/articles/${draft.draftId}`,
      steps: { "wait for review": "completed", "publish article": expect.any(String) },
    });
  });

  test.each(["/drafts/nope", "/articles/nope", "/nope"])("404: %s", async (path) => {
    expect((await send("GET", path)).status).toBe(404);
  });

  test.each(["/drafts/d", "/articles/d"])("POST %s: 405", async (path) => {
    expect((await send("POST", path)).status).toBe(405);
  });
});

test("the stand-in is named in the row, the mail, the page, the API and the article", async () => {
  const draft = newDraft();
  await sendJson("/drafts", draft);
  const link = await mailedLink(draft);
  expect((await rowOf(draft)).model).toBe(STAND_IN);
  const page = (await send("GET", link)).text;
  expect(page).toContain(STAND_IN);
  expect(page).toContain("[simulated]");

  expect((await send("GET", `/articles/${draft.draftId}`)).status).toBe(404);
  await decide(link, "approve");
  await untilState(draft, "published");
  const article = await send("GET", `/articles/${draft.draftId}`);
  expect(article.headers.get("x-written-by")).toBe(STAND_IN);
  expect(article.text).toMatch(/^\[simulated\] .* no model wrote it\./);
  expect((await json(send("GET", `/drafts/${draft.draftId}`))).body["model"]).toBe(STAND_IN);
  expect(await evidence(draft)).toEqual(PUBLISHED);
});

test("an article is plain text of exactly the reviewed bytes", async () => {
  const draft = newDraft({ prompt: "<b>茶</b>\r\n\ttea\u0000 🍵 &amp;" });
  await sendJson("/drafts", draft);
  await decide(await mailedLink(draft), "approve");
  await untilState(draft, "published");
  const { sha256: reviewed, text } = await rowOf(draft);
  const article = await send("GET", `/articles/${draft.draftId}`);
  expect(article.headers.get("content-type")).toBe("text/plain; charset=UTF-8");
  expect(article.headers.get("x-content-type-options")).toBe("nosniff");
  expect(article.headers.get("etag")).toBe(`"${reviewed}"`);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", article.bytes));
  expect(Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("")).toBe(reviewed);
  expect(article.text).toBe(text);
  // A page cannot show this character, so no draft has it.
  expect(article.text).toContain("tea\uFFFD 🍵");
});
