import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
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
  deadLetters: { id: string; body: unknown }[];
  more: boolean;
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

  test("discarding forgets the address", async () => {
    const id = await newLetter({ email: "forget-me@example.com" });
    await decide(id, "discard", ada);
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

test("more dead letters than an answer holds are said to be there, and the oldest come first", async () => {
  await env.DB.exec("DELETE FROM dead_letters");
  const insert = env.DB.prepare(
    "INSERT INTO dead_letters (id, body, reason, stored_at) VALUES (?1, 'null', 'test', ?2)",
  );
  await env.DB.batch(Array.from({ length: 101 }, (_, nth) => insert.bind(`n-${nth}`, 1000 - nth)));
  const { deadLetters, more } = await list();
  expect(deadLetters).toHaveLength(100);
  expect(deadLetters[0]?.id).toBe("n-100");
  expect(more).toBe(true);
});
