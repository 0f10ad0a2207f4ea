/**
 * Two thousand orders, each message delivered twice, and workerd killed three times on the way; in `pnpm test` two hundred,
 * and one kill. A seed says which calls of the providers fail or lose their answer, and when the kills come. Another one,
 * or fewer: SEED=17 ORDERS=500 pnpm test:soak
 */
import {
  evidenceByRun,
  type Fault,
  type FaultScript,
  hangsByRun,
  scriptManyRuns,
} from "@durable-lessons/outside-world";
import { instanceIdFor } from "@durable-lessons/idempotency";
import { randomOf } from "@durable-lessons/lab/random";
import { LessonRuntime } from "@durable-lessons/lab/runner";
import { soak } from "@durable-lessons/test-kit/soak";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { FulfilmentOrder } from "../../src/schemas.ts";
import { bindings, hundreds, lesson, orderOf, post, shippedIds, TOKEN, wake } from "./helpers.ts";

const ORDERS = Number(process.env["ORDERS"] ?? soak(2000, 200));
const KILLS = soak(3, 1);
/** Requests of the client at a time. */
const PARALLEL = 4;
/** A look at two thousand orders is work for the runtime, too: not too often. */
const PATIENTLY = { timeout: 600_000, interval: soak(2000, 200) };
const seed = Number(process.env["SEED"] ?? 4);

const random = randomOf(seed);

let runtime: LessonRuntime;
beforeAll(async () => {
  runtime = await LessonRuntime.start(lesson, { OPERATOR_TOKEN: TOKEN });
});
afterAll(() => runtime.close());

/** One provider in a dozen has a bad moment. */
function faultsOf(): FaultScript {
  const faults: FaultScript = {};
  for (const operation of ["stock.reserve", "payments.charge", "carrier.ship"] as const) {
    if (random(12) > 0) continue;
    const fault: Fault = random(2) === 0 ? "fail" : "fail-after-effect";
    faults[operation] = [fault];
  }
  return faults;
}

/**
 * Sends orders as their client does, and puts each message into the queue a second time.
 *
 * @param onAnswer called with the number of answers so far; once the signal is aborted no more is sent
 */
async function sendTwice(
  orders: FulfilmentOrder[],
  signal: AbortSignal,
  onAnswer: (answers: number) => void,
): Promise<void> {
  const batches = hundreds(orders);
  const { ORDERS: queue } = await bindings(runtime);
  let answers = 0;
  async function client() {
    for (let batch = batches.shift(); batch && !signal.aborted; batch = batches.shift()) {
      try {
        await post(runtime, batch, signal);
        answers += 1;
        onAnswer(answers);
        if (!signal.aborted) await queue.sendBatch(batch.map((body) => ({ body })));
      } catch (error) {
        // A busy runtime may close a connection that has been idle. Whoever got no answer asks again.
        if (!signal.aborted) console.error("sent again:", String(error));
        batches.push(batch);
      }
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, client));
}

test(`every order is charged and shipped exactly once: seed ${seed}`, async () => {
  const orders = Array.from({ length: ORDERS }, (_, nth) => orderOf(`seed-${seed}`, nth));
  const ids = new Map(
    await Promise.all(
      orders.map(async ({ orderId }) => [orderId, await instanceIdFor("fulfil", orderId)] as const),
    ),
  );
  const { WORLD } = await bindings(runtime);
  await scriptManyRuns(
    WORLD,
    [...ids.values()].map((id) => [id, faultsOf()]),
  );

  /** What the client still waits for. */
  async function openOrders() {
    const shipped = await shippedIds(runtime);
    return orders.filter(({ orderId }) => !shipped.has(orderId));
  }
  async function wakeStarted(open: FulfilmentOrder[]) {
    const started = await hangsByRun((await bindings(runtime)).WORLD);
    await wake(
      runtime,
      open.map(({ orderId }) => ids.get(orderId) ?? "").filter((id) => started.has(id)),
    );
  }

  let open = orders;
  for (let kill = 1; kill <= KILLS; kill++) {
    // The kill comes with one of the first answers: the other requests are on their way then, messages lie in the queue,
    // and instances are anywhere.
    const killAt = 1 + random(Math.min(5, hundreds(open).length));
    const stop = new AbortController();
    const reached = Promise.withResolvers<void>();
    const sending = sendTwice(open, stop.signal, (answers) => {
      if (answers === killAt) reached.resolve();
    });
    await reached.promise;
    stop.abort(new Error("The connection is lost."));
    expect((await runtime.crash()).signal).toBe("SIGKILL");
    await sending;

    open = await vi.waitFor(openOrders, PATIENTLY);
    expect(open.length).toBeGreaterThan(0);
    console.error(`kill ${kill}: ${ORDERS - open.length} of ${ORDERS} were shipped`);
    await vi.waitFor(() => wakeStarted(open), PATIENTLY);
  }
  // What lay in the local queue is gone (in production it is not). The client got no parcel, and asks again.
  await sendTwice(open, new AbortController().signal, () => undefined);
  await vi.waitFor(async () => {
    open = await openOrders();
    // An instance that was created a moment before a kill has not called anybody yet: by now every order has one.
    await wake(
      runtime,
      open.map(({ orderId }) => ids.get(orderId) ?? ""),
    );
    expect(open).toEqual([]);
  }, PATIENTLY);

  // By order, not by sum: two of one and none of another would add up as well.
  const evidence = await evidenceByRun((await bindings(runtime)).WORLD);
  const once = { "card.charged": 1, "parcel.shipped": 1, "stock.reserved": 1 };
  expect(Object.fromEntries(evidence)).toEqual(
    Object.fromEntries([...ids.values()].map((id) => [id, once])),
  );
}, 1_800_000);
