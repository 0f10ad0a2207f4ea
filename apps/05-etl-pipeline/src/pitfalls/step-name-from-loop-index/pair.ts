import type { WorkflowPair } from "@durable-lessons/lab";

export default {
  id: "step-name-from-loop-index",
  title: "A step's name from the loop's index",
  claim: "A step named by its position belongs to another file once a new file sorts first.",
  why: "On replay the list has one more file, at its beginning. Step 0 is finished, so the new file counts as loaded, and the last file gets a step that has not run yet.",
  claims: ["D3"],
  symptom: "wrong",
  engine: "workflow",
  params: ({ run }) => ({ folder: `pitfalls/${run}/` }),
  faults: { "audit.log": ["hang"] },
  disturb: { crash: { during: "write report" } },
  expect: {
    pitfall: { "rows.loaded": 3, "audit.logged": 1, "output.loaded": "b, c, c" },
    fix: { "rows.loaded": 3, "audit.logged": 1, "output.loaded": "a, b, c" },
    solved: [{ "rows.loaded": 2, "audit.logged": 1, "output.loaded": "b, c" }],
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
