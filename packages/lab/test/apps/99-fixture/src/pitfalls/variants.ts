/**
 * The variants of the fixture's pairs. They teach nothing: each does one thing that shows whether the lab disturbed
 * it as its pair says.
 */
import type { VariantEnv } from "@durable-lessons/lab/worker";
import type { WorkflowEvent, WorkflowStep } from "cloudflare:workers";

type Env = VariantEnv<object>;
type Event = WorkflowEvent<{ orderId: string }>;

const email = { to: "ada@example.com", subject: "Hello", text: "Hello" };
const order = (event: Event) => ({ orderId: event.payload.orderId });
const charge = (event: Event) => ({ ...order(event), card: "4242", cents: 100 });
const atOnce = { retries: { limit: 0, delay: 0 } };

export const mailOutsideStep = {
  async run(event: Event, step: WorkflowStep, env: Env) {
    await env.mail.send(email);
    await step.do("open account", () => env.accounts.open({ userId: event.payload.orderId }));
  },
};
export const mailInsideStep = {
  async run(event: Event, step: WorkflowStep, env: Env) {
    await step.do("send mail", () => env.mail.send(email));
    await step.do("open account", () => env.accounts.open({ userId: event.payload.orderId }));
  },
};

export const chargeAndShipInOneStep = {
  async run(event: Event, step: WorkflowStep, env: Env) {
    await step.do("ship", atOnce, async () => {
      await env.payments.charge(charge(event));
      await env.carrier.ship(order(event));
    });
  },
};
export const chargeThenShip = {
  async run(event: Event, step: WorkflowStep, env: Env) {
    await step.do("charge", atOnce, () => env.payments.charge(charge(event)));
    await step.do("ship", atOnce, () => env.carrier.ship(order(event)));
  },
};
export const chargeWithKeyThenShip = {
  async run(event: Event, step: WorkflowStep, env: Env) {
    const key = event.instanceId;
    await step.do("charge", atOnce, () => env.payments.charge({ ...charge(event), key }));
    await step.do("ship", atOnce, () => env.carrier.ship(order(event)));
  },
};

const twoWaits = (second: string) => ({
  async run(event: Event, step: WorkflowStep, env: Env) {
    await step.waitForEvent("first review", { type: "review" });
    try {
      await step.waitForEvent("second review", { type: second, timeout: 1000 });
    } catch {
      return { shipped: false };
    }
    await step.do("ship", () => env.carrier.ship(order(event)));
    return { shipped: true };
  },
});
export const sameTypeTwice = twoWaits("review");
export const anotherType = twoWaits("second-review");

const mailsThenWaits = (timeout: number | "365 days") => ({
  async run(_event: Event, step: WorkflowStep, env: Env) {
    await step.do("send mail", () => env.mail.send(email));
    try {
      await step.waitForEvent("wait for answer", { type: "answer", timeout });
      return { answered: true };
    } catch {
      return { answered: false };
    }
  },
});
export const waitsForEver = mailsThenWaits("365 days");
export const waitsForASecond = mailsThenWaits(1000);

const mailsInSteps = (count: number) => ({
  async run(_event: Event, step: WorkflowStep, env: Env) {
    for (let nth = 1; nth <= count; nth++) {
      await step.do(`send mail ${nth}`, { retries: { limit: 1, delay: 10 } }, () =>
        env.mail.send(email),
      );
      await step.sleep(`pause ${nth}`, 10);
    }
  },
});
export const threeSteps = mailsInSteps(3);
export const oneStep = mailsInSteps(1);

export const mailPerMessage = {
  async consume(batch: MessageBatch, env: Env) {
    for (const message of batch.messages) {
      await env.mail.send(email);
      message.ack();
    }
  },
};
export const mailWithKeyPerMessage = {
  async consume(batch: MessageBatch<string>, env: Env) {
    for (const message of batch.messages) {
      await env.mail.send({ ...email, key: message.body });
      message.ack();
    }
  },
};

export const mailPerBodyOfBatch = {
  async consume({ messages }: MessageBatch<string>, env: Env) {
    const bodies = new Set(messages.map(({ body }) => body));
    for (let nth = 0; nth < bodies.size; nth++) await env.mail.send(email);
  },
};

export const throwsOnBadMessage = {
  async consume(batch: MessageBatch<string>, env: Env) {
    for (const { body } of batch.messages) {
      if (body === "bad") throw new Error("cannot read this");
      await env.mail.send({ ...email, key: body });
    }
  },
};
export const retriesBadMessage = {
  async consume(batch: MessageBatch<string>, env: Env) {
    for (const message of batch.messages) {
      if (message.body === "bad") message.retry();
      else await env.mail.send({ ...email, key: message.body });
    }
  },
};

export const readsDeadLetters = {
  ...retriesBadMessage,
  async consumeDeadLetters(batch: MessageBatch<string>, env: Env) {
    for (const { body } of batch.messages) await env.alerts.send({ ...email, subject: body });
  },
};

const retriesAfter = (delaySeconds: number) => ({
  async consume(batch: MessageBatch, env: Env) {
    for (const message of batch.messages) {
      try {
        await env.mail.send(email);
      } catch {
        message.retry({ delaySeconds });
      }
    }
  },
});
export const retriesAtOnce = retriesAfter(0);
export const retriesAfterASecond = retriesAfter(1);

const mailsFromInstance = (key?: (instanceId: string) => string) => ({
  async run({ instanceId }: Event, step: WorkflowStep, env: Env) {
    await step.do("send mail", () =>
      env.mail.send(key ? { ...email, key: key(instanceId) } : email),
    );
  },
});
const createPerMessage = {
  async consume(batch: MessageBatch<string>, env: Env) {
    for (const { body } of batch.messages) await env.WORKFLOW.create({ id: body });
  },
};
export const instancePerMessage = { ...createPerMessage, ...mailsFromInstance() };
export const instanceWithKeyPerMessage = {
  ...createPerMessage,
  ...mailsFromInstance((instanceId) => instanceId),
};
export const instancesPerBatch = {
  ...mailsFromInstance(),
  async consume({ messages }: MessageBatch<string>, env: Env) {
    await env.WORKFLOW.createBatch({ instances: messages.map(({ body }) => ({ id: body })) });
  },
};

export const mailPerRequest = {
  async handle(_request: Request, env: Env) {
    await env.mail.send(email);
    return new Response("sent");
  },
};
export const threeMessagesPerRequest = {
  ...mailPerMessage,
  async handle(_request: Request, env: Env) {
    await env.QUEUE.send("a");
    await env.QUEUE.sendBatch([{ body: "b" }, { body: "c" }]);
    // Time enough for a consumer that does not wait for the answer.
    await scheduler.wait(300);
    return new Response("queued", { status: 202 });
  },
};

const startsInstance = (id?: string) => ({
  async handle(_request: Request, env: Env) {
    try {
      await env.WORKFLOW.create(id ? { id } : {});
      return new Response("started", { status: 202 });
    } catch (error) {
      if (!String(error).includes("already_exists")) throw error;
      return new Response("already started");
    }
  },
  async run(_event: Event, step: WorkflowStep, env: Env) {
    await step.do("send mail", () => env.mail.send(email));
  },
});
export const randomId = startsInstance();
export const sameId = startsInstance("order-1");

const opensAccount = (key?: string) => ({
  async handle(request: Request, env: Env) {
    const { userId } = await request.json<{ userId: string }>();
    return Response.json(await env.accounts.open(key ? { userId, key } : { userId }));
  },
});
export const openWithoutKey = opensAccount();
export const openWithKey = opensAccount("account");
