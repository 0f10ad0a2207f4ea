import { lessonTests } from "@durable-lessons/test-kit/vitest";

export default lessonTests(import.meta.dirname, {
  worker: {
    bindings: { OPERATOR_TOKEN: "token-of-ada-for-these-tests" },
    queueConsumers: {
      "onboarding-requests": {
        maxBatchTimeout: 0,
        maxRetries: 3,
        retryDelay: 0,
        deadLetterQueue: "onboarding-requests-dlq",
      },
      "onboarding-requests-dlq": { maxBatchTimeout: 0 },
    },
  },
});
