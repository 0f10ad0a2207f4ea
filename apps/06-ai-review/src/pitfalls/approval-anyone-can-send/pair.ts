import type { HttpPair } from "@durable-lessons/lab";
import { draftOf } from "../draft.ts";

export default {
  id: "approval-anyone-can-send",
  title: "An approval that anyone can send",
  claim: "If nobody checks who sends an approval, any stranger can publish.",
  why: "The endpoint is on the Internet, and ids can be guessed. Only the owner of the key can sign what is approved, by whom and until when.",
  claims: ["E5"],
  symptom: "wrong",
  engine: "http",
  body: (context) => ({
    draftId: draftOf(context).draftId,
    sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    reviewer: draftOf(context).reviewer,
    expires: String(context.now + 60_000),
    // A stranger has no key to make a better one with.
    signature: "0".repeat(64),
  }),

  expect: {
    pitfall: { "audit.logged": 1, "article.published": 1, "output.responses.0.status": 200 },
    fix: { "audit.logged": 1, "article.published": 0, "output.responses.0.status": 403 },
    solved: [{ "audit.logged": 1, "article.published": 0, "output.responses.0.status": 401 }],
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies HttpPair;
