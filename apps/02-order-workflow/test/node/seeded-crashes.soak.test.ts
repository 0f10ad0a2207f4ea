/**
 * Ten SIGKILLs under fifty orders at once; in `pnpm test` three, and fewer orders. Every order has a seed: it says which calls of its providers fail, which hang
 * until the kill (before or after their effect), when the review comes and what it says. Run one again with
 * SEEDS=17 (or SEEDS=1-200) pnpm test:soak.
 */
import {
  type Fault,
  type FaultScript,
  hangsByRun,
  type Operation,
} from "@durable-lessons/outside-world";
import { randomOf } from "@durable-lessons/lab/random";
import { soak } from "@durable-lessons/test-kit/soak";
import { expect, test, vi } from "vitest";
import { delivered, idOf, lessonOfFile, newOrder } from "./helpers.ts";

const CRASHES = soak(10, 3);
const PATIENTLY = { timeout: 90_000, interval: 250 };
const [first = 1, last = first] = (process.env["SEEDS"] ?? soak("1-50", "1-15"))
  .split("-")
  .map(Number);
const seeds = Array.from({ length: last - first + 1 }, (_, nth) => first + nth);

const { runtime, shop } = lessonOfFile();

interface Plan {
  seed: number;
  orderId: string;
  faults: FaultScript;
  /** The review comes after that many crashes. */
  reviewAfter: number;
  approved: boolean;
}

function planOf(seed: number): Plan {
  const random = randomOf(seed);
  const pick = <T>(one: T, ...others: T[]) => [one, ...others][random(others.length + 1)] ?? one;
  const approved = random(4) > 0;
  const reviewAfter = random(4);
  const operations: Operation[] = approved
    ? ["stock.reserve", "payments.charge", "carrier.ship", "mail.send"]
    : ["stock.reserve", "payments.charge", "payments.refund", "stock.release"];
  const lists = new Map<Operation, Fault[]>(operations.map((operation) => [operation, []]));
  for (let crash = reviewAfter; crash < CRASHES; crash++) {
    const list = lists.get(operations[random(operations.length)] ?? "stock.reserve");
    list?.push(...Array(random(2)).fill(pick<Fault>("fail", "fail-after-effect")));
    list?.push(pick<Fault>("hang", "hang-after-effect"));
  }
  // Some carriers and mail providers never recover by themselves.
  if (random(4) === 0 && approved) {
    lists.get("carrier.ship")?.push(...Array(12).fill("fail"));
    // The way back is no smoother than the way there.
    lists.set("carrier.recall", ["hang-after-effect"]);
    lists.set("payments.refund", ["fail-after-effect"]);
    lists.set("stock.release", ["fail-after-effect"]);
  }
  if (random(4) === 0) lists.get("mail.send")?.push(...Array(12).fill("fail"));
  const orderId = `seed_${seed}`;
  return { seed, orderId, faults: Object.fromEntries(lists), reviewAfter, approved };
}

/** How the orders stand: their state, and how many of their calls have hung. */
async function look(plans: Plan[]) {
  const { DB, WORLD } = await shop.bindings();
  const rows = await DB.prepare("SELECT order_id, state FROM orders").all<{
    order_id: string;
    state: string;
  }>();
  const hangs = await hangsByRun(WORLD);
  const states = new Map(rows.results.map(({ order_id, state }) => [order_id, state]));
  return plans.map((plan) => ({
    plan,
    state: states.get(plan.orderId) ?? "",
    hangs: hangs.get(idOf(plan.orderId)) ?? 0,
  }));
}

const isClosed = (state: string) => state === "complete" || state === "cancelled";

/** What people do for an order: review it when its time has come, send the mail once it works, finish a failed undo. */
async function tend({ plan, state }: { plan: Plan; state: string }, crashes: number) {
  if (state === "in review" && plan.reviewAfter <= crashes) {
    const body = { approved: plan.approved, reviewer: "bob" };
    await shop.send("POST", `/orders/${plan.orderId}/review`, body);
  }
  const { ORDERS } = await shop.bindings();
  const { status } = await (await ORDERS.get(idOf(plan.orderId))).status();
  if (status === "errored" && !isClosed(state)) {
    const body = state === "shipped" ? { from: "send mail" } : {};
    await shop.send("POST", `/orders/${plan.orderId}/restart`, body);
  }
}

test(`one charge, one parcel, one mail, or a full compensation: seeds ${first} to ${last}`, async () => {
  const plans = seeds.map(planOf);
  await Promise.all(plans.map(({ orderId, faults }) => shop.place(faults, newOrder({ orderId }))));

  let before = new Map<number, number>();
  for (let crashes = 0; crashes < CRASHES; crashes++) {
    // Every third time as soon as one order hangs: the others are anywhere then. Else when all hang, wait or are over.
    const impatient = crashes % 3 === 2;
    await vi.waitUntil(async () => {
      const orders = await look(plans);
      const moving = orders.filter(
        ({ plan, state, hangs }) =>
          !isClosed(state) &&
          hangs <= (before.get(plan.seed) ?? 0) &&
          (state !== "in review" || plan.reviewAfter <= crashes),
      );
      await Promise.all(moving.map((order) => tend(order, crashes)));
      return impatient ? moving.length < orders.length : moving.length === 0;
    }, PATIENTLY);
    before = new Map((await look(plans)).map(({ plan, hangs }) => [plan.seed, hangs]));
    expect((await runtime.crash()).signal).toBe("SIGKILL");
    const open = (await look(plans)).filter(({ state }) => !isClosed(state));
    await Promise.all(open.map(({ plan }) => shop.wake(plan.orderId)));
  }

  const orders = await vi.waitUntil(async () => {
    const seen = await look(plans);
    const open = seen.filter(({ state }) => !isClosed(state));
    await Promise.all(open.map((order) => tend(order, CRASHES)));
    return open.length === 0 && seen;
  }, PATIENTLY);

  for (const { plan, state } of orders) {
    const { "parcel.recalled": recalled = 0, ...effects } = await shop.evidence(plan.orderId);
    const charged = "card.charged" in effects;
    const shipped = "parcel.shipped" in effects;
    const compensated = {
      // Released also where the reservation's outcome is not known.
      ...("stock.reserved" in effects ? { "stock.reserved": 1 } : {}),
      "stock.released": 1,
      ...(charged ? { "card.charged": 1, "card.refunded": 1 } : {}),
      // It left without a receipt.
      ...(shipped ? { "parcel.shipped": 1 } : {}),
    };
    const { seed } = plan;
    const complete = state === "complete";
    expect({ seed, state, effects, recalled }).toEqual({
      seed,
      state,
      effects: complete ? delivered : compensated,
      // What never left may be recalled or not, but once.
      recalled: complete ? 0 : shipped ? 1 : Math.min(recalled, 1),
    });
  }
  // The plans were carried out, not passed by.
  expect(orders.reduce((sum, { hangs }) => sum + hangs, 0)).toBeGreaterThan(seeds.length);
}, 600_000);
