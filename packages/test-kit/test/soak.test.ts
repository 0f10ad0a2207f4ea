import { afterEach, expect, test, vi } from "vitest";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

test.each([
  [undefined, "small"],
  ["", "small"],
  ["0", "small"],
  ["1", "full"],
])("with SOAK=%s a test is %s", async (value, size) => {
  vi.stubEnv("SOAK", value);
  const { soak } = await import("../src/soak.ts");
  expect(soak("full", "small")).toBe(size);
});
