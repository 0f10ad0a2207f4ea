import type { WorkflowPair } from "@durable-lessons/lab";
import { draftOf } from "../draft.ts";

export default {
  id: "polling-for-the-answer",
  title: "Polling for the answer",
  claim: "Polling spends a step on every check; a wait is one step, however long it lasts.",
  why: "An instance has a limited number of steps, each is stored, and every check is a query. waitForEvent is one step that sleeps until the answer comes.",
  claims: ["E4"],
  symptom: "wasteful",
  engine: "workflow",
  params: draftOf,

  expect: {
    pitfall: { "workflow.step-started": 25, "reminder.sent": 1 },
    fix: { "workflow.step-started": 1, "reminder.sent": 1 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
