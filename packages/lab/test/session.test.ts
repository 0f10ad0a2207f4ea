import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CrashReport } from "@durable-lessons/crash-test";
import { type Lesson, LessonSession, type Progress } from "../src/runner/index.ts";
import { fixtureLesson, pairOf } from "./fixture.ts";
import { WorkerdWatch } from "./processes.ts";

// One session for all: a start takes seconds, and a session is made for many runs and crashes. The last test closes it.
let lesson: Lesson;
let session: LessonSession;
let watch: WorkerdWatch;
beforeAll(async () => {
  lesson = await fixtureLesson();
  watch = new WorkerdWatch();
  session = new LessonSession(lesson, { runTimeoutMs: 30_000 });
});
afterAll(async () => {
  await session.close();
  const { left } = watch;
  watch[Symbol.dispose]();
  if (left.length > 0) throw new Error(`These workerds still run: ${left.join(", ")}`);
});

/** A reader of one run: what it has seen so far, and a way to wait for something. */
class Reader {
  readonly seen: Progress[] = [];
  readonly done: Promise<void>;
  #wake = Promise.withResolvers<void>();

  constructor(id: string, signal?: AbortSignal, of = session) {
    this.done = this.#read(of.run(pairOf(lesson, id), signal));
    this.done.catch(() => undefined);
  }

  async #read(progress: AsyncIterable<Progress>): Promise<void> {
    try {
      for await (const event of progress) {
        this.seen.push(event);
        this.#turn();
      }
    } finally {
      this.#turn();
    }
  }

  #turn() {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  only<Type extends Progress["type"]>(type: Type) {
    return this.seen.filter(
      (event): event is Extract<Progress, { type: Type }> => event.type === type,
    );
  }

  async until(type: Progress["type"], times: number): Promise<void> {
    while (this.only(type).length < times) await Promise.race([this.#wake.promise, this.done]);
  }

  /** Both variants are at their crash point. */
  atCrashPoint = () => this.until("crash-point", 2);

  get result() {
    const [compared] = this.only("pair-compared");
    if (!compared) throw new Error("The pair was not compared.");
    return compared.result;
  }

  evidence(kind: string) {
    const { pitfall, fix } = this.result.variants;
    return [pitfall.evidence[kind], fix.evidence[kind]];
  }
}

test("a crash without any run is refused", async () => {
  await expect(session.crash()).rejects.toThrow("Nothing of 99-fixture is running.");
  expect(watch.pids).toEqual([]);
});

describe("a pair that wants a crash", () => {
  let reader: Reader;
  let before: Progress[];
  let report: CrashReport;
  beforeAll(async () => {
    reader = new Reader("crash-during-a-step");
    await reader.atCrashPoint();
    before = [...reader.seen];
    report = await session.crash();
    await reader.done;
  });

  test("stays at its crash point until somebody asks for it", () => {
    expect(before.filter(({ type }) => type === "run-ended")).toEqual([]);
    expect(report.signal).toBe("SIGKILL");
    expect(reader.result.ok).toBe(true);
    expect(reader.evidence("email.sent")).toEqual([2, 1]);
    expect(reader.only("crashed")).toMatchObject([
      { ...report, pairs: ["crash-during-a-step"], at: expect.any(Number) },
    ]);
  });

  test("hears of the platform's events once each, those from before the crash and those from after it", () => {
    const events = reader
      .only("run-event")
      .filter(({ variant }) => variant === "fix")
      .map(({ event: { type, stepName, attempt } }) =>
        [type, stepName, attempt].filter((part) => part !== undefined).join(" "),
      );
    expect(events).toEqual([
      "workflow_queued",
      "workflow_started",
      "workflow_running",
      "step_started send mail-1",
      "attempt_started send mail-1 1",
      "attempt_completed send mail-1 1",
      "step_completed send mail-1",
      "step_started open account-1",
      "attempt_started open account-1 1",
      "attempt_started open account-1 2",
      "attempt_completed open account-1 2",
      "step_completed open account-1",
      "workflow_completed",
    ]);
    const [crash] = reader.only("crashed");
    const second = reader
      .only("run-event")
      .find(({ variant, event }) => variant === "fix" && event.attempt === 2);
    expect(second?.event.timestamp).toBeGreaterThanOrEqual(crash?.upAt ?? Number.NaN);
  });

  test("shows its evidence while the run goes on, with the time of every effect", () => {
    const ofPitfall = (progress: Progress[]) =>
      progress.findLast((event) => event.type === "run-snapshot" && event.variant === "pitfall") as
        | Extract<Progress, { type: "run-snapshot" }>
        | undefined;
    expect(ofPitfall(before)?.snapshot.evidence["email.sent"]).toBe(1);
    const after = ofPitfall(reader.seen);
    expect(after?.snapshot.evidence["email.sent"]).toBe(2);
    const [crash] = reader.only("crashed");
    const mails = after?.snapshot.marks.filter(({ kind }) => kind === "email.sent") ?? [];
    expect(mails.map(({ at }) => at < (crash?.at ?? Number.NaN))).toEqual([true, false]);
  });

  test("can be run and crashed again", async () => {
    const again = new Reader("crash-during-a-step");
    await again.atCrashPoint();
    await session.crash();
    await again.done;
    expect(again.result.ok).toBe(true);
    expect(again.only("crashed")).toMatchObject([{ pidBefore: report.pidAfter }]);
  });
});

test("a run that waits for ever is followed until the other side is over, and then ended", async () => {
  const reader = new Reader("wait-without-an-end");
  await reader.done;
  expect(reader.result.ok).toBe(true);
  expect(reader.evidence("status")).toEqual(["waiting", undefined]);
  const last = reader.only("run-event").filter(({ variant }) => variant === "pitfall");
  expect(last.at(-1)?.event.type).toBe("workflow_terminated");
});

test("a restart shows the events of both lives", async () => {
  const reader = new Reader("restart-from-the-beginning");
  await reader.done;
  const ends = reader
    .only("run-event")
    .filter(({ variant }) => variant === "fix")
    .map(({ event }) => event.type)
    .filter((type) => /^workflow_(errored|completed)$/.test(type));
  expect(ends).toEqual(["workflow_errored", "workflow_completed"]);
});

test("deliveries of a queue arrive as marks, with the message's index", async () => {
  const reader = new Reader("message-twice");
  await reader.done;
  const last = reader.only("run-snapshot").findLast(({ variant }) => variant === "pitfall");
  const delivered = last?.snapshot.marks.filter(({ kind }) => kind === "message.delivered");
  expect(delivered).toEqual([
    { kind: "message.delivered", detail: 0, at: expect.any(Number) },
    { kind: "message.delivered", detail: 0, at: expect.any(Number) },
  ]);
});

describe("two readers at once", () => {
  test("a crash waits for the other reader's run, kills once, and wakes both", async () => {
    const first = new Reader("crash-during-a-step");
    await first.atCrashPoint();
    const second = new Reader("crash-after-a-step");
    const calm = new Reader("event-twice");
    await calm.until("run-started", 2);
    const pids = watch.pids;

    await Promise.all([session.crash(), session.crash()]);
    await Promise.all([first.done, second.done, calm.done]);

    expect([first.result.ok, second.result.ok, calm.result.ok]).toEqual([true, true, true]);
    expect(first.only("crashed")).toEqual(second.only("crashed"));
    // The calm one was over when the runtime was killed.
    expect(calm.only("crashed")).toEqual([]);
    // One more: it took the place of the one that was killed.
    expect(watch.pids.length).toBe(pids.length + 1);
  });

  test("a run that is asked for while a crash is on its way starts after it", async () => {
    const first = new Reader("crash-during-a-step");
    await first.atCrashPoint();
    const crash = session.crash();
    const second = new Reader("crash-after-a-step");
    await crash;
    await first.done;
    expect(first.result.ok).toBe(true);

    await second.atCrashPoint();
    expect(second.only("crashed")).toEqual([]);
    await session.crash();
    await second.done;
    expect(second.result.ok).toBe(true);
  });

  test("one that leaves at its crash point stands in nobody's way", async () => {
    const leaving = new AbortController();
    const first = new Reader("crash-during-a-step", leaving.signal);
    const second = new Reader("crash-during-a-step");
    await Promise.all([first.atCrashPoint(), second.atCrashPoint()]);
    leaving.abort(new Error("the tab was closed"));
    await expect(first.done).rejects.toThrow("the tab was closed");

    await session.crash();
    await second.done;
    expect(second.result.ok).toBe(true);
    expect(second.only("crashed")).toMatchObject([{ pairs: ["crash-during-a-step"] }]);
  });
});

test("a run that is given up on its way stands in nobody's way either", async () => {
  const leaving = new AbortController();
  // It waits for a second for an event that does not come.
  const first = new Reader("event-twice", leaving.signal);
  const second = new Reader("crash-during-a-step");
  await Promise.all([first.until("run-started", 2), second.atCrashPoint()]);
  leaving.abort(new Error("the tab was closed"));
  await expect(first.done).rejects.toThrow("the tab was closed");

  await session.crash();
  await second.done;
  expect(second.result.ok).toBe(true);
});

test("a run that nobody kills fails after a while, and says what it waited for", async () => {
  const pairs = [pairOf(lesson, "crash-during-a-step")];
  const impatient = new LessonSession(lesson, { pairs, crashPointTimeoutMs: 200 });
  try {
    const reader = new Reader("crash-during-a-step", undefined, impatient);
    await reader.done;
    expect(reader.result.variants.fix).toMatchObject({
      status: "timed out",
      error: "timed out after 200 ms, waiting for somebody to kill the runtime",
    });
  } finally {
    await impatient.close();
  }
});

test("close ends a run at its crash point and every process, and nothing starts again", async () => {
  const reader = new Reader("crash-during-a-step");
  await reader.atCrashPoint();
  expect(watch.left).not.toEqual([]);
  await session.close();
  await expect(reader.done).rejects.toThrow("was closed");
  expect(watch.left).toEqual([]);
  await expect(new Reader("crash-during-a-step").done).rejects.toThrow("was closed");
});
