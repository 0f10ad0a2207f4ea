import { describe, expect, test, vi } from "vitest";
import { isDeadLetterQueue, queueOf } from "../src/queues.ts";
import { startFixture } from "./fixture.ts";

const FIX = "/pitfalls/message-twice/fix";

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
  const runtime = await startFixture("message-twice");
  try {
    const start = async () => {
      const response = await runtime.fetch(FIX, { method: "POST" });
      const { run } = (await response.json()) as { run: string };
      return { run, path: `${FIX}/${run}` };
    };
    const [good, bad] = [await start(), await start()];
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

    const { LAB_MESSAGE_TWICE_FIX: queue } = await runtime.env();
    if (!isSender(queue)) throw new Error("The fixture has no queue LAB_MESSAGE_TWICE_FIX.");
    const message = ({ run }: typeof good, index: number, body: unknown) => ({
      body: { lab: { pair: "message-twice", variant: "fix", run, index }, body },
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

describe("queueOf", () => {
  const settings = { batchSize: 10, batchTimeout: 0, retries: 3 };

  test("gives every variant of a queue's pair a queue of its own, with the defaults", () => {
    const pair = { id: "a-pair", engine: "queue" };
    expect(queueOf(pair, "pitfall")).toEqual({
      ...settings,
      binding: "LAB_A_PAIR_PITFALL",
      name: "lab-a-pair-pitfall",
      deadLetters: "lab-a-pair-pitfall-dlq",
    });
    expect(queueOf(pair, "fix")).toEqual({
      ...settings,
      binding: "LAB_A_PAIR_FIX",
      name: "lab-a-pair-fix",
      deadLetters: "lab-a-pair-fix-dlq",
    });
  });

  test("takes the pair's settings, or the variant's", () => {
    const pair = { id: "p", engine: "queue" };
    expect(queueOf({ ...pair, queue: { batchSize: 3, retries: 10 } }, "fix")).toMatchObject({
      ...settings,
      batchSize: 3,
      retries: 10,
    });
    const each = { pitfall: { batchSize: 1 }, fix: { batchTimeout: 1 } };
    expect(queueOf({ ...pair, queue: each }, "pitfall")).toMatchObject({
      ...settings,
      batchSize: 1,
    });
    expect(queueOf({ ...pair, queue: each }, "fix")).toMatchObject({
      ...settings,
      batchTimeout: 1,
    });
  });

  test("gives a request's pair one if it says so, and a Workflow's none", () => {
    expect(queueOf({ id: "p", engine: "http" }, "fix")).toBeNull();
    expect(queueOf({ id: "p", engine: "http", queue: {} }, "fix")).toMatchObject(settings);
    expect(queueOf({ id: "p", engine: "workflow" }, "fix")).toBeNull();
  });

  test.each(["pitfall", "fix"] as const)(
    "no queue of a %s passes for one of dead letters",
    (variant) => {
      const { name = "", deadLetters = "" } =
        queueOf({ id: "nobody-reads-the-dlq", engine: "queue" }, variant) ?? {};
      expect([name, deadLetters].map(isDeadLetterQueue)).toEqual([false, true]);
    },
  );
});
