import { exports } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { send } from "./helpers.ts";

const routes = [
  ["GET", "/dead-letters"],
  ["POST", "/dead-letters/1/redrive"],
  ["DELETE", "/dead-letters/1"],
  ["GET", "/dead-letters/reasons"],
  ["POST", "/dead-letters/settle"],
  ["PUT", "/dead-letters/1"],
] as const;

describe.each(routes)("%s %s", (method, path) => {
  test.each([
    undefined,
    "",
    "wrong",
    "token-of-ada-for-these-test",
    "token-of-ada-for-these-testss",
    "ada:token-of-ada-for-these-tests",
    "ada",
  ])("is closed to the token %s", async (token) => {
    const { status, headers } = await send(
      method,
      path,
      undefined,
      token === undefined ? {} : { token },
    );
    expect(status).toBe(401);
    expect(headers.get("www-authenticate")).toBe("Bearer");
  });

  test.each([undefined, "", " ", "token-without-a-name", "ada:", ":token-of-ada-for-these-tests"])(
    "is closed to everybody as long as the secret is %j",
    async (secret) => {
      const env = { ADMIN_TOKENS: secret } as ProducerEnv;
      for (const token of [
        "",
        "ada",
        "token-of-ada-for-these-tests",
        "token-without-a-name",
        "undefined",
      ]) {
        const { status, body } = await send(method, path, undefined, { token, env });
        expect(status).toBe(503);
        expect(body["error"]).toContain("wrangler secret put ADMIN_TOKENS");
      }
    },
  );
});

test("every operator has a token", async () => {
  for (const token of ["token-of-ada-for-these-tests", "token-of-bob-for-these-tests"]) {
    const { status } = await send("GET", "/dead-letters", undefined, { token });
    expect(status).toBe(200);
  }
});

test("the page itself is open, holds no data and runs no script but its own", async () => {
  const response = await exports.default.fetch("https://lesson.example/");
  expect(response.status).toBe(200);
  const policy = response.headers.get("content-security-policy") ?? "";
  const [, nonce = ""] = /script-src 'nonce-([\w-]+)'/.exec(policy) ?? [];
  expect(nonce).not.toBe("");
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain("unsafe");
  const page = await response.text();
  expect(page).toContain(`<script type="module" nonce="${nonce}">`);
  expect(page).not.toContain("NONCE");
  const again = await exports.default.fetch("https://lesson.example/");
  expect(again.headers.get("content-security-policy")).not.toContain(nonce);
});
