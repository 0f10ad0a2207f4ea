import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, test } from "vitest";
import { send } from "./helpers.ts";

const ada = { token: "token-of-ada-for-these-tests" };
const bob = { token: "token-of-bob-for-these-tests" };

async function newLetter(body: unknown = { id: "welcome-1", email: "a@example.com" }) {
  const id = crypto.randomUUID();
  await env.DB.prepare(
    `INSERT INTO dead_letters (id, signup_id, body, reason, attempts, stored_at)
     VALUES (?1, 'welcome-1', ?2, 'the mail provider was away', 4, ?3)`,
  )
    .bind(id, JSON.stringify(body), Date.now())
    .run();
  return id;
}

interface Listed {
  deadLetters: { id: string; body: unknown; isReadable: boolean }[];
  next: string | null;
}
async function list(settled = false) {
  const { body } = await send(
    "GET",
    `/dead-letters${settled ? "?settled=yes" : ""}`,
    undefined,
    ada,
  );
  return body as unknown as Listed;
}
const find = async (id: string, settled = false) =>
  (await list(settled)).deadLetters.find((letter) => letter.id === id);

test("a dead letter is listed with its reason, attempts and body", async () => {
  const id = await newLetter();
  expect(await find(id)).toEqual({
    id,
    signupId: "welcome-1",
    body: { id: "welcome-1", email: "a@example.com" },
    isReadable: true,
    reason: "the mail provider was away",
    attempts: 4,
    storedAt: expect.any(Number),
    settledAs: null,
    settledBy: null,
    settledAt: null,
  });
});

describe("a decision", () => {
  const decide = (id: string, what: "redrive" | "discard", who: { token: string }) =>
    what === "redrive"
      ? send("POST", `/dead-letters/${id}/redrive`, undefined, who)
      : send("DELETE", `/dead-letters/${id}`, undefined, who);
  const done = { redrive: "redriven", discard: "discarded" } as const;

  test.each(["redrive", "discard"] as const)("%s says who made it and when", async (what) => {
    const id = await newLetter();
    const { status, body } = await decide(id, what, bob);
    expect(status).toBe(200);
    const decision = { settledAs: done[what], settledBy: "bob", settledAt: expect.any(Number) };
    expect(body).toEqual({ id, ...decision });
    expect(await find(id)).toBeUndefined();
    expect(await find(id, true)).toMatchObject(decision);
  });

  test.each([
    ["redrive", "redrive"],
    ["redrive", "discard"],
    ["discard", "redrive"],
    ["discard", "discard"],
  ] as const)("after %s no %s", async (first, second) => {
    const id = await newLetter();
    await decide(id, first, ada);
    const { status, body } = await decide(id, second, bob);
    expect(status).toBe(409);
    expect(body["error"]).toMatch(new RegExp(`^This dead letter was ${done[first]} by ada at 20`));
    expect(await find(id, true)).toMatchObject({ settledAs: done[first], settledBy: "ada" });
  });

  test("once, also after the idempotency keys were swept", async () => {
    const id = await newLetter();
    await decide(id, "redrive", ada);
    await env.DB.exec("DELETE FROM idempotency_keys");
    expect((await decide(id, "redrive", bob)).status).toBe(409);
  });

  test("once, also where it was made between the look at the letter and the claim", async () => {
    const id = await newLetter();
    await decide(id, "redrive", ada);
    // What the second operator has read of it.
    await env.DB.prepare(
      "UPDATE dead_letters SET settled_as = NULL, settled_by = NULL, settled_at = NULL WHERE id = ?1",
    )
      .bind(id)
      .run();
    const { status, body } = await decide(id, "discard", bob);
    expect(status).toBe(409);
    expect(body["error"]).toContain("redriven by ada");
  });

  test("of five at the same moment one stands", async () => {
    const id = await newLetter();
    const answers = await Promise.all(
      (["redrive", "discard", "redrive", "discard", "redrive"] as const).map((what) =>
        decide(id, what, ada),
      ),
    );
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, 409, 409, 409, 409]);
    const { body } = answers.find(({ status }) => status === 200) ?? {};
    expect(await find(id, true)).toMatchObject({ settledAs: body?.["settledAs"] });
  });

  test("a redrive that the queue refuses leaves the letter as it was, and can be repeated", async () => {
    const id = await newLetter();
    const away = { SIGNUPS: undefined } as unknown as ProducerEnv;
    const refused = await send("POST", `/dead-letters/${id}/redrive`, undefined, {
      ...ada,
      env: away,
    });
    expect(refused.status).toBe(503);
    expect(await find(id)).toMatchObject({ settledAs: null });
    expect((await decide(id, "redrive", ada)).status).toBe(200);
  });

  test.each(["redrive", "discard"] as const)("to %s forgets the address", async (what) => {
    const id = await newLetter({ email: "forget-me@example.com" });
    await decide(id, what, ada);
    const row = await env.DB.prepare("SELECT * FROM dead_letters WHERE id = ?1").bind(id).first();
    expect(JSON.stringify(row)).not.toContain("forget-me");
  });

  test.each(["nothing", "%00", "a%2Fb", "x".repeat(2000), "%F0%9F%A6%8A", "' OR 1=1 --"])(
    "about a letter that is not there is 404: %s",
    async (id) => {
      expect((await decide(id, "redrive", ada)).status).toBe(404);
      expect((await decide(id, "discard", ada)).status).toBe(404);
    },
  );

  test("by the wrong method is 405", async () => {
    const wrong = await send("GET", "/dead-letters/1/redrive", undefined, ada);
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"]);
  });
});

test("a letter whose body is no JSON is marked, and only to be discarded; its neighbours are listed", async () => {
  const [good, bad] = [await newLetter(), await newLetter()];
  await env.DB.prepare("UPDATE dead_letters SET body = '{ not json' WHERE id = ?1").bind(bad).run();
  expect(await find(good)).toMatchObject({ isReadable: true });
  expect(await find(bad)).toMatchObject({ isReadable: false, body: "{ not json" });
  const refused = await send("POST", `/dead-letters/${bad}/redrive`, undefined, ada);
  expect([refused.status, refused.body["error"]]).toEqual([
    422,
    "Its body is not JSON. Discard it.",
  ]);
  expect((await send("DELETE", `/dead-letters/${bad}`, undefined, ada)).status).toBe(200);
});

test("a letter that is too large to be sent again is 422, with the way on", async () => {
  const id = await newLetter({ email: "ä".repeat(64_000) });
  const { status, body } = await send("POST", `/dead-letters/${id}/redrive`, undefined, ada);
  expect(status).toBe(422);
  expect(body["error"]).toContain("Discard it");
  expect(await find(id)).toMatchObject({ settledAs: null });
});

const MANY = Array.from({ length: 1001 }, (_, nth) => `n-${nth}`);

describe("of many dead letters", () => {
  beforeEach(async () => {
    await env.DB.exec("DELETE FROM dead_letters; DELETE FROM idempotency_keys");
    await env.DB.prepare(
      `INSERT INTO dead_letters (id, body, reason, stored_at)
       SELECT 'n-' || value, '{}', iif(value % 10 = 0, 'no signup', 'the provider was away'), 5000 - value / 2
       FROM json_each(?1)`,
    )
      .bind(JSON.stringify(Array.from({ length: 2500 }, (_, nth) => nth + 1)))
      .run();
  });
  const get = async (path: string) =>
    (await send("GET", path, undefined, ada)).body as unknown as Listed;
  const settle = (body: unknown, who = ada) => send("POST", "/dead-letters/settle", body, who);
  const open = () =>
    env.DB.prepare("SELECT COUNT(*) AS n FROM dead_letters WHERE settled_at IS NULL").first("n");

  test("a page leads to the next one, the oldest first, each letter once", async () => {
    const seen: string[] = [];
    for (let path: string | null = "/dead-letters?limit=1000"; path;) {
      const { deadLetters, next }: Listed = await get(path);
      expect(deadLetters.length).toBe(next ? 1000 : 500);
      seen.push(...deadLetters.map(({ id }) => id));
      path = next;
    }
    expect(new Set(seen).size).toBe(2500);
    expect(seen[0]).toBe("n-2500");
    expect((await get("/dead-letters")).deadLetters).toHaveLength(100);
  });

  test("those of one reason can be looked at alone, and the reasons are counted", async () => {
    const { deadLetters, next } = await get("/dead-letters?reason=no+signup&limit=200");
    expect(deadLetters).toHaveLength(200);
    expect(next).toContain("reason=no+signup");
    expect((await get(next ?? "")).deadLetters).toHaveLength(50);
    const { body } = await send("GET", "/dead-letters/reasons", undefined, ada);
    expect(body).toEqual({
      reasons: [
        { reason: "the provider was away", count: 2250 },
        { reason: "no signup", count: 250 },
      ],
    });
  });

  test.each(["limit=0", "limit=1001", "limit=x", "after=x", "after=1."])(
    "%s is 400 with the field",
    async (query) => {
      const { status, body } = await send("GET", `/dead-letters?${query}`, undefined, ada);
      expect([status, body["field"]]).toEqual([400, query.split("=")[0]]);
    },
  );

  test("all of one reason are settled, a thousand with each request", async () => {
    const answers = [];
    for (let more: unknown = true; more;) {
      const { status, body } = await settle({ as: "redriven", reason: "the provider was away" });
      expect(status).toBe(200);
      answers.push(body["settled"]);
      more = body["more"];
    }
    expect(answers).toEqual([1000, 1000, 250]);
    expect(await open()).toBe(250);
  });

  test("chosen ones are settled, and it is said what became of the others", async () => {
    await settle({ as: "discarded", ids: ["n-1"] }, bob);
    await env.DB.exec("UPDATE dead_letters SET body = 'no json' WHERE id = 'n-2'");
    const ids = ["n-1", "n-2", "n-3", "n-3", "n-4", "nobody"];
    const { status, body } = await settle({ as: "redriven", ids });
    expect(status).toBe(200);
    expect(body).toEqual({
      settled: 2,
      settledBefore: 1,
      inProgress: 0,
      unknown: 1,
      refused: [{ id: "n-2", error: "Its body is not JSON. Discard it." }],
      more: false,
    });
  });

  test("of five requests at once each letter is settled by one", async () => {
    const answers = await Promise.all(
      [ada, bob, ada, bob, ada].map((who) => settle({ as: "redriven", reason: "no signup" }, who)),
    );
    const settled = answers.map(({ body }) => Number(body["settled"]));
    expect(settled.reduce((sum, count) => sum + count)).toBe(250);
  });

  test("a queue that refuses leaves them as they were, and they can be asked for again", async () => {
    const away = { SIGNUPS: undefined } as unknown as ProducerEnv;
    const wish = { as: "redriven", reason: "no signup" };
    const refused = await send("POST", "/dead-letters/settle", wish, { ...ada, env: away });
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "30"]);
    expect(await open()).toBe(2500);
    expect((await settle(wish)).body).toMatchObject({ settled: 250 });
  });

  test.each([
    ["as is missing", {}],
    ["as must be", { as: "burnt", ids: ["1"] }],
    ["name either ids or a reason", { as: "redriven" }],
    ["name either ids or a reason", { as: "redriven", ids: ["1"], reason: "x" }],
    ["ids must not be empty", { as: "redriven", ids: [] }],
    ["ids must be at most 1000", { as: "redriven", ids: MANY }],
    ["ids must be text", { as: "redriven", ids: [7] }],
  ])("%s: 400", async (message, wish) => {
    const { status, body } = await settle(wish);
    expect(status).toBe(400);
    expect(body["error"]).toContain(message);
  });
});
