import { lessonTests } from "@durable-lessons/test-kit/vitest";

export default lessonTests(import.meta.dirname, {
  worker: { bindings: { RETRY_DELAY: 10 } },
});
