/**
 * What articles say about Workflows, asked of the real engine: each test runs a `run` of its own. The ids are those of
 * docs/claims.md.
 */
import { introspectWorkflowInstance } from "cloudflare:test";
import { PATIENTLY, untilOver } from "@durable-lessons/test-kit";
import { env, type WorkflowStep } from "cloudflare:workers";
import { NonRetryableError } from "cloudflare:workflows";
import { afterEach, expect, test, vi } from "vitest";
import { OrderWorkflow } from "../../src/index.ts";
import { stepsOf } from "../../src/steps.ts";
import { eventsOf, newParams, resume, runAs, untilStarted, untilWaiting } from "./helpers.ts";

afterEach(() => vi.restoreAllMocks());

const retries = (limit: number) => ({ retries: { limit, delay: 10 } });
const fails = async () => {
  throw new Error("no answer");
};

/** Runs it to its end. */
async function ending(run: (step: WorkflowStep) => Promise<unknown>) {
  const instance = await runAs((_event, step) => run(step));
  return { instance, over: await untilOver(instance) };
}

test("B1: by default a step is retried 5 times, exponentially, and may take 10 minutes", async () => {
  const { instance } = await ending((step) => step.do("step", async () => 1));
  const started = (await eventsOf(instance)).find(({ type }) => type === "step_started");
  expect(started).toMatchObject({
    // The delay is documented as 10 seconds; the local engine has 1.
    config: { retries: { limit: 5, backoff: "exponential", delay: 1000 }, timeout: "10 minutes" },
  });
});

test("B2: limit N is N + 1 attempts, numbered from 1", async () => {
  const attempts: number[] = [];
  const { over } = await ending((step) =>
    step.do("step", retries(3), async (ctx) => {
      attempts.push(ctx.attempt);
      return fails();
    }),
  );
  expect(attempts).toEqual([1, 2, 3, 4]);
  expect(over.status).toBe("errored");
});

test("B3: a late success goes on as if nothing had been", async () => {
  const { over } = await ending(async (step) => {
    const first = await step.do("step", retries(3), async ({ attempt }) =>
      attempt < 3 ? fails() : "late",
    );
    return step.do("next", async () => `${first} and on`);
  });
  expect(over).toMatchObject({ status: "complete", output: "late and on" });
});

test("B4: used up and uncaught, the instance is errored with the step's message", async () => {
  const { over } = await ending((step) => step.do("step", retries(1), fails));
  expect(over).toMatchObject({ status: "errored", error: { message: "no answer" } });
});

test("B4: used up and caught, it goes on", async () => {
  const { over } = await ending(async (step) => {
    const first = await step.do("step", retries(1), fails).catch((error: Error) => error.message);
    return step.do("next", async () => `after ${first}`);
  });
  expect(over).toMatchObject({ status: "complete", output: "after no answer" });
});

test("B5: a NonRetryableError is one attempt", async () => {
  let attempts = 0;
  const { instance, over } = await ending((step) =>
    step.do("step", retries(5), async () => {
      attempts += 1;
      throw new NonRetryableError("hopeless");
    }),
  );
  expect(attempts).toBe(1);
  // As deployed the local engine keeps no more than the kind; what it says of the attempt has the message.
  expect(over).toMatchObject({
    status: "errored",
    error: { message: expect.stringContaining("NonRetryableError") },
  });
  const [step] = await stepsOf(instance);
  expect(step?.attempts[0]?.error?.message).toContain("hopeless");
});

test("B5: with another name, the second argument, it is retried like any error", async () => {
  let attempts = 0;
  await ending((step) =>
    step.do("step", retries(2), async () => {
      attempts += 1;
      throw new NonRetryableError("hopeless", "BadCard");
    }),
  );
  expect(attempts).toBe(3);
});

test("B5: it goes by the name: any error that is called so ends the step", async () => {
  let attempts = 0;
  const { over } = await ending((step) =>
    step.do("step", retries(2), async () => {
      attempts += 1;
      throw Object.assign(new Error("hopeless"), { name: "NonRetryableError" });
    }),
  );
  expect(over.status).toBe("errored");
  expect(attempts).toBe(1);
});

test("B6: the retries of a later step do not run an earlier one", async () => {
  const calls: string[] = [];
  await ending(async (step) => {
    await step.do("first", async () => void calls.push("first"));
    await step.do("second", retries(2), async ({ attempt }) => {
      calls.push("second");
      if (attempt < 3) await fails();
    });
  });
  expect(calls).toEqual(["first", "second", "second", "second"]);
});

test("B7: an event wakes the wait with its payload, and run's value is the output", async () => {
  const instance = await runAs(async (_event, step) => {
    const event = await step.waitForEvent<{ n: number }>("wait", { type: "go" });
    return { type: event.type, n: event.payload.n, at: event.timestamp instanceof Date };
  });
  await instance.sendEvent({ type: "go", payload: { n: 7 } });
  expect(await untilOver(instance)).toMatchObject({
    status: "complete",
    output: { type: "go", n: 7, at: true },
  });
});

test("B8: a wait that times out throws a WorkflowTimeoutError that can be caught", async () => {
  const { over } = await ending((step) =>
    step
      .waitForEvent("wait", { type: "go", timeout: 1000 })
      .then(() => "answered")
      .catch((error: Error) => `${error.name}: ${error.message}`),
  );
  expect(over.output).toMatch(/WorkflowTimeoutError: Execution timed out after 1000ms$/);
});

test("B8: locally a pause passes through the same catch block, and is no timeout", async () => {
  const caught: string[] = [];
  const instance = await runAs(async (_event, step) =>
    step.waitForEvent("wait", { type: "go" }).catch((error: Error) => {
      caught.push(`${error.name}: ${error.message}`);
      throw error;
    }),
  );
  await untilWaiting(instance);
  await instance.pause();
  await vi.waitUntil(async () => (await instance.status()).status === "paused", PATIENTLY);
  await vi.waitUntil(() => caught.length > 0, PATIENTLY);
  expect(caught).toEqual([expect.stringContaining("User called pause")]);
  expect(caught[0]).not.toContain("WorkflowTimeoutError");
  await instance.terminate();
});

test("B9: without a timeout a wait lasts for 24 hours", async () => {
  const id = crypto.randomUUID();
  await using introspector = await introspectWorkflowInstance(env.ORDERS, id);
  await introspector.modify((modifier) => modifier.forceEventTimeout({ name: "wait" }));
  const instance = await runAs(
    async (_event, step) => step.waitForEvent("wait", { type: "go" }),
    id,
  );
  const over = await untilOver(instance);
  expect(over.error?.message).toContain(`Execution timed out after ${24 * 60 * 60 * 1000}ms`);
});

test("B10: a timed-out attempt goes on beside the next one", async () => {
  const ended: number[] = [];
  const { over } = await ending((step) =>
    step.do("step", { ...retries(1), timeout: 200 }, async ({ attempt }) => {
      if (attempt === 1) await scheduler.wait(1000);
      ended.push(attempt);
    }),
  );
  expect(over.status).toBe("complete");
  expect(ended).toEqual([2]);
  await vi.waitUntil(() => ended.length === 2, PATIENTLY);
  expect(ended).toEqual([2, 1]);
});

test("B14: a name that comes twice is two steps, counted", async () => {
  const { instance, over } = await ending(async (step) => [
    await step.do("same", async ({ step: { count } }) => count),
    await step.do("same", async ({ step: { count } }) => count),
  ]);
  expect(over.output).toEqual([1, 2]);
  const names = (await eventsOf(instance)).flatMap((event) =>
    event.type === "step_completed" ? event.stepName : [],
  );
  expect(names).toEqual(["same-1", "same-2"]);
});

test.each([
  ["awaited, ends the instance", true, { status: "errored", error: { message: "no answer" } }],
  ["un-awaited, is nobody's", false, { status: "complete", output: "done" }],
])("B16: a step's error, where it is %s", async (_name, isAwaited, outcome) => {
  const { over } = await ending(async (step) => {
    const pending = step.do("step", retries(0), fails);
    // For the test's runner, which counts rejections that nobody has looked at. It changes nothing for the instance.
    pending.catch(() => undefined);
    if (isAwaited) await pending;
    return "done";
  });
  expect(over).toMatchObject(outcome);
});

test("B19: locally a result of more than 1 MiB passes, which production refuses", async () => {
  const { over } = await ending(async (step) => {
    const text = await step.do("step", async () => "x".repeat(2 * 1024 * 1024));
    return text.length;
  });
  expect(over).toMatchObject({ status: "complete", output: 2 * 1024 * 1024 });
});

test("B21: locally an instance that waits says running; a pause waits for the step under way", async () => {
  const gate = Promise.withResolvers<void>();
  const instance = await runAs(async (_event, step) => {
    await step.waitForEvent("wait", { type: "go" });
    await step.do("step", async () => gate.promise);
  });
  await untilWaiting(instance);
  expect((await instance.status()).status).toBe("running");
  await instance.sendEvent({ type: "go", payload: null });
  await untilStarted(instance, "step");
  await instance.pause();
  expect((await instance.status()).status).toBe("waitingForPause");
  gate.resolve();
  await vi.waitUntil(async () => (await instance.status()).status === "paused", PATIENTLY);
  await instance.terminate();
});

test("B21: locally an instance that is being rolled back says running too", async () => {
  const undo = Promise.withResolvers<void>();
  let isUndoing = false;
  const rollback = async () => {
    isUndoing = true;
    await undo.promise;
  };
  const instance = await runAs(async (_event, step) => {
    await step.do("step", async () => 1, { rollback });
    throw new Error("failed");
  });
  await vi.waitUntil(() => isUndoing, PATIENTLY);
  expect((await instance.status()).status).toBe("running");
  undo.resolve();
  expect(await untilOver(instance)).toMatchObject({ status: "errored" });
});

test("B22: pause, resume and terminate do what they say; when it is over they fail, or do nothing", async () => {
  const instance = await runAs(async (_event, step) => step.waitForEvent("wait", { type: "go" }));
  await untilWaiting(instance);
  await instance.pause();
  await vi.waitUntil(async () => (await instance.status()).status === "paused", PATIENTLY);
  await resume(instance);
  expect((await instance.status()).status).toBe("running");
  await instance.terminate();
  expect(await untilOver(instance)).toMatchObject({ status: "terminated" });
  await expect(instance.terminate()).rejects.toThrow("instance.cannot_terminate");
  await instance.pause();
  expect((await instance.status()).status).toBe("terminated");
});

test("B22: a restart begins with the first step, and forgets every result", async () => {
  const calls: string[] = [];
  const { instance } = await ending(async (step) => {
    await step.do("first", async () => void calls.push("first"));
    await step.do("second", async () => void calls.push("second"));
  });
  await instance.restart();
  expect(await untilOver(instance)).toMatchObject({ status: "complete" });
  expect(calls).toEqual(["first", "second", "first", "second"]);
});

test("B24: a changed finished step keeps its old result until it is restarted from", async () => {
  let version = "old";
  const instance = await runAs(async (_event, step) => {
    const first = await step.do("first", async () => `first ${version}`);
    const second = await step.do("second", async () => `second ${version}`);
    return [first, second];
  });
  expect((await untilOver(instance)).output).toEqual(["first old", "second old"]);
  version = "new";

  const restarted = async (name: string) => {
    await instance.restart({ from: { name } });
    await vi.waitUntil(async () => (await instance.status()).status === "complete", PATIENTLY);
    return (await instance.status()).output;
  };
  expect(await restarted("second")).toEqual(["first old", "second new"]);
  expect(await restarted("first")).toEqual(["first new", "second new"]);
});

test("B23: a restart from a step keeps what came before; code outside steps runs again", async () => {
  const calls: string[] = [];
  const { instance } = await ending(async (step) => {
    calls.push("outside");
    await step.do("first", async () => void calls.push("first"));
    await step.do("second", async () => void calls.push("second"));
  });
  await instance.restart({ from: { name: "second" } });
  await vi.waitUntil(async () => (await instance.status()).status === "complete", PATIENTLY);
  expect(calls).toEqual(["outside", "first", "second", "outside", "second"]);
});

test("B23: a step that was rolled back keeps its result: a restart from a later one believes in it", async () => {
  const calls: string[] = [];
  let isDown = true;
  const { instance, over } = await ending(async (step) => {
    const charge = await step.do(
      "charge",
      async () => {
        calls.push("charge");
        return "paid";
      },
      { rollback: async () => void calls.push("refund") },
    );
    await step.do("ship", retries(0), async () => {
      calls.push("ship");
      if (isDown) await fails();
    });
    return charge;
  });
  expect(over.status).toBe("errored");
  isDown = false;
  await instance.restart({ from: { name: "ship" } });
  await vi.waitUntil(async () => (await instance.status()).status === "complete", PATIENTLY);
  expect((await instance.status()).output).toBe("paid");
  expect(calls).toEqual(["charge", "ship", "refund", "ship"]);
});

test("B23: a step that is not in the history cannot be restarted from", async () => {
  const { instance } = await ending((step) => step.do("first", async () => 1));
  await expect(instance.restart({ from: { name: "second" } })).rejects.toThrow(
    "instance.cannot_restart",
  );
  expect((await instance.status()).status).toBe("complete");
});

test("B18: an id stands for one instance", async () => {
  let runs = 0;
  const instance = await runAs(async () => (runs += 1));
  await env.ORDERS.create({ id: instance.id, params: newParams() }).catch(() => undefined);
  expect(await untilOver(await env.ORDERS.get(instance.id))).toMatchObject({ output: 1 });
  expect(runs).toBe(1);
});

test("B25: an id that is taken is refused, and the message says so", async () => {
  const { instance } = await ending(async () => "first");
  await expect(env.ORDERS.create({ id: instance.id, params: newParams() })).rejects.toThrow(
    `(instance.already_exists) Workflow instance with id "${instance.id}" already exists`,
  );
});

test("B25: locally, of calls at the very same moment none is refused, and one runs", async () => {
  const id = crypto.randomUUID();
  let runs = 0;
  vi.spyOn(OrderWorkflow.prototype, "run").mockImplementation(async () => {
    runs += 1;
    return { status: "shipped", orderId: id, chargeId: "", parcelId: "" };
  });
  const answers = await Promise.allSettled(
    Array.from({ length: 5 }, () => env.ORDERS.create({ id, params: newParams() })),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(5).fill("fulfilled"));
  await untilOver(await env.ORDERS.get(id));
  expect(runs).toBe(1);
});

test("B26: under one id the second flow never runs, under two both do", async () => {
  const flows: string[] = [];
  const start = async (flow: string, id: string) => {
    const instance = await runAs(async () => void flows.push(flow), id);
    await untilOver(instance);
  };
  const order = crypto.randomUUID();
  await start("order", order);
  await expect(start("return", order)).rejects.toThrow("instance.already_exists");
  expect(flows).toEqual(["order"]);
  await start("return", `return-${order}`);
  expect(flows).toEqual(["order", "return"]);
});

test("B27: createBatch lists what is taken and what is there twice, and creates the rest", async () => {
  const { instance: taken } = await ending(async () => "ran");
  const fresh = crypto.randomUUID();
  const params = newParams();
  const { created, errors } = await env.ORDERS.createBatch({
    instances: [taken.id, fresh, fresh].map((id) => ({ id, params })),
  });
  expect(created.map(({ id }) => id)).toEqual([fresh]);
  expect(errors).toMatchObject([
    { index: 0, id: taken.id, code: 10405 },
    { index: 2, id: fresh, code: 10415 },
  ]);
});

test("B27: in the form with a list it drops them in silence", async () => {
  const { instance: taken } = await ending(async () => "ran");
  const fresh = crypto.randomUUID();
  const params = newParams();
  const created = await env.ORDERS.createBatch([taken.id, fresh].map((id) => ({ id, params })));
  expect(created.map(({ id }) => id)).toEqual([fresh]);
});

test("B28: the delay can be a function of the error and the attempt", async () => {
  const { instance } = await ending((step) =>
    step.do(
      "step",
      {
        retries: {
          limit: 2,
          backoff: "constant",
          delay: ({ ctx, error }) => Number(error.message) + ctx.attempt,
        },
      },
      async ({ attempt }) => {
        throw new Error(String(attempt * 10));
      },
    ),
  );
  const delays = (await eventsOf(instance)).flatMap((event) =>
    event.type === "attempt_errored" ? [event.retryDelayMs] : [],
  );
  expect(delays).toEqual([11, 22, undefined]);
});

test("B28: without another back-off the default one multiplies its result", async () => {
  const { instance } = await ending((step) =>
    step.do("step", { retries: { limit: 2, delay: () => 10 } }, fails),
  );
  const delays = (await eventsOf(instance)).flatMap((event) =>
    event.type === "attempt_errored" ? [event.retryDelayMs] : [],
  );
  expect(delays).toEqual([10, 20, undefined]);
});

test("B35: a Worker can start a run, from any handler and from another Workflow", async () => {
  const id = crypto.randomUUID();
  const { over } = await ending(async (step) => {
    const started = await step.do("start another", async () => {
      const instance = await env.ORDERS.create({ id, params: newParams() });
      return instance.id;
    });
    return started === id;
  });
  expect(over).toMatchObject({ status: "complete", output: true });
  expect((await env.ORDERS.get(id)).id).toBe(id);
});

test("B31: the id of a deleted instance is free again", async () => {
  const { instance } = await ending(async () => "first");
  await instance.delete();
  const again = await runAs(async () => "second", instance.id);
  expect(await untilOver(again)).toMatchObject({ output: "second" });
});
