import { Hono } from "hono";
import { describe, expect, test } from "vitest";
import { errorAsJson, hasToken, requireToken } from "../src/http.ts";
import { callerOf, countAgainst, limitCallers, limitRecipient } from "../src/limits.ts";

/** The shape of the binding; the real one is in the lessons' tests. */
const limitOf = (most: number, seen = new Map<string, number>()) => ({
  seen,
  async limit({ key }: { key: string }) {
    seen.set(key, (seen.get(key) ?? 0) + 1);
    return { success: (seen.get(key) ?? 0) <= most };
  },
});

const app = new Hono<{ Bindings: { PER_CALLER: RateLimit; PER_NAME: RateLimit } }>();
app.onError(errorAsJson);
app.post("/ask", limitCallers, (c) => c.json({ caller: callerOf(c) }));
app.post("/names/:name", async (c) => {
  await countAgainst(c.env.PER_NAME, c.req.param("name"), "for this name");
  return c.json({});
});

const ask = (env: object, address?: string) =>
  app.request(
    "/ask",
    { method: "POST", headers: address ? { "cf-connecting-ip": address } : {} },
    env,
  );

describe("a limit", () => {
  test("lets its number through, and answers 429 with when to come back", async () => {
    const env = { PER_CALLER: limitOf(2) };
    const answers = [];
    for (let nth = 0; nth < 3; nth++) answers.push(await ask(env, "192.0.2.1"));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[2]?.headers.get("retry-after")).toBe("60");
    expect(await answers[2]?.json()).toEqual({
      error: "Too many requests from your address. Try again in 60 seconds.",
    });
    // Somebody else is somebody else.
    expect((await ask(env, "192.0.2.2")).status).toBe(200);
  });

  test("says what was asked for too often", async () => {
    const answer = await app.request(
      "/names/ada",
      { method: "POST" },
      { PER_NAME: limitOf(0), PER_CALLER: limitOf(9) },
    );
    expect(answer.status).toBe(429);
    expect(await answer.json()).toEqual({
      error: "Too many requests for this name. Try again in 60 seconds.",
    });
  });

  test("without its binding lets nobody through", async () => {
    expect((await ask({}, "192.0.2.1")).status).toBe(500);
  });
});

describe("the limit of a recipient", () => {
  test.each([
    "ada@bücher.example",
    "ADA@bücher.example",
    "aDa+1@BÜCHER.example",
    "ada+2+3@xn--bcher-kva.example",
    "ａda@bücher.example",
  ])("counts %s as the same mailbox", async (spelling) => {
    const limit = limitOf(9);
    await limitRecipient(limit, spelling);
    expect([...limit.seen.keys()]).toEqual(["ada@xn--bcher-kva.example"]);
  });

  test("counts two mailboxes by themselves", async () => {
    const limit = limitOf(1);
    await limitRecipient(limit, "ada@example.com");
    await limitRecipient(limit, "bob@example.com");
    await expect(limitRecipient(limit, "Ada@example.com")).rejects.toThrow(
      "Too many requests for this email address.",
    );
  });
});

describe("the address of a caller", () => {
  test.each([
    ["192.0.2.1", "192.0.2.1"],
    [undefined, "unknown"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:0db8:0001:0002::1", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["2001:db8:1:2:3:4:5::", "2001:db8:1:2::/64"],
  ])("%s counts as %s", async (address, counted) => {
    const answer = await ask({ PER_CALLER: limitOf(9) }, address);
    expect(await answer.json()).toEqual({ caller: counted });
  });
});

describe("a token", () => {
  const LONG = "a-token-that-nobody-guesses";
  const guarded = new Hono<{ Bindings: { TOKEN?: string } }>();
  guarded.get("/", requireToken("TOKEN"), (c) => c.text("in"));
  guarded.get("/has", async (c) => c.text(String(await hasToken(c, c.env.TOKEN))));
  const get = async (token: string | undefined, given: string, path = "/") =>
    guarded.request(
      path,
      { headers: { authorization: `Bearer ${given}` } },
      token === undefined ? {} : { TOKEN: token },
    );

  test.each([
    [undefined, "is not set"],
    ["", "is not set"],
    ["x", "is shorter than 24 characters"],
    ["a-token-of-23-characters".slice(1), "is shorter than 24 characters"],
    [` ${LONG}`, "has a space"],
    [`${LONG}\n`, "has a space"],
    [`${LONG}ü`, "has a space or another character that no header can carry"],
  ])("%j opens nothing, and the answer says why", async (token, why) => {
    const answer = await get(token, (token ?? "").trim().replace("ü", "") || "x");
    expect(answer.status).toBe(503);
    expect((await answer.json<{ error: string }>()).error).toContain(`The secret TOKEN ${why}`);
    expect(await (await get(token, token?.trim().replace("ü", "") || "x", "/has")).text()).toBe(
      "false",
    );
  });
});
