import { body, identifier } from "@durable-lessons/types/fields";
import { Hono } from "hono";
import * as v from "valibot";
import { describe, expect, test, vi } from "vitest";
import { errorAsJson, jsonBody } from "../src/http.ts";

const app = new Hono();
app.onError(errorAsJson);
app.post("/named", jsonBody(body({ name: identifier("name") })), (c) =>
  c.json(c.req.valid("json")),
);
app.post("/any", jsonBody(v.unknown()), (c) => c.json({ is: "taken" }));

async function post(path: string, sent: BodyInit, type = "application/json") {
  const headers = { "content-type": type };
  const response = await app.request(path, { method: "POST", body: sent, headers });
  const { error, ...rest }: { error?: string } = await response.json();
  return { status: response.status, error, ...rest };
}

describe("a JSON body", () => {
  test.each([
    "application/json",
    "application/json; charset=utf-8",
    'application/json;Charset="UTF-8"',
    "application/merge-patch+json",
  ])("as %s is read", async (type) => {
    expect(await post("/named", '{ "name": "Zoë" }', type)).toEqual({ status: 200, name: "Zoë" });
  });

  test.each([
    "text/plain",
    "",
    "application/jsonp",
    "application/json; charset=utf-16",
    "application/json; charset=latin1",
  ])("as %j is 415, with what to send", async (type) => {
    const { status, error } = await post("/named", '{ "name": "Zoë" }', type);
    expect({ status, error }).toEqual({
      status: 415,
      error: "Send JSON in UTF-8, with the header content-type: application/json.",
    });
  });

  test("that is not UTF-8 is 400: another letter would stand in the name", async () => {
    const latin1 = Uint8Array.from([123, 34, 110, 97, 109, 101, 34, 58, 34, 0xeb, 34, 125]);
    expect(await post("/named", latin1)).toEqual({ status: 400, error: "The body is not UTF-8." });
  });

  test("that is no JSON is 400", async () => {
    expect(await post("/named", "{")).toEqual({
      status: 400,
      error: "Malformed JSON in request body",
    });
  });

  test("with a field that is wrong names it", async () => {
    expect(await post("/named", '{ "name": 7, "x": 1 }')).toMatchObject({
      status: 400,
      error: "name must be text; x is not a known field",
      issues: [{ field: "name", message: "name must be text" }, { field: "x" }],
    });
  });

  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

  test.each([
    nested(33),
    nested(6000),
    `[${nested(2000)}, "[", ${nested(1)}]`,
    '{"a":'.repeat(40) + "1" + "}".repeat(40),
    "[".repeat(100_000),
  ])("nested deeper than a queue can hand on is 400", async (text) => {
    expect(await post("/any", text)).toEqual({
      status: 400,
      error: "The body is nested deeper than 32 levels.",
    });
  });

  test.each([
    nested(32),
    `[${"[],".repeat(1000)}[]]`,
    JSON.stringify({ a: "[".repeat(1000), b: '\\"[[' }),
  ])("with brackets side by side, or in its texts, is no deeper for them", async (text) => {
    expect(await post("/any", text)).toEqual({ status: 200, is: "taken" });
  });
});

test("what the platform refuses is 409, all else a 500 that says nothing of the inside", async () => {
  const log = vi.spyOn(console, "error").mockReturnValue();
  const failing = new Hono();
  failing.onError(errorAsJson);
  failing.get("/:message", (c) => {
    throw new Error(c.req.param("message"));
  });
  const answer = async (message: string) => {
    const response = await failing.request(`/${encodeURIComponent(message)}`);
    const said: object = await response.json();
    return { status: response.status, ...said };
  };
  expect(await answer("(instance.cannot_terminate) Cannot terminate instance")).toEqual({
    status: 409,
    error: "The platform cannot terminate this instance in its present state.",
  });
  expect(await answer("D1_ERROR: no such table: orders")).toEqual({
    status: 500,
    error: "Something went wrong. See the Worker's log.",
  });
  expect(log).toHaveBeenCalledOnce();
});
