import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { LessonRuntime } from "../src/runner/index.ts";
import { APPS } from "./fixture.ts";

const FIXTURE = join(APPS, "99-fixture");

type Counts = Record<string, number>;
interface Report {
  evidence: Counts;
  observations: Counts;
}

const plus = (counts: Counts, more: Counts): Counts => ({
  ...counts,
  ...Object.fromEntries(
    Object.entries(more).map(([kind, count]) => [kind, (counts[kind] ?? 0) + count]),
  ),
});

interface Sender {
  sendBatch(messages: { body: unknown }[]): Promise<unknown>;
}
const isSender = (value: unknown): value is Sender =>
  typeof value === "object" && value !== null && "sendBatch" in value;

test("runs that share a batch do not share its fate", async () => {
  const runtime = await LessonRuntime.start(FIXTURE);
  try {
    const start = async (variant: string) => {
      const path = `/pitfalls/message-twice/${variant}`;
      const response = await runtime.fetch(path, { method: "POST" });
      const { run } = (await response.json()) as { run: string };
      return { variant, run, path: `${path}/${run}` };
    };
    const [good, bad] = [await start("pitfall"), await start("fix")];
    const untilReport = (path: string, wanted: Record<string, unknown>) =>
      vi.waitFor(
        async () => {
          const report = (await (await runtime.fetch(path)).json()) as Report;
          expect(report).toMatchObject(wanted);
          return report;
        },
        { timeout: 30_000 },
      );
    // What the pair itself does to a run, before what is sent below.
    const before = {
      bad: await untilReport(bad.path, { status: "complete" }),
      good: await untilReport(good.path, { status: "complete" }),
    };

    const { LAB_QUEUE: queue } = await runtime.env();
    if (!isSender(queue)) throw new Error("The fixture has no queue LAB_QUEUE.");
    const message = ({ variant, run }: typeof good, index: number, body: unknown) => ({
      body: { lab: { pair: "message-twice", variant, run, index }, body },
    });
    await queue.sendBatch([
      message(bad, 10, "acked before the throw"),
      message(good, 10, "one"),
      // No key of a database row: the variant throws.
      message(bad, 11, { no: "key" }),
      message(good, 11, "two"),
    ]);

    await untilReport(bad.path, {
      evidence: plus(before.bad.evidence, { "email.sent": 1 }),
      observations: plus(before.bad.observations, {
        // The second delivery brings what was retried, and only that.
        "consumer.called": 2,
        "message.delivered": 3,
        "message.acked": 1,
        "message.dead-lettered": 1,
      }),
    });
    await untilReport(good.path, {
      evidence: plus(before.good.evidence, { "email.sent": 2 }),
      observations: plus(before.good.observations, {
        "consumer.called": 1,
        "message.delivered": 2,
        "message.acked": 2,
      }),
    });
  } finally {
    await runtime.close();
  }
});

test("a pair whose queue the Worker has not says which one", async () => {
  const dir = await mkdtemp(join(tmpdir(), "lesson-"));
  const config = {
    name: "no-queue",
    main: join(FIXTURE, "src/index.ts"),
    compatibility_date: "2026-11-01",
    workflows: [{ name: "no-queue", binding: "PITFALLS", class_name: "PitfallWorkflow" }],
    d1_databases: [
      {
        binding: "WORLD",
        database_name: "world",
        database_id: "world",
        migrations_dir: join(APPS, "../../../outside-world/migrations"),
      },
    ],
  };
  await writeFile(join(dir, "wrangler.jsonc"), JSON.stringify(config));
  const runtime = await LessonRuntime.start(dir);
  try {
    const response = await runtime.fetch("/pitfalls/message-twice/fix", { method: "POST" });
    expect([response.status, await response.json()]).toEqual([
      500,
      { error: 'Error: The Worker has no queue binding "LAB_QUEUE".' },
    ]);
  } finally {
    await runtime.close();
    await rm(dir, { recursive: true });
  }
});
