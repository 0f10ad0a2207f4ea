import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { draftRequest, draftReview, MAX_PROMPT_LENGTH } from "../../src/schemas.ts";

const draft = { draftId: "d-1", prompt: "Write about tea.", reviewer: "bob@example.com" };
const messages = (schema: v.GenericSchema, value: unknown) =>
  v.safeParse(schema, value).issues?.map(({ message }) => message) ?? [];

describe("draftRequest", () => {
  test("takes a draft, the longest too, and changes nothing in its prompt", () => {
    const prompt = ` \r\n<b>${"茶".repeat(MAX_PROMPT_LENGTH - 6)}`;
    const long = { ...draft, draftId: "d".repeat(64), prompt };
    expect(v.parse(draftRequest, long)).toEqual(long);
  });

  test.each([
    [{ draftId: "" }, "draftId must be 1 to 64"],
    [{ draftId: "d".repeat(65) }, "draftId must be 1 to 64"],
    [{ draftId: "../d" }, "draftId must be 1 to 64"],
    [{ draftId: 1 }, "draftId must be text"],
    [{ prompt: " \n" }, "prompt must not be empty"],
    [{ prompt: "p".repeat(MAX_PROMPT_LENGTH + 1) }, `at most ${MAX_PROMPT_LENGTH}`],
    [{ prompt: "\ud800" }, "well-formed Unicode"],
    [{ prompt: ["p"] }, "prompt must be text"],
    [{ reviewer: "bob" }, "reviewer must be an email address"],
    [{ reviewer: "bob@example.com\nBcc: all@example.com" }, "reviewer must be an email address"],
    [{ approved: true }, "approved is not a known field"],
  ])("refuses %j", (fields, message) => {
    expect(messages(draftRequest, { ...draft, ...fields }).join("; ")).toContain(message);
  });
});

test.each([
  [{ decision: "approve" }, ""],
  [{ decision: "reject" }, ""],
  [{ decision: "Approve" }, 'decision must be "approve" or "reject"'],
  [{ decision: ["approve", "reject"] }, 'decision must be "approve" or "reject"'],
  [{}, "decision is missing"],
  [{ decision: "approve", draftId: "d-2" }, "draftId is not a known field"],
])("draftReview: %j", (review, message) => {
  expect(messages(draftReview, review).join("; ")).toBe(message);
});
