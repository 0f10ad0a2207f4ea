import { keepTemporaryFilesInMemory } from "@durable-lessons/test-kit/temporary";
import { defineConfig } from "vitest/config";

keepTemporaryFilesInMemory();

export default defineConfig({
  test: {
    include: ["test/*.test.ts"],
    // Most files start workerd: one at a time is faster than all at once on a small machine.
    fileParallelism: false,
    // Loading wrangler takes seconds of a processor: once for all files.
    isolate: false,
    // Nothing waits for these times: a busy machine may be slow, and a hook runs what many tests look at.
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});
