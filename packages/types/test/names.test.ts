import { expect, test } from "vitest";
import { WAKE_EVENT } from "../src/index.ts";

test("event types keep to the letters that production allows", () => {
  expect(WAKE_EVENT).toMatch(/^[A-Za-z0-9_-]{1,100}$/);
});
