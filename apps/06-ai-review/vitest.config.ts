import { lessonTests } from "@durable-lessons/test-kit/vitest";

export default lessonTests(import.meta.dirname, {
  worker: {
    bindings: {
      RETRY_DELAY: 10,
      PUBLIC_ORIGIN: "https://lesson.example",
      DRAFT_TOKEN: "token-of-ada-for-these-tests",
      REVIEW_LINK_KEY: "key-of-the-tests-key-of-the-tests-key",
    },
  },
});
