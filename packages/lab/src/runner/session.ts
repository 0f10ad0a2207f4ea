import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CrashReport } from "@durable-lessons/crash-test";
import { buildProblems } from "@durable-lessons/crash-test/build-problems";
import { type AnyVariant, type Pair, type Variant, VARIANTS, YOURS } from "../pair.ts";
import { ownPlan, type Plan } from "../plan.ts";
import type { RunLogEntry, Thrown } from "../run-log.ts";
import { iterate, linkAbort, unlessAborted } from "./channel.ts";
import { EventFeed } from "./event-feed.ts";
import type { Lanes } from "./lab-worker.ts";
import type { Lesson } from "./lessons.ts";
import type { Progress, ThrownError } from "./progress.ts";
import { nameInRepository } from "./read-lesson.ts";
import { pairResult, RunClient } from "./run-client.ts";
import type { RuntimeWatch } from "./runtime-watch.ts";
import { SourcePlaces } from "./source-places.ts";

/** Settings of a session. */
export interface SessionOptions {
  /** The pairs that may be run: all of the lesson unless named. Only these are built. */
  pairs?: readonly Pair[];
  /**
   * Does somebody watch? Then the events of the platform and the state of every run are told, which costs the runs time.
   * True by default.
   */
  isWatched?: boolean;
  /** How long one run may take to its crash point or its end, 120,000 by default. */
  runTimeoutMs?: number;
  /**
   * How long a run waits at its crash point for somebody to kill the runtime, 240,000 by default: less than the five
   * minutes after which a connection without data is dropped, and than the ten of a step's default timeout.
   */
  crashPointTimeoutMs?: number;
  /**
   * How long the runtime may compute without an answer to anything before it counts as blocked, 10,000 by default; one
   * that does not even compute, six times as long.
   */
  stallMs?: number;
  /** How many queues the variants have: as many runs of one do not wait for each other. */
  lanes?: Lanes;
  /** Takes the sleeps and the delays between retries out of the instances. */
  isQuick?: boolean;
}

type Emit = (progress: Progress<AnyVariant>) => void;

/** One side of a pair that is under way. */
interface Participant {
  readonly plan: Plan;
  readonly emit: Emit;
  /**
   * `running` stands in the way of a crash. `suspect` was running its code when the runtime was lost: it waits until it can
   * be run alone.
   */
  state: "at-crash-point" | "ended" | "running" | "suspect";
  run: RunClient | undefined;
  /** Why the crash that it waits for did not happen. */
  crashError: unknown;
  /** How often the runtime was lost while nothing but this ran. */
  lostAlone: number;
}

/** How often that must happen before it is to blame: a machine that has much else to do may be slow to answer, once. */
const LOST_ALONE = 2;

/**
 * Runs pairs of one lesson when somebody asks, on one runtime that starts with the first of them, and kills it when
 * somebody asks. Runs may overlap: a crash waits for all of them, and wakes all of them. A runtime that one variant blocks
 * is replaced; that variant is found by running it alone, the others are run again without it.
 */
export class LessonSession {
  readonly lesson: Lesson;
  readonly #options: Required<SessionOptions>;
  readonly #closed = new AbortController();
  readonly #participants = new Set<Participant>();
  readonly #places: SourcePlaces;
  /** What is wrong with pairs that could not be built, by their ids. */
  readonly #unbuildable = new Map<string, BuildFailure>();
  #watch: Promise<RuntimeWatch> | undefined;
  #crash: Promise<CrashReport> | undefined;
  #lastTurn: Promise<void> = Promise.resolve();
  #change = Promise.withResolvers<void>();

  constructor(lesson: Lesson, options: SessionOptions = {}) {
    this.lesson = lesson;
    this.#places = new SourcePlaces(lesson.dir);
    this.#options = {
      pairs: lesson.pairs,
      isWatched: true,
      runTimeoutMs: 120_000,
      crashPointTimeoutMs: 240_000,
      stallMs: 10_000,
      lanes: {},
      isQuick: false,
      ...options,
    };
  }

  /**
   * Runs both variants of a pair. A run that wants a crash stays at its crash point until {@link crash} is called, by
   * whomever.
   *
   * @returns an async iterator of what happens, ending with `pair-compared`; leaving it early gives the runs up
   * @throws the reason of `signal` once that is aborted, an error once the session is closed, and where the lesson's
   *   Workers cannot be started
   */
  run(pair: Pair, signal?: AbortSignal): AsyncGenerator<Progress, void, void> {
    return iterate<Progress>(async (emit, stop) => {
      const ended = new AbortController();
      const unlinks = [linkAbort(stop, ended), linkAbort(this.#closed.signal, ended)];
      try {
        // All that it tells is of its two sides.
        await this.#run(pair, emit as Emit, ended.signal);
      } finally {
        for (const unlink of unlinks) unlink();
      }
    }, signal);
  }

  /**
   * Runs one plan. A crash is asked for and waited for as in {@link run}.
   *
   * @returns the run, ended, with its ledger, unless it has a failure
   * @throws as {@link run}
   */
  async runPlan(plan: Plan, signal: AbortSignal, emit: Emit = () => undefined): Promise<RunClient> {
    const ended = new AbortController();
    const unlinks = [linkAbort(signal, ended), linkAbort(this.#closed.signal, ended)];
    try {
      await this.#started(ended.signal);
      return await this.#follow(this.#participant(plan, emit), undefined, ended.signal);
    } finally {
      for (const unlink of unlinks) unlink();
    }
  }

  #participant(plan: Plan, emit: Emit): Participant {
    const participant: Participant = {
      plan,
      emit,
      state: "running",
      run: undefined,
      crashError: undefined,
      lostAlone: 0,
    };
    this.#participants.add(participant);
    return participant;
  }

  /**
   * Kills the runtime once, as soon as every run of the lesson is over or at its crash point, and wakes those that were.
   * Runs that are asked for meanwhile start after it. Whoever asks while a crash is on its way gets that one.
   *
   * @throws Error where nothing has been run yet
   */
  crash(): Promise<CrashReport> {
    this.#crash ??= this.#crashWhenReady().finally(() => (this.#crash = undefined));
    return this.#crash;
  }

  /**
   * Builds the Workers anew from their sources. No run may be under way; storage stays, unless they could not be built before,
   * or cannot be now: then the next run starts another runtime, and says what is wrong.
   */
  async rebuild(): Promise<void> {
    const couldBeBuilt = this.#unbuildable.size === 0;
    this.#unbuildable.clear();
    await this.#crash?.catch(() => undefined);
    const watch = await this.#watch?.catch(() => undefined);
    if (!watch) return;
    const isBuilt =
      couldBeBuilt &&
      (await watch
        .duringCrash(() => watch.runtime.rebuild())
        .then(
          () => true,
          () => false,
        ));
    if (!isBuilt) await this.#discard(watch);
  }

  /** Ends every run and every process of the session. It cannot be used again. */
  async close(): Promise<void> {
    this.#closed.abort(new Error(`The session of ${this.lesson.id} was closed.`));
    const watch = await this.#watch?.catch(() => undefined);
    await this.#crash?.catch(() => undefined);
    await watch?.stop();
    await watch?.runtime.close();
  }

  async #run(pair: Pair, emit: Emit, stop: AbortSignal): Promise<void> {
    const lesson = this.lesson.id;
    emit({ type: "starting", lesson, pairs: [pair.id] });
    const { runtime } = await this.#started(stop);
    emit({ type: "ready", lesson, pid: runtime.pid });
    const enter = (variant: Variant) => this.#participant(ownPlan(pair, variant), emit);
    const [pitfall, fix] = [enter("pitfall"), enter("fix")];
    const runs = await Promise.all([
      this.#follow(pitfall, fix, stop),
      this.#follow(fix, pitfall, stop),
    ]);
    emit({ type: "pair-compared", lesson, result: pairResult(lesson, ...runs) });
  }

  /** The runtime, once it is up and no crash is on its way: that one would wait for the run that asks. */
  async #started(stop: AbortSignal): Promise<RuntimeWatch> {
    for (;;) {
      stop.throwIfAborted();
      if (this.#crash) {
        await unlessAborted(
          this.#crash.catch(() => undefined),
          stop,
        );
        continue;
      }
      if (!this.#watch) {
        const watch = this.#start();
        this.#watch = watch;
        // The next run tries anew.
        watch.catch(() => {
          if (this.#watch === watch) this.#watch = undefined;
        });
      }
      const watch = await unlessAborted(this.#watch, stop);
      if (!this.#crash) return watch;
    }
  }

  async #start(): Promise<RuntimeWatch> {
    // They bring wrangler with them, which takes most of a second to load: not before something is run.
    const [{ LessonRuntime }, { RuntimeWatch: Watch }] = await Promise.all([
      import("./runtime.ts"),
      import("./runtime-watch.ts"),
    ]);
    for (;;) {
      const pairs = this.#options.pairs.filter(({ id }) => !this.#unbuildable.has(id));
      try {
        const { isQuick } = this.#options;
        const runtime = await LessonRuntime.start(this.lesson.dir, {}, pairs, this.#options.lanes);
        if (isQuick) await runtime.withoutDelays("PITFALLS");
        return new Watch(runtime, this.#options.stallMs, (entry) => this.#takeUp(entry));
      } catch (error) {
        if (!this.#noteUnbuildable(error)) throw error;
      }
    }
  }

  /** Runs one side to its end, again where the runtime is lost under it. Returns the run that counts. */
  async #follow(
    self: Participant,
    other: Participant | undefined,
    stop: AbortSignal,
  ): Promise<RunClient> {
    const lesson = this.lesson.id;
    const { pair, variant } = self.plan;
    let endTurn = () => {};
    try {
      for (;;) {
        const watch = await this.#started(stop);
        const attempt = new AbortController();
        const unlink = linkAbort(stop, attempt);
        const run: RunClient = new RunClient(watch.runtime, self.plan, {
          signal: attempt.signal,
          ...(self.plan.trial && { pollMs: () => POLL_MS_PER_RUN * this.#participants.size }),
          ...(this.#options.isWatched && {
            onSnapshot: (snapshot) =>
              self.emit({ type: "run-snapshot", ...run.names(lesson), snapshot }),
          }),
        });
        self.run = run;
        this.#enter(self, "running");
        const work = this.#attempt(self, other, watch, attempt.signal);
        try {
          const reason = await Promise.race([work, watch.lost]);
          if (typeof reason === "string") {
            attempt.abort(new Error(reason));
            await work.catch(() => undefined);
            stop.throwIfAborted();
            const { suspect, wasAlone } = await this.#lose(watch);
            if (suspect === self) {
              self.emit({ type: "runtime-lost", reason, ...run.names(lesson) });
            }
            if (suspect === self && wasAlone) self.lostAlone += 1;
            if (self.lostAlone >= LOST_ALONE) {
              run.failure = { status: "blocked", message: await this.#blameFor(self.plan, reason) };
            } else {
              if (suspect === self) {
                endTurn();
                endTurn = await this.#untilAlone(self, stop);
              }
              continue;
            }
          }
        } finally {
          unlink();
        }
        run.isFinished = true;
        const result = run.result();
        self.emit({ type: "run-ended", lesson, pair: pair.id, variant, result });
        return run;
      }
    } finally {
      endTurn();
      this.#enter(self, "ended");
      this.#participants.delete(self);
    }
  }

  /** One run from its start to its end, with the events of its instances. */
  async #attempt(
    self: Participant,
    other: Participant | undefined,
    watch: RuntimeWatch,
    stop: AbortSignal,
  ): Promise<void> {
    const lesson = this.lesson.id;
    const { run } = self;
    if (!run) return;
    const { runTimeoutMs, crashPointTimeoutMs } = this.#options;
    const { trial } = self.plan;
    const answer = self.plan.pair.engine === "workflow" ? trial?.answer : undefined;
    const isWatched = this.#options.isWatched || answer !== undefined;
    const events = new EventFeed(run, stop, (event) => {
      self.emit({ type: "run-event", ...run.names(lesson), event });
      if (answer && event.type === "wait_started" && event.eventType) {
        for (let nth = 1; nth <= (answer.times ?? 1); nth++) {
          // What is lost in a crash comes again: the wait begins anew.
          run.sendEvent(event.eventType, answer.payload).catch(() => undefined);
        }
      }
    });
    const start = async () => {
      await run.start();
      self.emit({ type: "run-started", ...run.names(lesson) });
      if (isWatched) events.begin();
    };
    try {
      const unbuildable = this.#unbuildable.get(self.plan.pair.id);
      if (unbuildable) {
        run.failure = { status: "failed", message: unbuildable[self.plan.variant] };
        run.endedAt = performance.now();
        return;
      }
      await run.phase(start, runTimeoutMs);
      if (run.crash) {
        await run.phase(async () => {
          await run.untilCrashPoint();
          while (run.isLate) {
            await start();
            await run.untilCrashPoint();
          }
        }, runTimeoutMs);
        if (!run.failure) {
          self.crashError = undefined;
          this.#enter(self, "at-crash-point");
          self.emit({ type: "crash-point", ...run.names(lesson) });
        }
        await run.phase(async () => {
          await this.#until(() => self.state !== "at-crash-point", stop);
          if (self.crashError) throw self.crashError;
        }, crashPointTimeoutMs);
        this.#enter(self, "running");
        await run.phase(async () => {
          const did = await run.wake();
          self.emit({ type: "run-woken", ...run.names(lesson), did });
        }, runTimeoutMs);
      } else {
        await run.phase(async () => {
          const did = await run.disturb();
          if (did) self.emit({ type: "run-disturbed", ...run.names(lesson), did });
        }, runTimeoutMs);
      }
      const isOtherSideFinished = () =>
        !other ||
        other.state === "ended" ||
        other.state === "suspect" ||
        (other.run?.isFinished ?? false);
      await run.phase(() => run.untilOver(isOtherSideFinished), runTimeoutMs);
      // What goes wrong under a runtime that is lost is no failure of the run.
      if (run.failure && !(await unlessAborted(watch.isAlive(), stop))) {
        await unlessAborted(new Promise(() => undefined), stop);
      }
      if (run.isStarted) await watch.flush(run.id, () => run.flushLog()).catch(() => undefined);
      if (trial && run.isStarted) await run.readLedger().catch(() => undefined);
      if (isWatched) await events.end(!run.failure && !trial);
    } finally {
      events.stop();
    }
  }

  async #crashWhenReady(): Promise<CrashReport> {
    if (!this.#watch) throw new Error(`Nothing of ${this.lesson.id} is running.`);
    const lesson = this.lesson.id;
    this.#notify([...this.#participants], { type: "crash-asked", lesson });
    const isRunning = ({ state }: Participant) => state === "running";
    await this.#until(() => ![...this.#participants].some(isRunning), this.#closed.signal);
    const watch = await this.#watch;
    this.#closed.signal.throwIfAborted();
    const waiting = [...this.#participants].filter(({ state }) => state === "at-crash-point");
    const pairs = [...new Set(waiting.map(({ plan }) => plan.pair.id))];
    try {
      const at = Date.now();
      const report = await watch.duringCrash(() => watch.runtime.crash());
      this.#notify(waiting, { type: "crashed", lesson, pairs, ...report, at, upAt: Date.now() });
      return report;
    } catch (error) {
      for (const participant of waiting) participant.crashError = error;
      // Whatever state it is in, the next run shall have one that works.
      await this.#discard(watch);
      throw error;
    } finally {
      // At once: the next crash must wait for their ends, even if it is asked for before they have had their turn.
      for (const participant of waiting) this.#enter(participant, "running");
    }
  }

  /** Gives up a runtime that is lost, and says whose code it was that ran last. */
  async #lose(
    watch: RuntimeWatch,
  ): Promise<{ suspect: Participant | undefined; wasAlone: boolean }> {
    const known = this.#verdicts.get(watch);
    if (known) return known;
    const verdict = (async () => {
      watch.readLog();
      const active = [...this.#participants].filter(
        ({ run, state }) => run?.uses(watch.runtime) && state !== "suspect",
      );
      const suspect =
        watch.entered
          .map((id) => active.find(({ run }) => run?.id === id))
          .find((found) => found !== undefined) ?? active[0];
      if (suspect) this.#enter(suspect, "suspect");
      await this.#discard(watch);
      return { suspect, wasAlone: active.length === 1 };
    })();
    this.#verdicts.set(watch, verdict);
    return verdict;
  }
  readonly #verdicts = new WeakMap<
    RuntimeWatch,
    Promise<{ suspect: Participant | undefined; wasAlone: boolean }>
  >();

  async #discard(watch: RuntimeWatch): Promise<void> {
    if ((await this.#watch?.catch(() => undefined)) === watch) this.#watch = undefined;
    await watch.stop();
    await watch.runtime.close().catch(() => undefined);
  }

  /** Waits until no other run is under way. Those that wait for the same have their turns one after the other. */
  async #untilAlone(self: Participant, stop: AbortSignal): Promise<() => void> {
    const turn = Promise.withResolvers<void>();
    const before = this.#lastTurn;
    this.#lastTurn = turn.promise;
    try {
      await unlessAborted(before, stop);
      const isInTheWay = (other: Participant) => other !== self && other.state !== "suspect";
      await this.#until(() => ![...this.#participants].some(isInTheWay), stop);
    } catch (error) {
      turn.resolve();
      throw error;
    }
    return turn.resolve;
  }

  #enter(participant: Participant, state: Participant["state"]): void {
    participant.state = state;
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }

  /** Waits until a condition on the participants' states holds. */
  async #until(condition: () => boolean, stop: AbortSignal): Promise<void> {
    while (!condition()) await unlessAborted(this.#change.promise, stop);
  }

  /** Notifies every run of some participants: both variants of a pair pass it on to the same iterator. */
  #notify(participants: Participant[], progress: Progress<AnyVariant>): void {
    for (const emit of new Set(participants.map((participant) => participant.emit))) emit(progress);
  }

  /** Takes up what a variant has written or thrown. */
  #takeUp({ run: id, kind, text, level }: RunLogEntry & { level: string }): void {
    const run = [...this.#participants].find((participant) => participant.run?.id === id)?.run;
    if (!run) return;
    if (kind === "console") run.console.push({ level, text });
    if (kind !== "threw") return;
    const { name, message, stack, step }: Thrown = JSON.parse(text);
    const place = stack === null ? null : this.#places.placeOf(stack);
    const at = place && `${this.#nameOf(place.file)}:${place.line}:${place.column}`;
    const thrown: ThrownError = { name, message, step, at, times: 1 };
    // An error of a step's callback passes through run(), too: there its place is the step.
    const same = run.thrown.find(
      (other) => other.name === name && other.message === message && (other.at === at || !step),
    );
    if (!same) run.thrown.push(thrown);
    else if (same.step === step) same.times += 1;
  }

  /** Notes which pairs a failed build is about. Returns false where it is about something else. */
  #noteUnbuildable(error: unknown): boolean {
    let isNew = false;
    for (const { file, line, column, message } of buildProblems(error)) {
      // The file, or what the entry of the lab's Worker could not find.
      const [, folder, name = ""] =
        /src\/pitfalls\/([^/"]+)\/([^"\s]+)/.exec(`${file} ${message}`) ?? [];
      const pair = this.#options.pairs.find(({ id }) => id === folder);
      if (!pair || this.#unbuildable.has(pair.id)) continue;
      const path = this.#nameOf(join(this.lesson.dir, "src", "pitfalls", pair.id, name));
      const text = `${path}:${line}:${column}: ${message}`;
      const rest = `not run, since its pair cannot be built: ${text}`;
      const all: AnyVariant[] = [...VARIANTS, YOURS];
      const isOfAnother = (variant: AnyVariant) =>
        all.some((other) => other !== variant && name === `${other}.ts`);
      const failures = all.map((variant) => [variant, isOfAnother(variant) ? rest : text]);
      this.#unbuildable.set(pair.id, Object.fromEntries(failures));
      isNew = true;
    }
    return isNew;
  }

  /** Says of a side that blocks the runtime where that may be. */
  async #blameFor({ pair, variant }: Plan, reason: string): Promise<string> {
    const file = join(this.lesson.dir, "src", "pitfalls", pair.id, `${variant}.ts`);
    const text = await readFile(file, "utf8").catch(() => "");
    const loops = loopsOf(text).join(", ");
    const where = `${this.#nameOf(file)}${loops && `, loops on line ${loops}`}`;
    return `${reason} while only this side ran: does it loop without an end, or fill the memory? See ${where}`;
  }

  /** A file's name as a reader of the repository says it. */
  #nameOf(file: string): string {
    return nameInRepository(this.lesson, file);
  }
}

/** With many runs at once none is asked often: that would be all that the runtime does. */
const POLL_MS_PER_RUN = 10;

type BuildFailure = Record<AnyVariant, string>;

/** The numbers of the lines on which a loop begins. */
function loopsOf(source: string): number[] {
  return source
    .split("\n")
    .flatMap((line, index) => (/^[^/*]*\b(do|for|while)\b/.test(line) ? [index + 1] : []));
}
