import type { WorkflowPair } from "@durable-lessons/lab";
import { draftOf } from "../draft.ts";

export default {
  id: "generate-again-on-replay",
  title: "Generated again on replay",
  claim:
    "A model call outside a step is made and paid for again on replay, and the published text is not the reviewed one.",
  why: "A replay runs the code outside steps again, and a model seldom gives the same text twice. In a step the first text is read back.",
  claims: ["E1", "E2"],
  symptom: "wrong",
  engine: "workflow",
  params: draftOf,
  faults: { "site.publish": ["hang"] },
  disturb: { crash: { during: "publish article" } },
  expect: {
    pitfall: {
      "model.called": 2,
      "email.sent": 1,
      "article.published": 1,
      "output.publishedAsReviewed": false,
    },
    fix: {
      "model.called": 1,
      "email.sent": 1,
      "article.published": 1,
      "output.publishedAsReviewed": true,
    },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
