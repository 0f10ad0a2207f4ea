import { exports } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import { signupId } from "../../src/signup-id.ts";
import { send } from "./helpers.ts";

const ada = { email: "ada@example.com", name: "Ada" };

describe("POST /signup", () => {
  test("C1: answers 202 with the signup's id once the queue has the message, and not before", async () => {
    const taken = Promise.withResolvers<void>();
    const sent: unknown[] = [];
    const queue = {
      async send(message: unknown) {
        sent.push(message);
        await taken.promise;
      },
    };
    let isAnswered = false;
    const answer = send("POST", "/signup", ada, {
      env: { SIGNUPS: queue as unknown as ProducerEnv["SIGNUPS"] },
    }).finally(() => (isAnswered = true));
    await vi.waitUntil(() => sent.length > 0 || isAnswered);
    expect(isAnswered).toBe(false);

    taken.resolve();
    const { status, body } = await answer;
    const id = await signupId(ada.email);
    expect(status).toBe(202);
    expect(body).toEqual({ queued: true, id });
    expect(sent).toEqual([{ id, ...ada }]);
  });

  test("the same person in every spelling has the same id", async () => {
    const spellings = [
      "jürgen@bücher.example",
      "jürgen@BÜCHER.EXAMPLE",
      "jürgen@Bücher.Example".normalize("NFD"),
      "  jürgen@bücher.example\t",
      "jürgen@xn--bcher-kva.example",
      "jürgen@XN--BCHER-KVA.example",
    ];
    const answers = await Promise.all(spellings.map((email) => send("POST", "/signup", { email })));
    expect(answers.map(({ status }) => status)).toEqual(spellings.map(() => 202));
    expect(new Set(answers.map(({ body }) => body["id"])).size).toBe(1);
  });

  test.each([
    "ada+tag@example.com",
    "用户@例子.公司",
    "δοκιμή@παράδειγμα.ελ",
    "o'brien@example.co.uk",
    `${"x".repeat(64)}@example.com`,
    `a@${"x".repeat(60)}.${"y".repeat(60)}.${"z".repeat(60)}.${"w".repeat(60)}.example`,
  ])("accepts %s", async (email) => {
    expect((await send("POST", "/signup", { email })).status).toBe(202);
  });

  test("503 with Retry-After where the queue refuses", async () => {
    const away = { SIGNUPS: undefined } as unknown as ProducerEnv;
    const { status, headers, body } = await send("POST", "/signup", ada, { env: away });
    expect(status).toBe(503);
    expect(headers.get("retry-after")).toBe("30");
    expect(body["error"]).toContain("Try again in 30 seconds");
  });
});

describe("a bad request is a clear 4xx", () => {
  const cases: [string, unknown, number, string][] = [
    ["no JSON", "{ email:", 400, "JSON"],
    ["null", "null", 400, "object"],
    ["text", '"text"', 400, "object"],
    ["an array", [], 400, "the body must be a JSON object"],
    ["an empty object", {}, 400, "email is missing"],
    ["no address", { email: null }, 400, "email must be text"],
    ["no @", { email: "nobody" }, 400, "email address"],
    ["two @", { email: "a@b@example.com" }, 400, "email address"],
    ["a space inside", { email: "a b@example.com" }, 400, "email address"],
    ["a line break", { email: "a@example.com\nbcc: b@example.com" }, 400, "email address"],
    ["a domain without a dot", { email: "a@localhost" }, 400, "email address"],
    ["a dot at the end of the name", { email: "a.@example.com" }, 400, "email address"],
    ["an invisible character", { email: "a\u200B@example.com" }, 400, "email address"],
    ["half a surrogate pair", '{"email":"\\ud800@example.com"}', 400, "email address"],
    ["a name of 65 bytes", { email: `${"x".repeat(65)}@example.com` }, 400, "email address"],
    ["33 characters of 66 bytes", { email: `${"ü".repeat(33)}@example.com` }, 400, "address"],
    ["an address of 255 bytes", { email: `a@${"x.".repeat(125)}com` }, 400, "254 bytes"],
    ["an address of 10,000 characters", { email: `${"a.".repeat(5000)}@b.co` }, 400, "254 bytes"],
    ["a name of 201 characters", { ...ada, name: "x".repeat(201) }, 400, "name"],
    ["a name of two lines", { ...ada, name: "Ada\nLovelace" }, 400, "one line"],
    ["an unknown field", { ...ada, id: "chosen-by-me" }, 400, "id is not a known field"],
    ["more than a queue's 128,000 bytes", { ...ada, name: "x".repeat(130_000) }, 413, "bytes"],
  ];

  test.each(cases)("%s", async (_name, body, expected, word) => {
    const { status, body: answer } = await send("POST", "/signup", body);
    expect(status).toBe(expected);
    expect(answer["error"]).toContain(word);
  });

  test("a body that is not said to be JSON", async () => {
    const { status } = await send("POST", "/signup", ada, { contentType: "text/plain" });
    expect(status).toBe(415);
  });

  test("a body without a length that turns out too large", async () => {
    const chunk = new TextEncoder().encode("x".repeat(10_000));
    let left = 13;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (left-- > 0) controller.enqueue(chunk);
        else controller.close();
      },
    });
    const response = await exports.default.fetch("https://lesson.example/signup", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    expect(response.status).toBe(413);
  });

  test.each([
    ["PUT", "/signup", "GET, POST"],
    ["DELETE", "/", "GET"],
  ])("the wrong method %s %s", async (method, path, allowed) => {
    const { status, headers } = await send(method, path);
    expect(status).toBe(405);
    expect(headers.get("allow")).toBe(allowed);
  });

  test("an unknown path", async () => {
    expect((await send("GET", "/nothing")).status).toBe(404);
  });
});
