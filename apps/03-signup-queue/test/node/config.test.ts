import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { queueSettings } from "@durable-lessons/idempotency";
import { describe, expect, test } from "vitest";
import { createTestHarness, unstable_readConfig } from "wrangler";
import { QUEUES } from "../../src/queues.ts";
import { lesson } from "./workers.ts";

const read = (name: string) =>
  unstable_readConfig({ config: join(lesson, `wrangler.${name}.jsonc`) });
const [producer, consumer] = [read("producer"), read("consumer")];

interface Consumer {
  queue: string;
  max_batch_size?: number;
  max_batch_timeout?: number;
  max_retries?: number;
  retry_delay?: number;
  dead_letter_queue?: string;
}
const consumersOf = (config: typeof producer): Consumer[] => config.queues.consumers ?? [];
const producersOf = (config: typeof producer): string[] =>
  (config.queues.producers ?? []).map(({ queue }: { queue: string }) => queue);

describe("the configs", () => {
  test("spell the queues as src/queues.ts does", () => {
    expect(producersOf(producer)).toEqual([QUEUES.signups]);
    expect(consumersOf(producer)).toEqual([]);
    expect(producersOf(consumer)).toEqual([]);
    expect(consumersOf(consumer).map(({ queue }) => queue)).toEqual([
      QUEUES.signups,
      QUEUES.signupsDeadLetters,
    ]);
    expect(consumersOf(consumer)[0]?.dead_letter_queue).toBe(QUEUES.signupsDeadLetters);
  });

  test("C15: ask for three retries, and state every value", () => {
    expect(consumersOf(consumer)[0]?.max_retries).toBe(3);
    for (const settings of consumersOf(consumer)) {
      for (const name of ["max_batch_size", "max_batch_timeout", "max_retries", "retry_delay"]) {
        expect(settings, settings.queue).toHaveProperty(name, expect.any(Number));
      }
    }
  });

  test("leave each signup three real tries: none is used up by waiting for a consumer that died", () => {
    // The lease and the times are consumeOnce's own.
    const { max_batch_size } = consumersOf(consumer)[0] ?? {};
    expect(consumersOf(consumer)[0]).toMatchObject(
      queueSettings({ tries: 3, max_batch_size: max_batch_size ?? 0 }),
    );
  });

  test("C7: producer and consumer have no way to call each other", () => {
    for (const { services, durable_objects, workflows } of [producer, consumer]) {
      expect([services ?? [], durable_objects.bindings, workflows]).toEqual([[], [], []]);
    }
    expect(consumer.workers_dev).toBe(false);
    expect([consumer.routes ?? [], consumer.route]).toEqual([[], undefined]);
  });

  test("share the database of the dead letters", () => {
    const id = ({ d1_databases }: typeof producer, name: string) =>
      d1_databases.find(({ binding }: { binding: string }) => binding === name)?.database_id;
    expect(id(producer, "DB")).toBe(id(consumer, "DB"));
  });

  test("have logs on, and no secret in what is deployed", () => {
    for (const config of [producer, consumer]) {
      expect(config.observability?.enabled).toBe(true);
    }
    expect(producer.vars).toEqual({});
    expect(producer.secrets?.required).toEqual(["ADMIN_TOKENS"]);
  });
});

describe("the way to production", () => {
  test("pnpm run deploy migrates both databases, then deploys the reader before the writer", async () => {
    const { scripts } = JSON.parse(await readFile(join(lesson, "package.json"), "utf8"));
    expect(scripts.deploy.split(" && ")).toEqual([
      "wrangler d1 migrations apply DB --remote -c wrangler.consumer.jsonc",
      "wrangler d1 migrations apply WORLD --remote -c wrangler.consumer.jsonc",
      "wrangler deploy -c wrangler.consumer.jsonc",
      "wrangler deploy -c wrangler.producer.jsonc",
    ]);
  });

  test("C14: the README creates every queue, database and secret that the configs name", async () => {
    const readme = await readFile(join(lesson, "README.md"), "utf8");
    for (const queue of [QUEUES.signups, QUEUES.signupsDeadLetters]) {
      expect(readme).toMatch(new RegExp(`wrangler queues create ${queue}( |$)`, "m"));
    }
    for (const { database_name } of consumer.d1_databases) {
      expect(readme).toMatch(new RegExp(`wrangler d1 create ${database_name}( |$)`, "m"));
    }
    for (const secret of producer.secrets?.required ?? []) {
      expect(readme).toContain(`wrangler secret put ${secret} -c wrangler.producer.jsonc`);
    }
    expect(readme).toContain("pnpm run deploy");
  });

  test("the table of idempotency keys is the package's own, in all its migrations", async () => {
    const theirs = join(lesson, "../../packages/idempotency/migrations");
    const names = (await readdir(theirs)).toSorted();
    const mine = (await readdir(join(lesson, "migrations"))).filter((name) =>
      name.includes("_idempotency_"),
    );
    const sqlOf = (dir: string, name: string) => readFile(join(dir, name), "utf8");
    // The numbers are the lesson's: its own tables came between.
    const withoutNumber = (name: string) => name.replace(/^\d+_/, "");
    expect(mine.toSorted().map(withoutNumber)).toEqual(names.map(withoutNumber));
    for (const [index, name] of mine.toSorted().entries()) {
      expect(await sqlOf(join(lesson, "migrations"), name)).toBe(
        await sqlOf(theirs, names[index] ?? ""),
      );
    }
  });
});

test("C7: the producer takes signups where there is no consumer", async () => {
  const harness = createTestHarness({
    root: lesson,
    // Whatever a `.dev.vars` on this machine says.
    workers: [{ configPath: "wrangler.producer.jsonc", secrets: { ADMIN_TOKENS: "" } }],
  });
  try {
    await harness.listen();
    const response = await harness.fetch("/signup", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: "ada@example.com" }),
    });
    expect(response.status).toBe(202);
    // Nobody is an operator here: closed, not open.
    expect((await harness.fetch("/dead-letters")).status).toBe(503);
  } finally {
    await harness.close();
  }
});
