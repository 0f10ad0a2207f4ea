import { callsOf, evidenceByRun, scriptManyRuns } from "@durable-lessons/outside-world";
import { soak } from "@durable-lessons/test-kit/soak";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { QUEUES } from "../../src/queues.ts";
import { signupId } from "../../src/signup-id.ts";
import { deliveries, letters, startWorkers, type Workers } from "./workers.ts";

const SIGNUPS = soak(1000, 100);
const TIMEOUT_MS = 240_000;

let workers: Workers;
beforeAll(async () => {
  workers = await startWorkers();
});
afterAll(() => workers.close());

test(
  `C5: ${SIGNUPS} signups, a fifth of the mails failing once, every message at least twice: ${SIGNUPS} mails`,
  { timeout: TIMEOUT_MS },
  async () => {
    const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 32));
    console.error(`seed ${seed}: run again with SEED=${seed}`);
    const random = randomFrom(seed);
    const people = await Promise.all(
      Array.from({ length: SIGNUPS }, async (_, nth) => {
        const email = `person-${nth}@example.com`;
        return { id: await signupId(email), email, name: `Person ${nth}` };
      }),
    );

    // A fifth of them meet a mail provider that fails: before the mail, or after it.
    const failing = shuffled(people, random).slice(0, SIGNUPS / 5);
    await scriptManyRuns(
      workers.WORLD,
      failing.map(({ id }) => [
        id,
        { "mail.send": [random() < 0.5 ? "fail" : "fail-after-effect"] },
      ]),
    );

    // Every message once through the producer, and once, twice or three times more as a queue may deliver it again.
    const posts = shuffled(people, random).map((person) => () => signUp(person));
    const copies = shuffled(
      people.flatMap((person) =>
        Array.from({ length: 1 + Math.floor(random() * 3) }, () => person),
      ),
      random,
    );
    const batches = chunks(copies, 40).map((chunk) => async () => {
      await workers.SIGNUPS.sendBatch(chunk.map((body) => ({ body })));
    });
    await tenAtATime(shuffled([...posts, ...batches], random));

    const sent = people.length + copies.length;
    // Acked as served, or as dead: a dead letter has the message's own id.
    const settled = async () => {
      const queues = [QUEUES.signups, QUEUES.signupsDeadLetters];
      const delivered = await Promise.all(queues.map((queue) => deliveries(workers, queue)));
      return new Set(delivered.flat().flatMap(({ acked }) => acked)).size;
    };
    await vi.waitUntil(async () => (await settled()) === sent, {
      timeout: TIMEOUT_MS,
      interval: 500,
    });

    const evidence = await evidenceByRun(workers.WORLD);
    expect(Object.fromEntries(evidence)).toEqual(
      Object.fromEntries(people.map(({ id }) => [id, { "email.sent": 1 }])),
    );
    expect(await letters(workers)).toBe(0);
    expect(await deliveries(workers, QUEUES.signupsDeadLetters)).toEqual([]);
    // It was no calm sea: the failures were there, and so were the messages that met them.
    const calls = await callsOf(workers.WORLD);
    expect(calls.filter(({ fault }) => fault !== null)).toHaveLength(failing.length);
    // It is the consumer that knows the copies: the provider, which knows the keys too, was asked for none of them.
    expect(calls).toHaveLength(SIGNUPS + failing.length);
    const all = await deliveries(workers, QUEUES.signups);
    expect(all.flatMap(({ retried }) => retried).length).toBeGreaterThanOrEqual(failing.length);
  },
);

async function signUp({ email, name }: { email: string; name: string }): Promise<void> {
  const response = await workers.fetch("/signup", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email, name }),
  });
  expect(response.status).toBe(202);
  await response.arrayBuffer();
}

async function tenAtATime(work: (() => Promise<void>)[]): Promise<void> {
  const waiting = work.values();
  const lanes = Array.from({ length: 10 }, async () => {
    for (const item of waiting) await item();
  });
  await Promise.all(lanes);
}

const chunks = <T>(items: T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, nth) =>
    items.slice(nth * size, (nth + 1) * size),
  );

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** A small generator of numbers from 0 to 1 that can be started again: a run can be repeated (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
