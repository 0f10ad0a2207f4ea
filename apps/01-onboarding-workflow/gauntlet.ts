import { instanceIdFor } from "@durable-lessons/idempotency";
import type { Flow, LessonFlows } from "@durable-lessons/lab/flow";

const userOf = (id: string) => ({ userId: id, email: `ada+${id}@example.com`, planType: "pro" });

const onboarding = {
  workflow: "ONBOARDING",
  runOf: (id) => instanceIdFor("onboard", id),
} satisfies Partial<Flow>;

/** How the gauntlet starts this lesson's own code. */
export default {
  flows: [
    {
      name: "onboarding, asked for",
      ...onboarding,
      start: (lesson, id) => lesson.send("POST", "/onboard", userOf(id)),
    },
    {
      name: "onboarding, by message",
      ...onboarding,
      start: (lesson, id) => lesson.send("POST", "/onboard/queue", userOf(id)),
    },
  ],
} satisfies LessonFlows;
