/** A review that is written down in the moment in which the wait gives up, and then a crash. */
import type { LessonRuntime } from "@durable-lessons/lab/runner";
import { hangingCalls } from "@durable-lessons/outside-world";
import { PATIENTLY } from "@durable-lessons/test-kit";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { approval, clientOf, delivered, idOf, inReview, isOver, startLesson } from "./helpers.ts";

let runtime: LessonRuntime;
let shop: ReturnType<typeof clientOf>;

beforeAll(async () => {
  runtime = await startLesson({ REVIEW_TIMEOUT: 3000 });
  shop = clientOf(runtime);
});
afterAll(() => runtime.close());

test("B8: an order that was approved in the last moment is delivered, also over a crash", async () => {
  const { request } = await shop.place({ "carrier.ship": ["hang"] });
  await shop.until(request.orderId, inReview);
  // Written into the row, and no event: the wait times out.
  const { DB } = await shop.bindings();
  await DB.prepare("UPDATE orders SET review = ?2 WHERE order_id = ?1")
    .bind(request.orderId, JSON.stringify(approval))
    .run();
  await vi.waitUntil(async () => {
    const { WORLD } = await shop.bindings();
    return (await hangingCalls(WORLD, idOf(request.orderId))).length > 0;
  }, PATIENTLY);

  expect((await runtime.crash()).signal).toBe("SIGKILL");
  await shop.wake(request.orderId);
  expect(await shop.until(request.orderId, isOver)).toMatchObject({ state: "complete" });
  expect(await shop.evidence(request.orderId)).toEqual(delivered);
});
