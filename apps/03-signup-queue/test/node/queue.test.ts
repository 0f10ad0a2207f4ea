import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { effectsOf, evidenceOf, keptOf } from "@durable-lessons/outside-world";
import { PATIENTLY } from "@durable-lessons/test-kit";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ALERTS } from "../../src/alert-operators.ts";
import { QUEUES } from "../../src/queues.ts";
import { signupId } from "../../src/signup-id.ts";
import { deliveries, mailsOf, startWorkers, type Workers } from "./workers.ts";

/** What whoever is on duty has been told. */
const alerts: unknown[] = [];
const webhook = createServer((request, response) => {
  void json(request).then((alert) => {
    alerts.push(alert);
    response.end();
  });
});
let workers: Workers;
beforeAll(async () => {
  await new Promise<void>((listening) => webhook.listen(0, "localhost", listening));
  workers = await startWorkers({
    ALERT_WEBHOOK: `http://localhost:${(webhook.address() as AddressInfo).port}/`,
  });
});
afterAll(async () => {
  await workers.close();
  webhook.close();
});

const signUp = (body: unknown) =>
  workers.fetch("/signup", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

const mailsTo = (id: string) => mailsOf(workers, id);
const until = (condition: () => Promise<boolean>) => vi.waitUntil(condition, PATIENTLY);
const sizes = async () => (await deliveries(workers, QUEUES.signups)).map(({ size }) => size);

test("C2: a batch is delivered when it is full, or when its time is over", async () => {
  const before = (await sizes()).length;
  await workers.SIGNUPS.sendBatch(
    Array.from({ length: 23 }, (_, nth) => ({ body: { id: `c2-${nth}`, email: "a@example.com" } })),
  );
  await until(async () => (await mailsTo("c2-22")) === 1);
  await until(async () => (await sizes()).length === before + 3);
  expect((await sizes()).slice(before)).toEqual([10, 10, 3]);
});

test("what the producer accepts survives the trip unchanged, and each person gets a mail", async () => {
  const people = [
    { name: "Ada Lovelace", email: "ada@example.com" },
    { name: "", email: "no-name@example.com" },
    { name: "名前 🦊 e\u0301 ", email: "用户@例子.公司" },
    { name: "\u00FC in both forms: u\u0308", email: "Ju\u0308rgen.\u00FC@example.com" },
    {
      name: "x".repeat(100),
      email: `${"x".repeat(64)}@${"y".repeat(60)}.${"z".repeat(60)}.${"w".repeat(55)}.example`,
    },
    { name: "<script>\"&'", email: "o'brien+tag@example.co.uk" },
  ];
  const ids = await Promise.all(
    people.map(async (person) => {
      const response = await signUp(person);
      expect(response.status).toBe(202);
      return ((await response.json()) as { id: string }).id;
    }),
  );
  for (const [nth, { name, email }] of people.entries()) {
    const id = ids[nth] ?? "";
    await until(async () => (await mailsTo(id)) === 1);
    const [mail] = await effectsOf(workers.WORLD, id);
    const text = name ? `Hello ${name}, good to have you.` : "Hello, good to have you.";
    expect(mail?.detail).toEqual(await keptOf(id, { to: email, subject: "Welcome", text }));
  }
});

test("the same person in every spelling gets one mail", async () => {
  const spellings = ["jürgen@Example.com", "jürgen@EXAMPLE.COM", " jürgen@example.com "].flatMap(
    (email) => [email, email.normalize("NFD")],
  );
  for (const email of spellings) expect((await signUp({ email })).status).toBe(202);
  const id = await signupId("jürgen@example.com");
  const last = await signupId("last@example.com");
  await signUp({ email: "last@example.com" });
  await until(async () =>
    (await deliveries(workers, QUEUES.signups)).some(({ signups }) => signups.includes(last)),
  );
  expect(await mailsTo(id)).toBe(1);
});

test("bodies that are no signup are parked with their reason, and the good ones among them are served", async () => {
  const before = (await sizes()).length;
  const good = await Promise.all(
    [1, 2, 3].map(async (nth) => {
      const email = `good-${nth}@example.com`;
      return { id: await signupId(email), email };
    }),
  );
  const bad = [null, "text", [], {}, { email: null }];
  const bodies = [good[0], bad[0], bad[1], good[1], bad[2], bad[3], good[2], bad[4]];
  await workers.SIGNUPS.sendBatch(bodies.map((body) => ({ body })));
  await until(async () => (await sizes()).length > before);
  const [batch] = (await deliveries(workers, QUEUES.signups)).slice(before);
  expect(batch).toMatchObject({ size: bodies.length, retried: [] });
  expect(batch?.acked).toHaveLength(bodies.length);
  for (const { id } of good) expect(await mailsTo(id)).toBe(1);

  const { results } = await workers.DB.prepare(
    "SELECT id, body, reason FROM dead_letters ORDER BY rowid",
  ).all<{ id: string; body: string; reason: string }>();
  const parked = Object.fromEntries(results.map(({ body, reason }) => [body, reason]));
  expect(parked).toEqual({
    null: "the body must be a JSON object",
    '"text"': "the body must be a JSON object",
    "[]": expect.stringContaining("must be a JSON object"),
    "{}": expect.stringContaining("id is missing"),
    '{"email":null}': expect.stringContaining("email must be text"),
  });
  expect(await evidenceOf(workers.WORLD, ALERTS)).toEqual({ "alert.sent": 1 });
  // One for all of them, and whoever is on duty has it.
  expect(alerts).toEqual([{ text: expect.stringMatching(/^5 signups have died: /) }]);
});
