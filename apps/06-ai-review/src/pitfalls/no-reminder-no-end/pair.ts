import type { WorkflowPair } from "@durable-lessons/lab";
import { draftOf } from "../draft.ts";

export default {
  id: "no-reminder-no-end",
  title: "No reminder, no end",
  claim:
    "A wait without a timeout of its own leaves drafts open; one that times out can remind, and close.",
  why: "People go on holiday. The first wait ends with a reminder, the second closes the draft, and each has its own event type.",
  claims: ["E6"],
  symptom: "never-ends",
  engine: "workflow",
  params: draftOf,

  expect: {
    pitfall: { status: "waiting", "email.sent": 1, "reminder.sent": 0 },
    fix: { status: "complete", "email.sent": 1, "reminder.sent": 1, "output.closed": true },
    solved: [{ status: "complete", "email.sent": 1, "reminder.sent": 1 }],
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
