import { describe, expect, test } from "vitest";
import { type GuardedRequest, labRefusal, refusal } from "../src/guard.ts";

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
    expect(labRefusal(allowed)).toBeNull();
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
    expect(labRefusal(refused)).toMatchObject({ status, error: expect.any(String) });
  });
});

describe("the guard of everything else", () => {
  /** A page that is opened, from a site or from none. */
  const link = (site: string, headers: Record<string, string | undefined> = {}, method = "GET") =>
    request(
      {
        origin: undefined,
        "content-type": undefined,
        "sec-fetch-site": site,
        "sec-fetch-mode": "navigate",
        "sec-fetch-dest": "document",
        ...headers,
      },
      { method },
    );

  test.each([
    ["its own pages' requests", request({ "content-type": undefined })],
    ["a program on this machine", request({ origin: undefined, "sec-fetch-site": undefined })],
    ["an address that is typed in", link("none")],
    ["a link on another site, or in a mail", link("cross-site")],
    ["a link on another port of this machine", link("same-site")],
    ["a form of its own", link("same-origin", { origin: "http://127.0.0.1:8700" }, "POST")],
    [
      "a form of a page that tells nobody where it is",
      link("same-origin", { origin: "null" }, "POST"),
    ],
  ])("lets %s pass", (_, allowed) => {
    expect(refusal(allowed)).toBeNull();
  });

  test("needs no address where nobody is told it", () => {
    const { remoteAddress: _, ...untold } = request();
    expect(refusal(untold)).toBeNull();
  });

  test.each([
    ["another machine", request({}, { remoteAddress: "192.168.1.7" })],
    ["a name that points here", link("none", { host: "evil.example:8700" })],
    [
      "a page under a name that points here",
      request({ host: "evil.example:8700", origin: "http://evil.example:8700" }),
    ],
    [
      "another site's script",
      request({ origin: "https://evil.example", "sec-fetch-site": "cross-site" }),
    ],
    [
      "another port's script",
      request({ origin: "http://127.0.0.1:3000", "sec-fetch-site": "same-site" }),
    ],
    [
      "another Origin of an old browser",
      request({ origin: "https://evil.example", "sec-fetch-site": undefined }),
    ],
    [
      "an opaque Origin of an old browser",
      request({ origin: "null", "sec-fetch-site": undefined }),
    ],
    [
      "an opaque Origin of another site",
      request({ origin: "null", "sec-fetch-site": "cross-site" }),
    ],
    [
      "a picture or a script on another site",
      link("cross-site", { "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script" }),
    ],
    ["a frame in another site", link("cross-site", { "sec-fetch-dest": "iframe" })],
    ["a form on another site", link("cross-site", { origin: "https://evil.example" }, "POST")],
  ])("refuses %s", (_, refused) => {
    expect(refusal(refused)).toMatchObject({ status: 403, error: expect.any(String) });
  });
});
