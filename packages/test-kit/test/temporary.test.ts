import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { keepTemporaryFilesInMemory } from "../src/temporary.ts";

const FREE = { bavail: 1e6, bsize: 4096 };
const disk = vi.hoisted(() => ({ accessSync: vi.fn(), statfsSync: vi.fn() }));
vi.mock("node:fs", async (original) => ({ ...(await original<object>()), ...disk }));

beforeEach(() => {
  vi.stubEnv("TMPDIR", undefined);
  disk.accessSync.mockReturnValue(undefined);
  disk.statfsSync.mockReturnValue(FREE);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetAllMocks();
});

const chosen = () => {
  keepTemporaryFilesInMemory("/memory");
  return process.env["TMPDIR"];
};

test("temporary files are kept in memory where there is room for them", () => {
  expect(chosen()).toBe("/memory");
});

test("not where somebody has chosen another folder", () => {
  vi.stubEnv("TMPDIR", "/elsewhere");
  expect(chosen()).toBe("/elsewhere");
});

test("not in the 64 MB that a container has", () => {
  disk.statfsSync.mockReturnValue({ bavail: 16_384, bsize: 4096 });
  expect(chosen()).toBeUndefined();
});

test.each(["accessSync", "statfsSync"] as const)("not where %s fails", (call) => {
  disk[call].mockImplementation(() => {
    throw new Error("no");
  });
  expect(chosen()).toBeUndefined();
});
