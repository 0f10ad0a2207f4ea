/**
 * Attempts at ten pairs that the fixes are not: one that is right in another way, and cheats. Each is made of the pitfall's
 * text, as a reader makes it.
 */

/** One attempt, as the text that takes the place of the pitfall's from its first function on. */
export interface Attempts {
  pair: string;
  /** Another right answer. */
  right: string;
  /** Wrong ones, by what they do. */
  cheats: Record<string, string>;
}

const WORKFLOW = (body: string, env = "OutsideWorld", payload = "OrderRequest") =>
  `export async function run(event: WorkflowEvent<${payload}>, step: WorkflowStep, env: ${env}) {\n${body}\n}\n`;

const CONSUMER = (body: string) =>
  `export async function consume(batch: MessageBatch, env: OutsideWorld) {\n${body}\n}\n`;

export const ATTEMPTS: Attempts[] = [
  {
    pair: "01/side-effect-outside-step",
    right: WORKFLOW(
      `  const { userId, email } = event.payload;
  // Its step has another name than the one that the crash of the pair names.
  await step.do("greet and open", async () => {
    const key = event.instanceId;
    await env.mail.send({ to: email, subject: "Welcome", text: "Hello", key: \`\${key}/mail\` });
    await env.accounts.open({ userId, key: \`\${key}/account\` });
  });`,
      "OutsideWorld",
      "OnboardingRequest",
    ),
    cheats: {
      "does nothing": WORKFLOW("", "OutsideWorld", "OnboardingRequest"),
      "calls later, where this crash does not come": WORKFLOW(
        `  const { userId, email } = event.payload;
  await step.do("open account", (ctx) => env.accounts.open({ userId, key: stepKey(event, ctx) }));
  await env.mail.send({ to: email, subject: "Welcome", text: "Hello" });`,
        "OutsideWorld",
        "OnboardingRequest",
      ),
    },
  },
  {
    pair: "01/double-submit",
    right: `export { run } from "./workflow.ts";
export async function handle(request: Request, env: { WORKFLOW: Workflow }): Promise<Response> {
  const user = v.safeParse(onboardingRequest, await request.json().catch(() => null));
  if (!user.success) return Response.json({ error: issuesAsText(user.issues) }, { status: 400 });
  const id = [...new TextEncoder().encode(user.output.userId)].map((byte) => byte.toString(16)).join("");
  try {
    await env.WORKFLOW.create({ id, params: user.output });
  } catch (error) {
    // Is it there, then?
    await env.WORKFLOW.get(id).catch(() => Promise.reject(error));
  }
  return Response.json({ instanceId: id }, { status: 202 });
}
`,
    cheats: {
      "does nothing": `export { run } from "./workflow.ts";
export async function handle(): Promise<Response> {
  return Response.json({}, { status: 202 });
}
`,
      "remembers in memory": `export { run } from "./workflow.ts";
const seen = new Set<string>();
export async function handle(request: Request, env: { WORKFLOW: Workflow }): Promise<Response> {
  const user = v.safeParse(onboardingRequest, await request.json().catch(() => null));
  if (!user.success) return Response.json({ error: issuesAsText(user.issues) }, { status: 400 });
  if (!seen.has(user.output.userId)) await env.WORKFLOW.create({ params: user.output });
  seen.add(user.output.userId);
  return Response.json({}, { status: 202 });
}
`,
    },
  },
  {
    pair: "01/counting-in-memory",
    right: WORKFLOW(
      `  const sent = await Promise.all(
    event.payload.team.map((to) =>
      step.do(\`write to \${to}\`, async (ctx) => {
        const key = stepKey(event, ctx);
        return env.mail.send({ to, subject: "A new colleague", text: "Say hello", key });
      }),
    ),
  );
  return { sent: sent.length };`,
      "OutsideWorld",
      "{ team: string[] }",
    ),
    cheats: {
      "says the number and sends nothing": WORKFLOW(
        "  return { sent: 3 };",
        "OutsideWorld",
        "unknown",
      ),
    },
  },
  {
    pair: "02/no-way-back",
    right: WORKFLOW(`  const { orderId, card, lines } = event.payload;
  const key = (what: string) => \`\${event.instanceId}/\${what}\`;
  try {
    await step.do("reserve", twice, () => env.stock.reserve({ orderId, lines, key: key("stock") }));
    await step.do("charge", twice, () =>
      env.payments.charge({ orderId, card, cents: 900, key: key("charge") }),
    );
    await step.do("ship", twice, () => env.carrier.ship({ orderId, key: key("parcel") }));
  } catch (error) {
    await step.do("take all back", async () => {
      const parcel = await env.carrier.find({ key: key("parcel") });
      if (parcel) await env.carrier.recall({ orderId, key: parcel.parcelId });
      const charge = await env.payments.find({ key: key("charge") });
      if (charge?.status === "charged") {
        const { chargeId } = charge;
        await env.payments.refund({ chargeId, cents: 900, key: chargeId });
      }
      await env.stock.release({ orderId, key: key("release") });
    });
    throw error;
  }`),
    cheats: {
      "does nothing": WORKFLOW(`  throw new Error("no parcel");`),
      "takes back at once what it has done":
        WORKFLOW(`  const { orderId, card, lines } = event.payload;
  await step.do("all", twice, async (ctx) => {
    const key = stepKey(event, ctx);
    await env.stock.reserve({ orderId, lines, key });
    const charge = await env.payments.charge({ orderId, card, cents: 900, key });
    if (charge.status === "charged") {
      await env.payments.refund({ chargeId: charge.chargeId, cents: 900, key: \`\${key}/back\` });
    }
    await env.stock.release({ orderId, key: \`\${key}/back\` });
  });
  throw new Error("no parcel");`),
    },
  },
  {
    pair: "02/charge-without-a-key",
    right: WORKFLOW(`  const { orderId, card } = event.payload;
  await step.do("pay", impatient, () =>
    env.payments.charge({ orderId, card, cents: 900, key: \`order-\${orderId}\` }),
  );`),
    cheats: {
      "does nothing": WORKFLOW(""),
      "waits for this slow answer only": WORKFLOW(`  const { orderId, card } = event.payload;
  await step.do("charge card", { ...impatient, timeout: "1 minute" }, () =>
    env.payments.charge({ orderId, card, cents: 900 }),
  );`),
    },
  },
  {
    pair: "02/one-event-for-two-reviews",
    right: WORKFLOW(`  const { orderId } = event.payload;
  const answers = await Promise.allSettled([
    step.waitForEvent("shop", { type: "review", timeout: 3000 }),
    step.waitForEvent("bank", { type: "review-of-the-bank", timeout: 3000 }),
  ]);
  const isGood = answers.every((one) => one.status === "fulfilled" && isYes(one.value.payload));
  if (!isGood) return;
  await step.do("ship parcel", (ctx) => env.carrier.ship({ orderId, key: stepKey(event, ctx) }));`),
    cheats: {
      "does nothing": WORKFLOW(""),
      "never ships": WORKFLOW(`  await step.waitForEvent("wait for shop", { type: "review" });`),
    },
  },
  {
    pair: "03/no-idempotency",
    right: CONSUMER(`  for (const message of batch.messages) {
    try {
      const { id, email } = v.parse(signupMessage, message.body);
      await env.mail.send({ to: email, subject: "Welcome", text: "Hello", key: \`welcome-\${id}\` });
    } catch {
      message.retry();
    }
  }`),
    cheats: {
      "does nothing": CONSUMER("  batch.ackAll();"),
      "remembers in memory": `const seen = new Set<string>();
${CONSUMER(`  for (const message of batch.messages) {
    try {
      const { id, email } = v.parse(signupMessage, message.body);
      if (seen.has(id)) continue;
      await env.mail.send({ to: email, subject: "Welcome", text: "Hello" });
      seen.add(id);
    } catch {
      message.retry();
    }
  }`)}`,
    },
  },
  {
    pair: "03/swallowed-error-is-an-ack",
    right: CONSUMER(`  for (const message of batch.messages) {
    try {
      const { id, email } = v.parse(signupMessage, message.body);
      const welcome = { to: email, subject: "Welcome", text: "Hello", key: id };
      const send = () => env.mail.send(welcome);
      await send().catch(send).catch(send);
    } catch {
      message.retry();
    }
  }`),
    cheats: {
      "does nothing": CONSUMER("  batch.ackAll();"),
      "tries just often enough": CONSUMER(`  for (const message of batch.messages) {
    try {
      const { id, email } = v.parse(signupMessage, message.body);
      const welcome = { to: email, subject: "Welcome", text: "Hello", key: id };
      const send = () => env.mail.send(welcome);
      await send().catch(send).catch(send);
    } catch {
      message.ack();
    }
  }`),
    },
  },
  {
    pair: "04/random-instance-id",
    right: `export { run } from "../charge.ts";
export async function consume(batch: MessageBatch, env: { WORKFLOW: Workflow }) {
  for (const { message, order } of ordersIn(batch)) {
    const id = \`order_\${order.orderId}\`;
    try {
      const { errors } = await env.WORKFLOW.createBatch({ instances: [{ id, params: order }] });
      retryRefused([{ message, order }], errors);
    } catch {
      message.retry();
    }
  }
}
`,
    cheats: {
      "does nothing": `export { run } from "../charge.ts";
export async function consume(batch: MessageBatch) {
  batch.ackAll();
}
`,
      "remembers in memory": `export { run } from "../charge.ts";
const seen = new Set<string>();
export async function consume(batch: MessageBatch, env: { WORKFLOW: Workflow }) {
  for (const { message, order } of ordersIn(batch)) {
    if (seen.has(order.orderId)) continue;
    try {
      await env.WORKFLOW.create({ params: order });
      seen.add(order.orderId);
    } catch {
      message.retry();
    }
  }
}
`,
    },
  },
  {
    pair: "05/one-step-for-the-whole-run",
    right: WORKFLOW(
      `  await step.do("all of it", thrice, async (ctx) => {
    const { text } = await env.source.read({ file: "sales.csv", bytes: 500 });
    const rows = text.split("\\n").length;
    const key = stepKey(event, ctx);
    const load = () => env.warehouse.load({ file: "sales.csv", rows, key });
    await load().catch(load).catch(load);
  });`,
      "OutsideWorld",
      "unknown",
    ),
    cheats: {
      "does nothing": WORKFLOW("", "OutsideWorld", "unknown"),
      "reads nothing": WORKFLOW(
        `  await step.do("load", thrice, (ctx) =>
    env.warehouse.load({ file: "sales.csv", rows: 1, key: stepKey(event, ctx) }),
  );`,
        "OutsideWorld",
        "unknown",
      ),
    },
  },
];
