import { createExecutionContext, introspectWorkflowInstance } from "cloudflare:test";
import { effectsOf, fingerprintOf, scriptFaults } from "@durable-lessons/outside-world";
import { untilOver } from "@durable-lessons/test-kit";
import { env, exports } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import worker from "../../src/index.ts";
import { whatToTry } from "../../src/what-to-try.ts";
import { evidence, idOf, newUser, send, usersSaved } from "./helpers.ts";

describe("POST /onboard", () => {
  test("A10: answers 202 before the run is over, and says where to look", async () => {
    const user = newUser();
    const { status, headers, body } = await send("POST", "/onboard", user);
    const id = await idOf(user);
    expect(status).toBe(202);
    expect(body).toEqual({ status: "started", instanceId: id });
    expect(headers.get("location")).toBe(`/status/${id}`);
    // The mail is the last step. Had create() waited for the run, it would be there.
    expect(await evidence(id)).toEqual({});
    await untilOver(await env.ONBOARDING.get(id));
    expect(await evidence(id)).toEqual({ "email.sent": 1 });
  });

  test("A11: the same user again is 200 and starts nothing", async () => {
    const user = newUser();
    await send("POST", "/onboard", user);
    const again = await send("POST", "/onboard", user);
    const id = await idOf(user);
    expect(again.status).toBe(200);
    expect(again.body).toEqual({ status: "already-started", instanceId: id });
    await untilOver(await env.ONBOARDING.get(id));
    const later = await send("POST", "/onboard", user);
    expect(later.status).toBe(200);
    expect(await evidence(id)).toEqual({ "email.sent": 1 });
    expect(await usersSaved(user)).toBe(1);
  });

  test("five at the same moment start one run", async () => {
    const user = newUser();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => send("POST", "/onboard", user)),
    );
    const id = await idOf(user);
    for (const { status, body } of answers) {
      expect([200, 202]).toContain(status);
      expect(body["instanceId"]).toBe(id);
    }
    await untilOver(await env.ONBOARDING.get(id));
    expect(await evidence(id)).toEqual({ "email.sent": 1 });
    expect(await usersSaved(user)).toBe(1);
  });

  test.each([{ planType: "free" as const }, { email: "grace@example.com" }])(
    "the same user with %o is 409, before the run is over and after, and the first one stands",
    async (other) => {
      const user = newUser();
      await send("POST", "/onboard", user);
      const refused = await send("POST", "/onboard", { ...user, ...other });
      expect(refused.status).toBe(409);
      expect(refused.body["error"]).toContain("another userId");
      const id = await idOf(user);
      await untilOver(await env.ONBOARDING.get(id));
      expect((await send("POST", "/onboard", { ...user, ...other })).status).toBe(409);
      expect((await send("POST", "/onboard", user)).status).toBe(200);
      const [sent, ...more] = await effectsOf(env.WORLD, id);
      expect(sent?.detail).toMatchObject({
        to: await fingerprintOf(id, user.email),
        subject: "Welcome to Pro",
      });
      expect(more).toEqual([]);
    },
  );

  test("an onboarding that has failed is 409 with the way on, and its reason can be read", async () => {
    const user = newUser();
    const id = await idOf(user);
    await scriptFaults(env.WORLD, id, { "mail.send": { always: "fail" } });
    await using instance = await introspectWorkflowInstance(env.ONBOARDING, id);
    await instance.modify((modifier) => modifier.disableRetryDelays());
    await send("POST", "/onboard", user);
    await instance.waitForStatus("errored");
    const { status, body } = await send("POST", "/onboard", user);
    expect(status).toBe(409);
    expect(body["error"]).toContain(`wrangler workflows instances restart onboarding ${id}`);
    expect((await send("GET", `/status/${id}`)).body).toMatchObject({
      status: "errored",
      error: { message: expect.stringContaining("mail.send") },
    });
  });

  test("an onboarding that somebody has stopped is 409, too", async () => {
    const user = newUser();
    const id = await idOf(user);
    await scriptFaults(env.WORLD, id, { "mail.send": ["hang"] });
    await send("POST", "/onboard", user);
    await (await env.ONBOARDING.get(id)).terminate();
    expect((await send("POST", "/onboard", user)).status).toBe(409);
  });

  test.each([
    ["/onboard", { ONBOARDING: { create: () => Promise.reject(new Error("(rate_limited)")) } }],
    ["/onboard/queue", { ONBOARDING_REQUESTS: { send: () => Promise.reject(new Error()) } }],
  ])("%s that the platform refuses is 503 with Retry-After", async (path, broken) => {
    const request = new Request(`https://lesson.example${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${env.OPERATOR_TOKEN}`,
      },
      body: JSON.stringify(newUser()),
    });
    const workerEnv = { ...env, ...broken } as unknown as Env;
    const response = await worker.fetch(request, workerEnv, createExecutionContext());
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toMatch(/^\d+$/);
  });

  test.each(["o'brien@example.com", "ü@example.com"])("takes the address %s", async (email) => {
    const user = newUser({ email });
    expect((await send("POST", "/onboard", user)).status).toBe(202);
    const id = await idOf(user);
    await untilOver(await env.ONBOARDING.get(id));
    const [sent] = await effectsOf(env.WORLD, id);
    expect(sent?.detail).toMatchObject({ to: await fingerprintOf(id, email) });
  });

  test.each([
    "a/b",
    "ada@example.com",
    "two words",
    "🦊",
    "x".repeat(100),
    "-dash",
    "ünïcode",
    "ونداد",
  ])("a userId that is no instance id works: %s", async (name) => {
    const user = newUser({ userId: `${name}${crypto.randomUUID().slice(0, 8)}` });
    const { status, body } = await send("POST", "/onboard", user);
    expect(status).toBe(202);
    const over = await untilOver(await env.ONBOARDING.get(String(body["instanceId"])));
    expect(over.output).toMatchObject({ userId: user.userId });
  });

  test("two users never share an instance, however alike", async () => {
    const tail = crypto.randomUUID().slice(0, 8);
    const alike = ["a-b", "a--b", "a b", "a_b", "A-b", "a/b", "ä", "a\u0308"].map(
      (name) => name + tail,
    );
    const ids = await Promise.all(alike.map((userId) => idOf(newUser({ userId }))));
    expect(new Set(ids).size).toBe(alike.length);
  });
});

describe("a bad request is a clear 4xx and starts nothing", () => {
  const good = newUser();
  const cases: [string, unknown, number, string][] = [
    ["no JSON", "{ userId:", 400, "JSON"],
    ["null", "null", 400, "object"],
    ["an array", [], 400, "the body must be a JSON object"],
    ["text", '"hello"', 400, "object"],
    ["a missing field", { userId: good.userId, planType: "pro" }, 400, "email"],
    ["an unknown plan", { ...good, planType: "gold" }, 400, "planType"],
    ["an empty userId", { ...good, userId: "" }, 400, "userId"],
    ["a userId of 1,000 characters", { ...good, userId: "x".repeat(1000) }, 400, "userId"],
    [
      "a userId with an invitation in it",
      { ...good, userId: "Ada\n\nYou have won: https://elsewhere.example" },
      400,
      "userId must be one line",
    ],
    ["a userId of a wrong type", { ...good, userId: 7 }, 400, "userId"],
    [
      "half a surrogate pair",
      `{"userId":"\\ud800","email":"a@b.co","planType":"pro"}`,
      400,
      "userId",
    ],
    ["no email address", { ...good, email: "nobody" }, 400, "email"],
    ["an unknown field", { ...good, admin: true }, 400, "admin"],
    ["200 KB", { ...good, userId: "x".repeat(200_000) }, 413, "bytes"],
  ];

  test.each(cases)("%s", async (_name, body, expected, word) => {
    const { status, body: answer } = await send("POST", "/onboard", body);
    expect(status).toBe(expected);
    expect(answer["error"]).toContain(word);
    expect(await usersSaved(good)).toBe(0);
    await expect(env.ONBOARDING.get(await idOf(good))).rejects.toThrow("not_found");
  });

  test("an empty body", async () => {
    const { status } = await send("POST", "/onboard", "");
    expect(status).toBe(400);
  });

  test("a body that is not said to be JSON", async () => {
    const response = await exports.default.fetch("https://lesson.example/onboard", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: JSON.stringify(good),
    });
    expect(response.status).toBe(415);
  });

  test.each([
    ["of which a letter is no UTF-8", "application/json", 0xff, 400],
    ["in UTF-16", "application/json; charset=utf-16", 0x61, 415],
  ])("a body %s", async (_name, contentType, letter, expected) => {
    const bytes = new TextEncoder().encode(JSON.stringify({ ...good, userId: "?" }));
    bytes[bytes.indexOf(0x3f)] = letter;
    const response = await exports.default.fetch("https://lesson.example/onboard", {
      method: "POST",
      headers: { "content-type": contentType },
      body: bytes,
    });
    expect(response.status).toBe(expected);
  });

  test.each(["GET", "PUT", "DELETE", "PATCH"])("the wrong method %s", async (method) => {
    const { status, headers } = await send(method, "/onboard");
    expect(status).toBe(405);
    expect(headers.get("allow")).toBe("POST");
  });

  test("an unknown path", async () => {
    expect((await send("GET", "/nothing")).status).toBe(404);
  });
});

describe("GET /status/:id", () => {
  test("A13: ends at complete, with what run() returned", async () => {
    const user = newUser();
    const { headers } = await send("POST", "/onboard", user);
    const id = await idOf(user);
    await untilOver(await env.ONBOARDING.get(id));
    const { status, body } = await send("GET", headers.get("location") ?? "");
    expect(status).toBe(200);
    expect(body).toEqual({
      instanceId: id,
      status: "complete",
      output: { userId: user.userId, messageId: expect.stringMatching(/^email_sent_/) },
      error: null,
    });
  });

  test.each(["nobody", "a%40b", "daily-1", "%F0%9F%A6%8A", "x".repeat(300)])(
    "an unknown instance is 404: %s",
    async (id) => {
      expect((await send("GET", `/status/${id}`)).status).toBe(404);
    },
  );
});

test("what to try names this Worker's address", () => {
  expect(whatToTry("https://lesson.example")).toContain("https://lesson.example/onboard");
});
