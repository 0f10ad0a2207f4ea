import { lessonTests } from "@durable-lessons/test-kit/vitest";

export default lessonTests(import.meta.dirname, {
  producer: {
    config: "wrangler.producer.jsonc",
    bindings: { ADMIN_TOKENS: "ada:token-of-ada-for-these-tests bob:token-of-bob-for-these-tests" },
    isIsolated: true,
  },
  consumer: { config: "wrangler.consumer.jsonc", isIsolated: true },
});
