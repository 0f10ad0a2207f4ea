import type { WorkflowPair } from "@durable-lessons/lab";

export default {
  id: "key-as-a-step-name",
  title: "An object's key as a step's name",
  claim: "One file whose key is too long for a step's name fails the whole day.",
  why: "R2 takes keys of 1,024 bytes, a step's name has at most 256 characters. A name that is too long is hashed.",
  claims: ["D14"],
  symptom: "stopped",
  engine: "workflow",
  params: () => ({
    sources: ["a.csv", `${"b".repeat(300)}.csv`, "c.csv"].map((file) => ({
      file,
      etag: "1",
      bytes: 1,
    })),
  }),
  expect: {
    pitfall: { status: "errored", "rows.loaded": 1 },
    fix: { "rows.loaded": 3, "output.files": 3 },
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies WorkflowPair;
