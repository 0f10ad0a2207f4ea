import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { onboardingRequest } from "../../src/schemas.ts";

const ada = { userId: "u-1", email: "ada@example.com", planType: "pro" } as const;

const problems = (input: unknown) =>
  v.safeParse(onboardingRequest, input).issues?.map((issue) => v.getDotPath(issue)) ?? [];

describe("onboardingRequest", () => {
  test("accepts a user and gives it back unchanged", () => {
    expect(v.parse(onboardingRequest, ada)).toEqual(ada);
  });

  test.each(["a/b", "ada@example.com", "a b", "🦊", "x".repeat(200)])(
    "accepts the userId %j, which is no Workflow instance id",
    (userId) => {
      expect(problems({ ...ada, userId })).toEqual([]);
    },
  );

  test.each([
    ["userId", ""],
    ["userId", "   "],
    ["userId", "x".repeat(201)],
    ["userId", "\uD800"],
    ["userId", 7],
    ["userId", null],
    ["email", "nobody"],
    ["email", `${"x".repeat(250)}@example.com`],
    ["planType", "gold"],
    ["coupon", "unknown field"],
  ])("names the field %s when its value is %j", (field, value) => {
    expect(problems({ ...ada, [field]: value })).toContain(field);
  });

  test.each([
    [null, "the body must be a JSON object"],
    ["text", "the body must be a JSON object"],
    [7, "the body must be a JSON object"],
    [[], "the body must be a JSON object"],
    [{ ...ada, coupon: 1 }, "coupon is not a known field"],
  ])("says of %j: %s", (input, message) => {
    expect(v.safeParse(onboardingRequest, input).issues?.map((issue) => issue.message)).toContain(
      message,
    );
  });
});
