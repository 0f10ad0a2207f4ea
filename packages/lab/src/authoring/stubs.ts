import type { Pair } from "../pair.ts";

/** The files of a new pair, by name, with NAME in the place of its id; and what they expect, as in its `pair.ts`. */
export interface Stub {
  files: Record<"fix.ts" | "pair.ts" | "pitfall.ts", string>;
  expect: Pair["expect"];
}

const TWICE_OR_ONCE: Pair["expect"] = { pitfall: { "email.sent": 2 }, fix: { "email.sent": 1 } };
const ACCOUNTS: Pair["expect"] = { pitfall: { "account.opened": 2 }, fix: { "account.opened": 1 } };

/** One for each engine: small, and true when it is run. What is to be replaced is marked TODO. */
export const STUBS: Record<Pair["engine"], Stub> = {
  workflow: {
    files: {
      "pair.ts": pairText({
        type: "WorkflowPair",
        engine: "workflow",
        input: `params: ({ run }) => ({ userId: run, email: "ada@example.com" }),
  faults: { "accounts.open": ["hang"] },
  disturb: { crash: { during: "open account" } },`,
        expect: `pitfall: { "email.sent": 2, "account.opened": 1 },
    fix: { "email.sent": 1, "account.opened": 1 },`,
      }),
      "pitfall.ts": workflowText(
        `  await env.mail.send({ to: email, subject: "Welcome", text: \`Hello \${userId}\` });`,
        "the code that looks right and is not",
      ),
      "fix.ts": workflowText(
        `  await step.do("send mail", () =>
    env.mail.send({ to: email, subject: "Welcome", text: \`Hello \${userId}\` }),
  );`,
        "the same code, put right",
      ),
    },
    expect: TWICE_OR_ONCE,
  },
  queue: {
    files: {
      "pair.ts": pairText({
        type: "QueuePair",
        engine: "queue",
        input: `messages: ({ run }) => [{ id: run, email: "ada@example.com" }],
  disturb: { deliver: 2 },`,
        expect: `pitfall: { "email.sent": 2 },
    fix: { "email.sent": 1 },`,
      }),
      "pitfall.ts": queueText("", "the code that looks right and is not"),
      "fix.ts": queueText(", key: id", "the same code, put right"),
    },
    expect: TWICE_OR_ONCE,
  },
  http: {
    files: {
      "pair.ts": pairText({
        type: "HttpPair",
        engine: "http",
        input: `body: ({ run }) => ({ userId: run }),
  disturb: { deliver: 2 },`,
        expect: `pitfall: { "account.opened": 2 },
    fix: { "account.opened": 1 },`,
      }),
      "pitfall.ts": httpText("", "the code that looks right and is not"),
      "fix.ts": httpText(", key: userId", "the same code, put right"),
    },
    expect: ACCOUNTS,
  },
};

function pairText(parts: { type: string; engine: string; input: string; expect: string }): string {
  return `import type { ${parts.type} } from "@durable-lessons/lab";

export default {
  id: "NAME",
  title: "TODO: a few words",
  claim: "TODO: one sentence that the evidence can refute.",
  why: "TODO: the mechanism, in one or two sentences.",
  // TODO: ids of docs/claims.md
  claims: [],
  // TODO: what a reader notices, one of SYMPTOMS in packages/lab/src/pair.ts
  symptom: "twice",
  engine: "${parts.engine}",
  // TODO: the input, what disturbs both sides, and the evidence
  ${parts.input}
  expect: {
    ${parts.expect}
  },
  pitfall: () => import("./pitfall.ts"),
  fix: () => import("./fix.ts"),
} satisfies ${parts.type};
`;
}

function workflowText(mail: string, todo: string): string {
  return `import type { OutsideWorld } from "@durable-lessons/outside-world";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";

interface Params {
  userId: string;
  email: string;
}

// TODO: ${todo}
export async function run(event: WorkflowEvent<Params>, step: WorkflowStep, env: OutsideWorld) {
  const { userId, email } = event.payload;

${mail}

  await step.do("open account", () => env.accounts.open({ userId }));
}
`;
}

function queueText(key: string, todo: string): string {
  const name = key === "" ? "" : "id, ";
  return `import type { OutsideWorld } from "@durable-lessons/outside-world";

// TODO: ${todo}
export async function consume(
  batch: MessageBatch<{ id: string; email: string }>,
  env: OutsideWorld,
) {
  for (const message of batch.messages) {
    const { ${name}email } = message.body;
    await env.mail.send({ to: email, subject: "Welcome", text: "Hello"${key} });
    message.ack();
  }
}
`;
}

function httpText(key: string, todo: string): string {
  return `import type { OutsideWorld } from "@durable-lessons/outside-world";

// TODO: ${todo}
export async function handle(request: Request, env: OutsideWorld): Promise<Response> {
  const { userId } = await request.json<{ userId: string }>();
  return Response.json(await env.accounts.open({ userId${key} }));
}
`;
}
