import { setTimeout as delay } from "node:timers/promises";
import { type Pair, VARIANTS } from "../pair.ts";
import { emitted } from "./channel.ts";
import type { Lesson } from "./lessons.ts";
import type { PlatformEvent, SessionProgress } from "./progress.ts";
import { pairResult, RunClient } from "./run-client.ts";
import type { CrashReport } from "@durable-lessons/crash-test";
import type { LessonRuntime } from "./runtime.ts";

/** How long to wait before the platform is asked for events again. */
const EVENTS_AGAIN_MS = 300;

/** Settings of a session. */
export interface SessionOptions {
  /** How long one run may take to its crash point or its end, 120,000 by default. */
  runTimeoutMs?: number;
  /**
   * How long a run waits at its crash point for somebody to kill the runtime, 240,000 by default: less than the five
   * minutes after which a connection without data is dropped, and than the ten of a step's default timeout.
   */
  crashPointTimeoutMs?: number;
}

/** A run that is under way, as far as a crash is concerned. */
interface Participant {
  pair: Pair;
  /** Settles once the run does not stand in the way of a crash: it is over, or at its crash point. Never rejects. */
  quiet: Promise<void>;
  /** Settles at the end of the run. Never rejects. */
  over: Promise<void>;
  /** Is the run at its crash point? Then the crash settles `crashed`. */
  waits: boolean;
  crashed: PromiseWithResolvers<void>;
  emit: (progress: SessionProgress) => void;
}

/**
 * Runs pairs of one lesson when somebody asks, on one runtime that starts with the first of them, and kills it when
 * somebody asks. Runs may overlap: a crash waits for all of them, and wakes all of them.
 */
export class LessonSession {
  readonly lesson: Lesson;
  readonly #options: Required<SessionOptions>;
  readonly #closed = new AbortController();
  readonly #participants = new Set<Participant>();
  #runtime: Promise<LessonRuntime> | undefined;
  #crash: Promise<CrashReport> | undefined;

  constructor(lesson: Lesson, options: SessionOptions = {}) {
    this.lesson = lesson;
    this.#options = { runTimeoutMs: 120_000, crashPointTimeoutMs: 240_000, ...options };
  }

  /**
   * Runs both variants of a pair. A run that wants a crash stays at its crash point until {@link crash} is called, by
   * whomever.
   *
   * @returns an async iterator of what happens, ending with `pair-compared`; leaving it early gives the runs up
   * @throws the reason of `signal` once that is aborted, and an error once the session is closed
   */
  run(pair: Pair, signal?: AbortSignal): AsyncGenerator<SessionProgress, void, void> {
    const outer = signal ? AbortSignal.any([signal, this.#closed.signal]) : this.#closed.signal;
    return emitted((emit, stop) => this.#run(pair, emit, stop), outer);
  }

  /**
   * Kills the runtime once, as soon as every run of the lesson is over or at its crash point, and wakes those that were.
   * Runs that are asked for meanwhile start after it. Whoever asks while a crash is on its way gets that one.
   *
   * @throws Error where nothing has been run yet
   */
  crash(): Promise<CrashReport> {
    this.#crash ??= this.#crashWhenQuiet().finally(() => (this.#crash = undefined));
    return this.#crash;
  }

  /** Ends every run and every process of the session. It cannot be used again. */
  async close(): Promise<void> {
    this.#closed.abort(new Error(`The session of ${this.lesson.id} was closed.`));
    const runtime = await this.#runtime?.catch(() => undefined);
    await this.#crash?.catch(() => undefined);
    await runtime?.close();
  }

  async #run(
    pair: Pair,
    emit: (progress: SessionProgress) => void,
    stop: AbortSignal,
  ): Promise<void> {
    const lesson = this.lesson.id;
    emit({ type: "starting", lesson, pairs: [pair.id] });
    let runtime = await this.#started();
    while (this.#crash) {
      // Not into a crash that is on its way: it would wait for this run, and for the next one, and so on.
      await this.#crash.catch(() => undefined);
      runtime = await this.#started();
    }
    stop.throwIfAborted();
    emit({ type: "ready", lesson, pid: runtime.pid });
    const [pitfall, fix] = VARIANTS.map((variant) => {
      const run: RunClient = new RunClient(runtime, pair, variant, {
        signal: stop,
        onSnapshot: (snapshot) => emit({ type: "run-snapshot", ...run.names(lesson), snapshot }),
      });
      return run;
    });
    if (!pitfall || !fix) throw new Error("A pair has two variants.");
    await Promise.all([
      this.#follow(pitfall, fix, emit, stop),
      this.#follow(fix, pitfall, emit, stop),
    ]);
    emit({ type: "pair-compared", lesson, result: pairResult(lesson, pitfall, fix) });
  }

  #started(): Promise<LessonRuntime> {
    this.#closed.signal.throwIfAborted();
    if (!this.#runtime) {
      this.#runtime = startRuntime(this.lesson.dir);
      // The next run tries anew.
      this.#runtime.catch(() => (this.#runtime = undefined));
    }
    return this.#runtime;
  }

  /** One run from its start to its end, with the events of its instances. */
  async #follow(
    run: RunClient,
    other: RunClient,
    emit: (progress: SessionProgress) => void,
    stop: AbortSignal,
  ): Promise<void> {
    const lesson = this.lesson.id;
    const { runTimeoutMs, crashPointTimeoutMs } = this.#options;
    const quiet = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const participant: Participant = {
      pair: run.pair,
      quiet: quiet.promise,
      over: over.promise,
      waits: false,
      crashed: Promise.withResolvers(),
      emit,
    };
    // Nobody may be waiting for it.
    participant.crashed.promise.catch(() => undefined);
    this.#participants.add(participant);
    const events = new EventFeed(run, stop, (event) =>
      emit({ type: "run-event", ...run.names(lesson), event }),
    );
    const start = async () => {
      await run.start();
      emit({ type: "run-started", ...run.names(lesson) });
      events.begin();
    };
    try {
      await run.settle(start, runTimeoutMs);
      if (run.crash) {
        await run.settle(async () => {
          await run.untilCrashPoint();
          while (run.isLate) {
            await start();
            await run.untilCrashPoint();
          }
        }, runTimeoutMs);
        if (!run.failure) emit({ type: "crash-point", ...run.names(lesson) });
        participant.waits = !run.failure;
        quiet.resolve();
        await run.settle(async (waiting) => {
          await unlessAborted(participant.crashed.promise, waiting);
        }, crashPointTimeoutMs);
        participant.waits = false;
        await run.settle(async () => {
          const did = await run.wake();
          emit({ type: "run-woken", ...run.names(lesson), did });
        }, runTimeoutMs);
      } else {
        await run.settle(async () => {
          const did = await run.disturb();
          if (did) emit({ type: "run-disturbed", ...run.names(lesson), did });
        }, runTimeoutMs);
      }
      await run.settle(() => run.untilOver(other), runTimeoutMs);
      run.isFinished = true;
      await events.end(!run.failure);
      emit({
        type: "run-ended",
        lesson,
        pair: run.pair.id,
        variant: run.variant,
        result: run.result(),
      });
    } finally {
      events.stop();
      this.#participants.delete(participant);
      quiet.resolve();
      over.resolve();
    }
  }

  async #crashWhenQuiet(): Promise<CrashReport> {
    if (!this.#runtime) throw new Error(`Nothing of ${this.lesson.id} is running.`);
    const runtime = await this.#runtime;
    const lesson = this.lesson.id;
    tell(this.#participants, { type: "crash-asked", lesson });
    await Promise.all([...this.#participants].map(({ quiet }) => quiet));
    this.#closed.signal.throwIfAborted();
    const waiting = [...this.#participants].filter(({ waits }) => waits);
    const pairs = [...new Set(waiting.map(({ pair }) => pair.id))];
    try {
      const at = Date.now();
      const report = await runtime.crash();
      tell(waiting, { type: "crashed", lesson, pairs, ...report, at, upAt: Date.now() });
      for (const participant of waiting) {
        // The next crash must wait for its end, even if it is asked for before this run has had its turn.
        participant.quiet = participant.over;
        participant.crashed.resolve();
      }
      return report;
    } catch (error) {
      for (const participant of waiting) participant.crashed.reject(error);
      // Whatever state it is in, the next run shall have one that works.
      this.#runtime = undefined;
      await runtime.close().catch(() => undefined);
      throw error;
    }
  }
}

/** Tells every run of some participants: both variants of a pair tell theirs to the same iterator. */
function tell(participants: Iterable<Participant>, progress: SessionProgress): void {
  for (const emit of new Set([...participants].map((participant) => participant.emit))) {
    emit(progress);
  }
}

/** Reads the events of a run again and again, since a crash cuts the connection, and passes each on once. */
class EventFeed {
  readonly #run: RunClient;
  readonly #pass: (event: PlatformEvent) => void;
  readonly #stopped = new AbortController();
  readonly #signal: AbortSignal;
  readonly #passed = new Set<string>();
  #loop: Promise<void> | undefined;
  #connection = new AbortController();

  constructor(run: RunClient, signal: AbortSignal, pass: (event: PlatformEvent) => void) {
    this.#run = run;
    this.#pass = pass;
    this.#signal = AbortSignal.any([signal, this.#stopped.signal]);
  }

  /** Follows the run; called again, the one that was started in its place. */
  begin(): void {
    this.#connection.abort();
    this.#loop ??= this.#readOn();
  }

  /** Reads the whole log once more, now that it is complete, unless there is none to be had. */
  async end(isComplete: boolean): Promise<void> {
    this.stop();
    await this.#loop;
    if (isComplete) {
      await this.#run.settle(async () => {
        for await (const event of this.#run.events()) this.#once(event);
      }, 30_000);
    }
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #readOn(): Promise<void> {
    while (!this.#signal.aborted) {
      this.#connection = new AbortController();
      const signal = AbortSignal.any([this.#signal, this.#connection.signal]);
      try {
        for await (const event of this.#run.events(signal)) this.#once(event);
      } catch {
        // The runtime is being killed, or everything is being ended: the loop's condition tells which.
      }
      await delay(EVENTS_AGAIN_MS, undefined, { signal: this.#signal }).catch(() => undefined);
    }
  }

  /** The log starts again after a crash and, with the ids of the first, after a restart. */
  #once(event: PlatformEvent): void {
    const { instanceId, eventId, timestamp, type } = event;
    const key = `${instanceId}/${eventId}/${timestamp}/${type}`;
    if (this.#passed.has(key)) return;
    this.#passed.add(key);
    const { stepName, attempt, eventType, retryDelayMs, error } = event;
    this.#pass({
      instanceId,
      eventId,
      timestamp,
      type,
      ...(stepName === undefined ? {} : { stepName }),
      ...(attempt === undefined ? {} : { attempt }),
      ...(eventType === undefined ? {} : { eventType }),
      ...(retryDelayMs === undefined ? {} : { retryDelayMs }),
      ...(error === undefined ? {} : { error: { name: error.name, message: error.message } }),
    });
  }
}

async function startRuntime(dir: string): Promise<LessonRuntime> {
  // Brings wrangler with it, which takes most of a second to load: not before something is run.
  const { LessonRuntime: Runtime } = await import("./runtime.ts");
  return Runtime.start(dir);
}

async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
