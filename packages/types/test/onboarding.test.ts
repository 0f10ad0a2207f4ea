import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { EVENTS, onboardingRequest, QUEUES } from "../src/index.ts";

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

  test.each([null, [], "text", 7])("refuses %j", (input) => {
    expect(v.safeParse(onboardingRequest, input).success).toBe(false);
  });
});

test("event types keep to the letters that production allows", () => {
  for (const type of Object.values(EVENTS)) expect(type).toMatch(/^[A-Za-z0-9_-]{1,100}$/);
});

test("queue names are valid and differ", () => {
  const names = Object.values(QUEUES);
  for (const name of names) expect(name).toMatch(/^[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$/);
  expect(new Set(names).size).toBe(names.length);
});
