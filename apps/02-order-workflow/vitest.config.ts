import { lessonTests } from "@durable-lessons/test-kit/vitest";

export default lessonTests(import.meta.dirname, {
  // Nobody need wait: the review by its event, the rest by short times.
  worker: { bindings: { GRACE_PERIOD: 50, RETRY_DELAY: 10 } },
});
