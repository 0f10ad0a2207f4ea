import { env } from "cloudflare:workers";
import { beforeAll, expect, it } from "vitest";
import { claim } from "../src/index.ts";
import { newKey } from "./helpers.ts";
import type { Mail } from "./worker.ts";

const db = env.DB;

beforeAll(() =>
  db.batch([
    db.prepare("CREATE TABLE sent (recipient TEXT NOT NULL)"),
    db.prepare("CREATE TABLE acked (id TEXT NOT NULL)"),
    db.prepare("CREATE TABLE parked (id TEXT NOT NULL, reason TEXT NOT NULL)"),
    db.prepare("CREATE TABLE notes (what TEXT NOT NULL, key TEXT NOT NULL)"),
  ]),
);

it("sends one mail per key through the real queue: duplicates, failures and bad messages among them", async () => {
  const recipients = Array.from({ length: 60 }, (_, n) => `user${n}@example.org`);
  const mails: Mail[] = recipients.map((to, n) => ({ to, failures: n % 5 === 0 ? 1 : 0 }));
  const bad: unknown[] = [null, "text", [], {}, { to: null }, { to: "nobody@example.org" }];
  // The first batch and a second that is delivered beside it, each mail in both and every third twice in one.
  await env.MAIL.sendBatch([...mails, ...bad].map((body) => ({ body })));
  await env.MAIL.sendBatch(
    [...mails, ...mails.filter((_, n) => n % 3 === 0)].map((body) => ({ body })),
  );

  const all = 2 * mails.length + mails.length / 3 + bad.length;
  await expect
    .poll(() => db.prepare("SELECT count(DISTINCT id) AS n FROM acked").first("n"), {
      timeout: 100_000,
    })
    .toBe(all);
  expect(await db.prepare("SELECT count(*) AS n FROM sent").first("n")).toBe(60);
  expect(await db.prepare("SELECT count(DISTINCT id) AS n FROM parked").first("n")).toBe(
    bad.length,
  );
  const twice = await db
    .prepare("SELECT recipient FROM sent GROUP BY recipient HAVING count(*) > 1")
    .all();
  expect(twice.results).toEqual([]);
  const { results } = await db
    .prepare("SELECT DISTINCT reason FROM parked")
    .all<{ reason: string }>();
  expect(results.map(({ reason }) => reason)).toContain("PermanentError: There is nobody");
});

/** What the consumer that dies has noted of a key, once it has ended one way or the other. */
async function notesOf(key: string): Promise<string[]> {
  let notes: string[] = [];
  const look = async () => {
    const { results } = await db
      .prepare("SELECT what FROM notes WHERE key = ? ORDER BY rowid")
      .bind(key)
      .all<{ what: string }>();
    notes = results.map(({ what }) => what);
    return notes.at(-1);
  };
  await expect.poll(look, { timeout: 100_000 }).toMatch(/^(done|dead)$/);
  return notes;
}

it("a consumer that dies costs a message one delivery each time, with the settings that queueSettings makes", async () => {
  const key = newKey();
  await env.FRAGILE.send({ key, deaths: 2 });
  expect(await notesOf(key)).toEqual([
    "delivery 1",
    "try",
    "delivery 2",
    "try",
    "delivery 3",
    "try",
    "done",
  ]);
});

it("a delivery that only waited counts for the platform, and queueSettings has one to spare", async () => {
  const key = newKey();
  // Another consumer is at work on it when it comes.
  await claim(db, [{ key }], { leaseMs: 2000 });
  await env.FRAGILE.send({ key, deaths: 2 });
  expect(await notesOf(key)).toEqual([
    "delivery 1",
    "delivery 2",
    "try",
    "delivery 3",
    "try",
    "delivery 4",
    "try",
    "done",
  ]);
});
