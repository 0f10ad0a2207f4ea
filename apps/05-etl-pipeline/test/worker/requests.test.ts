/** What the door makes of a body whose bytes are the trouble. All else is in test/node. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import worker from "../../src/index.ts";

const TOKEN = "token-of-ada-for-these-tests";
const utf8 = (text: string) => new TextEncoder().encode(text);

const runs = () => env.DB.prepare("SELECT COUNT(*) AS n FROM runs").first("n");

test.each([
  ["invalid UTF-8", 400, new Uint8Array([...utf8('{"day":"'), 0xff, ...utf8('"}')]), ""],
  ["UTF-16", 415, utf8('{"day":"2020-01-01"}'), "; charset=utf-16"],
  ["an array", 400, utf8("[]"), ""],
  ["arrays nested 6,000 deep", 400, utf8("[".repeat(6000) + "]".repeat(6000)), ""],
])("POST /runs: %s is %d, and starts nothing", async (_what, status, body, charset) => {
  const before = await runs();
  const request = new Request<unknown, IncomingRequestCfProperties>("https://lesson.example/runs", {
    method: "POST",
    headers: {
      authorization: `Bearer ${TOKEN}`,
      "content-type": `application/json${charset}`,
    },
    body,
  });
  const bound = { ...env, ETL_TOKEN: TOKEN };
  expect((await worker.fetch(request, bound, createExecutionContext())).status).toBe(status);
  expect(await runs()).toBe(before);
});
