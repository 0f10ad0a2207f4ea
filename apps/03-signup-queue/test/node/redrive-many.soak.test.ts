/** Many dead letters at once: a hundred in `pnpm test`, a thousand in `pnpm test:soak`. */
import { soak } from "@durable-lessons/test-kit/soak";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { PATIENTLY } from "@durable-lessons/test-kit";
import { QUEUES } from "../../src/queues.ts";
import { signupId } from "../../src/signup-id.ts";
import { deliveries, startWorkers, TOKEN, type Workers } from "./workers.ts";

const COUNT = soak(1000, 100);

let workers: Workers;
beforeAll(async () => {
  workers = await startWorkers();
});
afterAll(() => workers.close());

/** The signups whose messages were acked so far, each as often as one was. */
const served = async () =>
  (await deliveries(workers, QUEUES.signups)).flatMap(({ signups }) => signups);

test(`${COUNT} letters are redriven with one request: five at once send one message each`, async () => {
  const letters = await Promise.all(
    Array.from({ length: COUNT }, async (_, nth) => {
      const email = `many-${nth}@example.com`;
      return { id: await signupId(email), email };
    }),
  );
  await workers.DB.prepare(
    `INSERT INTO dead_letters (id, body, reason, stored_at)
     SELECT value ->> '$.id', value, 'an outage', 1 FROM json_each(?1)`,
  )
    .bind(JSON.stringify(letters))
    .run();
  const redriveAll = async () => {
    const response = await workers.fetch("/dead-letters/settle", {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ as: "redriven", reason: "an outage" }),
    });
    const { settled = 0 }: { settled?: number } = await response.json();
    return { status: response.status, settled };
  };
  const answers = await Promise.all(Array.from({ length: 5 }, redriveAll));
  expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200));
  expect(answers.reduce((sum, { settled }) => sum + settled, 0)).toBe(COUNT);
  const wanted = new Set(letters.map(({ id }) => id));
  await vi.waitUntil(
    async () => new Set((await served()).filter((id) => wanted.has(id))).size === COUNT,
    { ...PATIENTLY, timeout: 250_000 },
  );
  expect((await served()).filter((id) => wanted.has(id))).toHaveLength(COUNT);
}, 300_000);
