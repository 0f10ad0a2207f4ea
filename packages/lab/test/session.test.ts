import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Lesson, LessonSession, type Progress } from "../src/runner/index.ts";
import { fixtureLesson, pairOf } from "./fixture.ts";
import { WorkerdWatch } from "./processes.ts";

let lesson: Lesson;
let session: LessonSession;
let watch: WorkerdWatch;
beforeEach(async () => {
  lesson = await fixtureLesson();
  watch = new WorkerdWatch();
  session = new LessonSession(lesson, { runTimeoutMs: 30_000 });
});
afterEach(async () => {
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

  constructor(id: string, signal?: AbortSignal) {
    this.done = this.#read(session.run(pairOf(lesson, id), signal));
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

test("a pair that wants a crash stays at its crash point until somebody asks for it", async () => {
  const reader = new Reader("crash-during-a-step");
  await reader.atCrashPoint();
  expect(reader.only("run-ended")).toEqual([]);

  const report = await session.crash();
  await reader.done;

  expect(report.signal).toBe("SIGKILL");
  expect(reader.result.ok).toBe(true);
  expect(reader.evidence("email.sent")).toEqual([2, 1]);
  expect(reader.only("crashed")).toMatchObject([
    { ...report, pairs: ["crash-during-a-step"], at: expect.any(Number) },
  ]);
});

test("a run that waits for ever is followed until the other side is over, and then ended", async () => {
  const reader = new Reader("wait-without-an-end");
  await reader.done;
  expect(reader.result.ok).toBe(true);
  expect(reader.evidence("status")).toEqual(["waiting", undefined]);
  const last = reader.only("run-event").filter(({ variant }) => variant === "pitfall");
  expect(last.at(-1)?.event.type).toBe("workflow_terminated");
});

test("the platform's events arrive once each, those from before the crash and those from after it", async () => {
  const reader = new Reader("crash-during-a-step");
  await reader.atCrashPoint();
  await session.crash();
  await reader.done;

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

test("evidence arrives while the run goes on, with the time of every effect", async () => {
  const reader = new Reader("crash-during-a-step");
  await reader.atCrashPoint();
  const before = reader.only("run-snapshot").findLast(({ variant }) => variant === "pitfall");
  expect(before?.snapshot.evidence["email.sent"]).toBe(1);
  await session.crash();
  await reader.done;

  const after = reader.only("run-snapshot").findLast(({ variant }) => variant === "pitfall");
  expect(after?.snapshot.evidence["email.sent"]).toBe(2);
  const [crash] = reader.only("crashed");
  const mails = after?.snapshot.marks.filter(({ kind }) => kind === "email.sent") ?? [];
  expect(mails.map(({ at }) => at < (crash?.at ?? Number.NaN))).toEqual([true, false]);
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

    await Promise.all([session.crash(), session.crash()]);
    await Promise.all([first.done, second.done, calm.done]);

    expect([first.result.ok, second.result.ok, calm.result.ok]).toEqual([true, true, true]);
    expect(first.only("crashed")).toEqual(second.only("crashed"));
    // The calm one was over when the runtime was killed.
    expect(calm.only("crashed")).toEqual([]);
    // The proxy's, the first one's, and the one that took its place.
    expect(watch.pids.length).toBe(3);
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

test("the same pair can be run and crashed again", async () => {
  for (let time = 1; time <= 2; time++) {
    const reader = new Reader("crash-after-a-step");
    await reader.atCrashPoint();
    await session.crash();
    await reader.done;
    expect(reader.result.ok).toBe(true);
  }
});

test("a run that nobody kills fails after a while, and says what it waited for", async () => {
  await session.close();
  session = new LessonSession(lesson, { crashPointTimeoutMs: 200 });
  const reader = new Reader("crash-during-a-step");
  await reader.done;
  expect(reader.result.variants.fix).toMatchObject({
    status: "timed out",
    error: "timed out after 200 ms, waiting for somebody to kill the runtime",
  });
});

test("a crash without any run is refused", async () => {
  await expect(session.crash()).rejects.toThrow("Nothing of 99-fixture is running.");
  expect(watch.pids).toEqual([]);
});

test("close ends a run at its crash point and every process, and nothing starts again", async () => {
  const reader = new Reader("crash-during-a-step");
  await reader.atCrashPoint();
  await session.close();
  await expect(reader.done).rejects.toThrow("was closed");
  expect(watch.left).toEqual([]);
  await expect(new Reader("crash-during-a-step").done).rejects.toThrow("was closed");
});
