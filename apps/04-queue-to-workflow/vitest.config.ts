import { lessonTests } from "@durable-lessons/test-kit/vitest";

export default lessonTests(import.meta.dirname, {
  worker: {
    bindings: { OPERATOR_TOKEN: "token-of-ada-for-these-tests" },
    queueConsumers: {
      orders: {
        maxBatchSize: 100,
        maxBatchTimeout: 0,
        maxRetries: 3,
        retryDelay: 0,
        deadLetterQueue: "orders-dlq",
      },
      "orders-dlq": { maxBatchTimeout: 0 },
    },
  },
});
