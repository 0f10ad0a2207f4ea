import { glob } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const apps = join(import.meta.dirname, "..", "..", "apps");
const files = await Array.fromAsync(glob("*/src/queues.ts", { cwd: apps }));
const names = await Promise.all(
  files.map(async (file): Promise<string[]> => {
    const { QUEUES } = await import(join(apps, file));
    return Object.values(QUEUES);
  }),
);

test("queue names are valid, and differ: all lessons fit into one account", () => {
  const all = names.flat();
  expect(all).not.toEqual([]);
  for (const name of all) expect(name).toMatch(/^[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$/);
  expect(new Set(all).size).toBe(all.length);
});
