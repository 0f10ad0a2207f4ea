/**
 * Three hundred commands at once on twenty orders, three times; in `pnpm test` forty on eight. A seed says which: run one again
 * with SEED=17 pnpm test:soak.
 */
import { randomOf } from "@durable-lessons/lab/random";
import { soak } from "@durable-lessons/test-kit/soak";
import { expect, test, vi } from "vitest";
import { approval, delivered, givenBack, inReview, lessonOfFile } from "./helpers.ts";

const COMMANDS = soak(300, 40);
const WAVES = 3;
const ORDERS = soak(20, 8);
const PATIENTLY = { timeout: 90_000, interval: 250 };
const seed = Number(process.env["SEED"] ?? 1);

const { shop } = lessonOfFile();

/** What is left of an order that was cancelled before its card was charged. */
const kept = { "stock.released": 1 };
const released = { "stock.released": 1, "stock.reserved": 1 };

test(`every order comes to one end, whoever commands what at once: seed ${seed}`, async () => {
  const random = randomOf(seed);
  const pick = <T>(one: T, ...others: T[]) => [one, ...others][random(others.length + 1)] ?? one;
  const orders = await Promise.all(Array.from({ length: ORDERS }, () => shop.place()));
  // Each begins at another place of its way: some are placed only just now, some wait for their review.
  await Promise.all(
    orders.slice(0, ORDERS / 2).map(({ request }) => shop.until(request.orderId, inReview)),
  );

  const command = async () => {
    const { path } = pick(...(orders as [(typeof orders)[number]]));
    const [name, body] = pick<[string, unknown]>(
      ["review", approval],
      ["review", { ...approval, approved: false }],
      ["terminate", undefined],
      ["restart", {}],
      ["restart", { from: "charge card" }],
      ["restart", { from: "ask for review" }],
    );
    const sent = performance.now();
    const { status } = await shop.send("POST", `${path}/${name}`, body);
    return { name, status, ms: performance.now() - sent };
  };
  const answers = [];
  for (let wave = 0; wave < WAVES; wave++) {
    answers.push(...(await Promise.all(Array.from({ length: COMMANDS }, command))));
  }
  expect(answers.filter(({ status }) => status !== 202 && status !== 409)).toEqual([]);
  const longest = Math.max(...answers.map(({ ms }) => ms));
  process.stdout.write(
    `seed ${seed}: the longest of ${answers.length} answers took ${Math.round(longest)} ms\n`,
  );
  // Whoever comes first to an order is let in.
  const done = answers.filter(({ status }) => status === 202).map(({ name }) => name);
  expect(done.length).toBeGreaterThanOrEqual(ORDERS);

  for (const { request, path } of orders) {
    // Who has had no review yet gets one. Nothing else is done for any of them.
    const { state } = await vi.waitUntil(async () => {
      const order = await shop.order(request.orderId);
      if (inReview(order) && !order["review"]) await shop.send("POST", `${path}/review`, approval);
      return (order.state === "complete" || order.state === "cancelled") && order;
    }, PATIENTLY);
    // Nobody has the money without the parcel, or the parcel without the money.
    const { "parcel.recalled": _recalled, ...effects } = await shop.evidence(request.orderId);
    const cancelled = effects["card.charged"] ? [givenBack] : [{}, kept, released];
    expect(state === "complete" ? [delivered] : cancelled).toContainEqual(effects);
  }
}, 300_000);
