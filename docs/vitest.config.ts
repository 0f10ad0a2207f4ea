import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // Several files start servers and browsers: one at a time is faster than all at once on a small machine.
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: [
      { extends: true, test: { name: "node", include: ["test/*.test.ts"] } },
      // With a browser, which a machine may lack: `pnpm test:browser`.
      { extends: true, test: { name: "browser", include: ["test/browser/*.test.ts"] } },
    ],
  },
});
