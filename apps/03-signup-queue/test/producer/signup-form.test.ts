import { createExecutionContext } from "cloudflare:test";
import { anotherCaller } from "@durable-lessons/test-kit/caller";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import producer from "../../src/producer.ts";
import { signupId } from "../../src/signup-id.ts";

/** Sends the form as a browser does, and notes what the queue gets. */
async function submit(
  fields: Record<string, string>,
  bindings: Partial<ProducerEnv> = {},
  caller = anotherCaller(),
) {
  const sent: unknown[] = [];
  const SIGNUPS = { send: async (message: unknown) => void sent.push(message) };
  const request = new Request<unknown, IncomingRequestCfProperties>(
    "https://lesson.example/signup",
    {
      method: "POST",
      headers: { ...caller, "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(fields),
      redirect: "manual",
    },
  );
  const workerEnv = { ...env, SIGNUPS: SIGNUPS as unknown as Queue, ...bindings };
  const response = await producer.fetch(request, workerEnv, createExecutionContext());
  const { status, headers } = response;
  return { status, headers, page: await response.text(), sent };
}

/** Asks again and again: more than two minutes of the clock let through. */
async function untilRefused(ask: () => ReturnType<typeof submit>) {
  let last = await ask();
  for (let nth = 0; nth < 50 && last.status === 303; nth++) last = await ask();
  return last;
}

describe("the form, sent without a script", () => {
  test("puts the signup into the queue, and leads to a page that can be reloaded", async () => {
    const email = `${crypto.randomUUID()}@example.com`;
    const { status, headers, sent } = await submit({ email, name: "Ada" });
    expect([status, headers.get("location")]).toEqual([303, "/signup?done=yes"]);
    expect(sent).toEqual([{ id: await signupId(email), email, name: "Ada" }]);
  });

  test("with an empty name is one without", async () => {
    const { sent } = await submit({ email: `${crypto.randomUUID()}@example.com`, name: "" });
    expect(sent).toEqual([{ id: expect.any(String), email: expect.any(String) }]);
  });

  test("that is wrong comes back with what was typed, as text, and what is wrong", async () => {
    const { status, page, sent } = await submit({
      email: `"><script>alert(1)</script>`,
      name: "Ada",
    });
    expect(status).toBe(400);
    expect(page).toContain("email must be an email address");
    expect(page).not.toContain("<script>alert");
    expect(page).toContain('value="Ada"');
    expect(sent).toEqual([]);
  });

  test.each(["win http://evil.example", "win evil.example now", "write to a@b", "two\nlines"])(
    "takes no name that would be more than a name in the mail: %j",
    async (name) => {
      const { status, sent } = await submit({ email: `${crypto.randomUUID()}@example.com`, name });
      expect([status, sent]).toEqual([400, []]);
    },
  );

  test("that the queue refuses says so, and keeps what was typed", async () => {
    const email = `${crypto.randomUUID()}@example.com`;
    const away = { SIGNUPS: undefined } as unknown as Partial<ProducerEnv>;
    const { status, headers, page } = await submit({ email }, away);
    expect([status, headers.get("retry-after")]).toEqual([503, "60"]);
    expect(page).toContain(email);
  });

  test("too often for one address is 429", async () => {
    const email = `${crypto.randomUUID()}@example.com`;
    const last = await untilRefused(() => submit({ email }));
    expect(last.status).toBe(429);
    expect(last.page).toContain("Too many requests for this email address.");
  });

  test("too often from one caller is a page too, not JSON that a browser would show", async () => {
    const caller = anotherCaller();
    const last = await untilRefused(() =>
      submit({ email: `${crypto.randomUUID()}@example.com` }, {}, caller),
    );
    expect([last.status, last.headers.get("retry-after")]).toEqual([429, "60"]);
    expect(last.page).toContain("Too many requests from your address.");
    expect(last.page).toContain("<form");
  });

  test("runs no script but the page's own", async () => {
    const { headers, page } = await submit({ email: "" });
    const policy = headers.get("content-security-policy") ?? "";
    const [, nonce = ""] = /script-src 'nonce-([\w-]+)'/.exec(policy) ?? [];
    expect(page).toContain(`<script nonce="${nonce}" type="module">`);
    expect(policy).toContain("default-src 'none'");
  });
});
