import type { WorkflowPair } from "@durable-lessons/lab";
import { draftOf } from "../draft.ts";

export default {
  id: "reminder-that-decides",
  title: "A reminder that decides",
  claim: "A reminder that cannot be sent ends the whole review, unless its error is caught.",
  why: "A step that has failed for good throws, and an error that nobody catches ends the run. The first email has the link all the same.",
  claims: ["E10"],
  symptom: "stopped",
  engine: "workflow",
  params: draftOf,
  faults: { "mail.remind": { always: "fail" } },
  expect: {
    pitfall: { status: "errored", "email.sent": 1, "audit.logged": 0 },
    fix: { status: "complete", "email.sent": 1, "audit.logged": 1, "output.closed": true },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
