import { describe, expect, test } from "vitest";
import { type GuardedRequest, refusal } from "../.vitepress/lab/guard.ts";

/** A request as the site's own page makes it, with changes. */
const request = (
  headers: Record<string, string | undefined> = {},
  rest: Partial<GuardedRequest> = {},
): GuardedRequest => ({
  method: "POST",
  remoteAddress: "127.0.0.1",
  headers: {
    host: "127.0.0.1:8700",
    origin: "http://127.0.0.1:8700",
    "sec-fetch-site": "same-origin",
    "content-type": "application/json",
    ...headers,
  },
  ...rest,
});

describe("the lab's guard", () => {
  test.each([
    ["the page itself", request()],
    ["localhost", request({ host: "localhost:8700", origin: "http://localhost:8700" })],
    [
      "IPv6",
      request({ host: "[::1]:8700", origin: "http://[::1]:8700" }, { remoteAddress: "::1" }),
    ],
    ["a program on this machine", request({ origin: undefined, "sec-fetch-site": undefined })],
    ["a charset", request({ "content-type": "application/json; charset=utf-8" })],
  ])("lets %s pass", (_, allowed) => {
    expect(refusal(allowed)).toBeNull();
  });

  test.each([
    ["another machine", request({}, { remoteAddress: "192.168.1.7" }), 403],
    ["no address", request({}, { remoteAddress: undefined }), 403],
    [
      "a name that points here",
      request({ host: "evil.example:8700", origin: "http://evil.example:8700" }),
      403,
    ],
    ["a name that looks like this one", request({ host: "127.0.0.1.evil.example" }), 403],
    ["no host", request({ host: undefined }), 403],
    ["another site", request({ origin: "https://evil.example" }), 403],
    ["another port of this machine", request({ origin: "http://127.0.0.1:3000" }), 403],
    ["an opaque origin", request({ origin: "null" }), 403],
    [
      "another site without an Origin",
      request({ origin: undefined, "sec-fetch-site": "cross-site" }),
      403,
    ],
    ["a site of the same host", request({ "sec-fetch-site": "same-site" }), 403],
    ["an address typed into the browser", request({ "sec-fetch-site": "none" }), 403],
    ["a link", request({}, { method: "GET" }), 405],
    ["a form", request({ "content-type": "application/x-www-form-urlencoded" }), 415],
    ["a form with plain text", request({ "content-type": "text/plain" }), 415],
    ["a type that only begins like JSON", request({ "content-type": "application/jsonp" }), 415],
    ["no type", request({ "content-type": undefined }), 415],
  ])("refuses %s", (_, refused, status) => {
    expect(refusal(refused)).toMatchObject({ status, error: expect.any(String) });
  });
});
