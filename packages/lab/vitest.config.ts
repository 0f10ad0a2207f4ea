import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/*.test.ts"],
    // Most files start workerd: one at a time is faster than all at once on a small machine.
    fileParallelism: false,
    // Loading wrangler takes seconds of a processor: once for all files.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
