import { PATIENTLY } from "@durable-lessons/test-kit";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { QUEUES } from "../../src/queues.ts";
import { signupId } from "../../src/signup-id.ts";
import { deliveries, mailsOf, startWorkers, TOKEN, type Workers } from "./workers.ts";

let workers: Workers;
beforeAll(async () => {
  workers = await startWorkers();
});
afterAll(() => workers.close());

async function newLetter(body: unknown) {
  const id = crypto.randomUUID();
  await workers.DB.prepare(
    "INSERT INTO dead_letters (id, body, reason, stored_at) VALUES (?1, ?2, 'test', ?3)",
  )
    .bind(id, JSON.stringify(body), Date.now())
    .run();
  return id;
}

const redrive = (id: string) =>
  workers.fetch(`/dead-letters/${id}/redrive`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}` },
  });

/** The signups whose messages were acked so far, each as often as one was. */
const served = async () =>
  (await deliveries(workers, QUEUES.signups)).flatMap(({ signups }) => signups);

/** Sends a signup through the queue and waits until it is served: what was sent before it has been served by then. */
async function untilServed() {
  const email = `last-${crypto.randomUUID()}@example.com`;
  const id = await signupId(email);
  await workers.SIGNUPS.send({ id, email });
  await vi.waitUntil(async () => (await served()).includes(id), PATIENTLY);
}

const mails = (id: string) => mailsOf(workers, id);

test("five redrives at once and one more send one message, with the id it had", async () => {
  const email = "ada@example.com";
  const signup = { id: await signupId(email), email };
  const id = await newLetter(signup);
  const answers = await Promise.all(Array.from({ length: 5 }, () => redrive(id)));
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  expect(statuses).toEqual([200, 409, 409, 409, 409]);
  expect((await redrive(id)).status).toBe(409);
  await untilServed();
  expect((await served()).filter((one) => one === signup.id)).toHaveLength(1);
  expect(await mails(signup.id)).toBe(1);

  // It is the signup's own id, so that the form knows it too.
  await workers.fetch("/signup", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: "ada@Example.COM" }),
  });
  await untilServed();
  expect(await mails(signup.id)).toBe(1);
});

test("a redrive of what was done after all sends no second mail", async () => {
  const email = "bob@example.com";
  const signup = { id: await signupId(email), email };
  await workers.SIGNUPS.send(signup);
  await untilServed();
  const id = await newLetter(signup);
  expect((await redrive(id)).status).toBe(200);
  await untilServed();
  expect(await mails(signup.id)).toBe(1);
});

test("a redrive of what still cannot be read is a dead letter again, under its own new id", async () => {
  const id = await newLetter({ email: null, mark: "unreadable" });
  expect((await redrive(id)).status).toBe(200);
  await untilServed();
  const rows = await workers.DB.prepare(
    "SELECT id, settled_by FROM dead_letters WHERE id = ?1 OR body ->> '$.mark' = 'unreadable' ORDER BY stored_at",
  )
    .bind(id)
    .all<{ id: string; settled_by: string | null }>();
  expect(rows.results).toEqual([
    { id, settled_by: "ada" },
    { id: expect.not.stringMatching(id), settled_by: null },
  ]);
});
