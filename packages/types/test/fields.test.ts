import * as v from "valibot";
import { expect, test } from "vitest";
import { body, emailAddress, identifier, slug } from "../src/fields.ts";

const said = (schema: v.GenericSchema, value: unknown) =>
  v.safeParse(schema, value).issues?.map(({ message }) => message) ?? [];

test.each([[[]], [[{ from: "x" }]], [null], ["{}"], [7]])(
  "a body is an object: %j is refused",
  (value) => {
    expect(said(body({ from: v.optional(identifier("from")) }), value)).not.toEqual([]);
  },
);

test.each([
  "o'brien@example.com",
  "ü@example.com",
  "ada+lovelace@example.com",
  "ada@bücher.de",
  "a@xn--bcher-kva.de",
  "a@президент.xn--p1ai",
  "a@b.co",
])("%s is an address", (email) => {
  expect(v.parse(emailAddress("email"), ` ${email}\n`)).toBe(email);
});

test.each([
  "ada",
  "ada@example",
  "a b@example.com",
  "ada@example.com\nBcc: all@example.com",
  "ada@@example.com",
  ".ada@example.com",
  "ada@-example.com",
  "<ada@example.com>",
  `${"a".repeat(65)}@example.com`,
  `a@${"b.".repeat(130)}com`,
])("%j is no address", (email) => {
  expect(said(emailAddress("email"), email)).not.toEqual([]);
});

test.each([
  "ada\nhttps://example.net",
  "a\u0000",
  "a\u2028b",
  "\ud800",
  " ",
  "",
  ".",
  "..",
  "x".repeat(201),
])("%j is no identifier: it would stand in a mail, in a log or in a URL", (id) => {
  expect(said(identifier("userId"), id)).not.toEqual([]);
});

test.each(["ada@example.com", "用戶 7", "a.b", "...", "x".repeat(200)])(
  "%j is an identifier",
  (id) => {
    expect(v.parse(identifier("userId"), id)).toBe(id);
  },
);

test("a slug is read out and stands in URLs as it is", () => {
  expect(said(slug("orderId"), "o-1_B")).toEqual([]);
  for (const id of ["", "-x", "a/b", "ä", "x".repeat(65)]) {
    expect(said(slug("orderId"), id), id).not.toEqual([]);
  }
});
