import { keepTemporaryFilesInMemory } from "@durable-lessons/test-kit/temporary";
import { defineConfig } from "vitest/config";

keepTemporaryFilesInMemory();

export default defineConfig({
  test: {
    // Several files start servers and browsers: one at a time is faster than all at once on a small machine.
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: [
      // Most files read the same lessons and pages: what they import is loaded once.
      { extends: true, test: { name: "node", include: ["test/*.test.ts"], isolate: false } },
      // With a browser, which a machine may lack: `pnpm test:browser`.
      { extends: true, test: { name: "browser", include: ["test/browser/*.test.ts"] } },
    ],
  },
});
