import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { etlRun, isDay } from "../../src/schemas.ts";

const problems = (input: unknown) =>
  v.safeParse(etlRun, input).issues?.map((issue) => issue.message) ?? [];

describe("etlRun", () => {
  test.each(["2026-11-28", "2028-02-29", "0001-01-01"])("accepts %s", (day) => {
    expect(v.parse(etlRun, { day })).toEqual({ day });
  });

  test.each([
    "2026-02-29",
    "2026-04-31",
    "2026-13-01",
    "2026-00-10",
    "2026-1-1",
    "26-11-28",
    "2026-11-28 ",
    "2026-11-28T00:00:00Z",
    "+02026-11-28",
    "",
  ])("refuses %j", (day) => {
    expect(isDay(day)).toBe(false);
    expect(problems({ day })).toEqual(["day must be a day of the calendar, such as 2026-11-28"]);
  });

  test.each([
    [{}, "day is missing"],
    [{ day: null }, "day must be text"],
    [{ day: 20261128 }, "day must be text"],
    [{ day: "2026-11-28", force: true }, "force is not a known field"],
    [null, "the body must be a JSON object"],
  ])("refuses %j", (input, problem) => {
    expect(problems(input)).toEqual([problem]);
  });
});
