import { instanceIdFor } from "@durable-lessons/idempotency";
import type { Flow, LessonFlows } from "@durable-lessons/lab/flow";

const userOf = (id: string) => ({ userId: id, email: `ada-${id}@example.com`, planType: "pro" });

/** A token of the gauntlet's own runtime. */
const TOKEN = "token-of-the-gauntlets-own-runtime";

const onboarding = {
  workflow: "ONBOARDING",
  runOf: (id) => instanceIdFor("onboard", id),
} satisfies Partial<Flow>;

/** How the gauntlet starts this lesson's own code. */
export default {
  vars: { OPERATOR_TOKEN: TOKEN },
  flows: [
    {
      name: "onboarding, asked for",
      ...onboarding,
      start: (lesson, id) => lesson.send("POST", "/onboard", userOf(id)),
    },
    {
      name: "onboarding, by message",
      ...onboarding,
      start: (lesson, id) =>
        lesson.send("POST", "/onboard/queue", userOf(id), { authorization: `Bearer ${TOKEN}` }),
    },
  ],
} satisfies LessonFlows;
