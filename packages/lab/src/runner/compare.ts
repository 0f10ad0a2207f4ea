import { setTimeout as delay } from "node:timers/promises";
import {
  compareEvidence,
  type Crash,
  type Pair,
  type RunReport,
  type Variant,
  VARIANTS,
} from "../pair.ts";
import { emitted } from "./channel.ts";
import type { Selection } from "./lessons.ts";
import type { PairResult, Progress, VariantResult } from "./progress.ts";
import { LessonRuntime } from "./runtime.ts";

/** How often the state of a run is looked at. */
const POLL_MS = 50;

/** Settings of a comparison. */
export interface CompareOptions {
  /** Ends the work and every process of it; the iterator then throws the signal's reason. */
  signal?: AbortSignal;
  /**
   * How long one run may take to its end, or to its crash point and from there to its end, 120,000 by default. Reaching
   * it is a failed pair.
   */
  runTimeoutMs?: number;
}

/**
 * Runs pairs: for each lesson a runtime of its own on fresh storage, both variants of every pair at once, one crash
 * for all of them. Lessons follow each other.
 *
 * @returns an async iterator of what happens; leaving it early ends every process
 */
export function comparePairs(
  selections: readonly Selection[],
  options: CompareOptions = {},
): AsyncGenerator<Progress, void, void> {
  return emitted(async (emit, signal) => {
    for (const { lesson, pairs } of selections) {
      signal.throwIfAborted();
      emit({ type: "starting", lesson: lesson.id, pairs: pairs.map(({ id }) => id) });
      const runtime = await LessonRuntime.start(lesson.dir);
      try {
        signal.throwIfAborted();
        emit({ type: "ready", lesson: lesson.id, pid: runtime.pid });
        await compareOn(runtime, lesson.id, pairs, emit, { ...options, signal });
      } finally {
        await runtime.close();
      }
    }
  }, options.signal);
}

/**
 * Runs pairs of one lesson on a runtime that is up.
 *
 * @param emit gets what happens, ending with one `pair-compared` for each pair
 * @throws the reason of `options.signal` once that is aborted
 */
export async function compareOn(
  runtime: LessonRuntime,
  lesson: string,
  pairs: readonly Pair[],
  emit: (progress: Progress) => void,
  options: CompareOptions = {},
): Promise<void> {
  const { runTimeoutMs = 120_000 } = options;
  const runs = pairs.flatMap((pair) =>
    VARIANTS.map((variant) => new RunClient(runtime, pair, variant, options.signal)),
  );
  const start = async (run: RunClient) => {
    await run.start();
    emit({ type: "run-started", ...run.names(lesson) });
  };
  await Promise.all(runs.map((run) => run.settle(() => start(run), runTimeoutMs)));

  // A run that wants no crash must be over before the one that all the others share.
  const calm = runs.filter((run) => !run.crash);
  const doomed = runs.filter((run) => run.crash);
  await Promise.all([
    ...calm.map(async (run) => {
      await run.settle(async () => {
        const did = await run.disturb();
        if (did) emit({ type: "run-disturbed", ...run.names(lesson), did });
        return run.untilOver();
      }, runTimeoutMs);
      emit({ type: "run-ended", ...run.names(lesson), result: run.result() });
    }),
    ...doomed.map(async (run) => {
      await run.settle(async () => {
        await run.untilCrashPoint();
        while (run.isLate) {
          await start(run);
          await run.untilCrashPoint();
        }
      }, runTimeoutMs);
      if (!run.failure) emit({ type: "crash-point", ...run.names(lesson) });
    }),
  ]);

  const ready = doomed.filter((run) => !run.failure);
  if (ready.length > 0) {
    const report = await runtime.crash();
    const names = new Set(ready.map(({ pair }) => pair.id));
    emit({ type: "crashed", lesson, pairs: [...names], ...report });
  }
  await Promise.all(
    doomed.map(async (run) => {
      await run.settle(async () => {
        const did = await run.wake();
        emit({ type: "run-woken", ...run.names(lesson), did });
        return run.untilOver();
      }, runTimeoutMs);
      emit({ type: "run-ended", ...run.names(lesson), result: run.result() });
    }),
  );

  for (const pair of pairs) {
    emit({ type: "pair-compared", lesson, result: pairResult(lesson, pair, runs) });
  }
}

function pairResult(lesson: string, pair: Pair, runs: RunClient[]): PairResult {
  const side = (variant: Variant) => {
    const run = runs.find((candidate) => candidate.pair === pair && candidate.variant === variant);
    if (!run) throw new Error(`The ${variant} of "${pair.id}" was not run.`);
    return run;
  };
  const [pitfall, fix] = [side("pitfall"), side("fix")];
  const variants = { pitfall: pitfall.result(), fix: fix.result() };
  return {
    lesson,
    pair,
    variants,
    ok: variants.pitfall.ok && variants.fix.ok,
    ms: Math.round(
      Math.max(pitfall.endedAt, fix.endedAt) - Math.min(pitfall.startedAt, fix.startedAt),
    ),
  };
}

/** One run, seen through the routes of the lesson's Worker. */
class RunClient {
  readonly pair: Pair;
  readonly variant: Variant;
  readonly startedAt = performance.now();
  endedAt = Number.NaN;
  failure: string | undefined;
  readonly #runtime: LessonRuntime;
  /** Ends the whole comparison. */
  readonly #signal: AbortSignal | undefined;
  /** Ends the phase that the run is in: the signal above, or time running out. */
  #stop: AbortSignal | undefined;
  #path = "";
  /** The run's own start, by the clock that the Worker reads. */
  #startedAtEpoch = 0;
  #last: RunReport | undefined;
  #waitingFor = "its start";

  constructor(
    runtime: LessonRuntime,
    pair: Pair,
    variant: Variant,
    signal: AbortSignal | undefined,
  ) {
    this.#runtime = runtime;
    this.pair = pair;
    this.variant = variant;
    this.#signal = signal;
    this.#stop = signal;
  }

  /** Starts the run. A second call starts another one in its place; the first dies in the crash and is not woken. */
  async start(): Promise<void> {
    const response = await this.#fetch("POST", `/pitfalls/${this.pair.id}/${this.variant}`);
    const body = await response.text();
    const location = response.headers.get("location");
    if (response.status !== 202 || !location) {
      throw new Error(`did not start: ${response.status} ${body}`);
    }
    const { startedAt }: { startedAt: number } = JSON.parse(body);
    this.#path = location;
    this.#startedAtEpoch = startedAt;
  }

  /** Is it too late for a run that must be at its crash point before the time at which it may be woken? */
  get isLate(): boolean {
    return this.#wakeAt > 0 && Date.now() >= this.#wakeAt;
  }

  get #wakeAt(): number {
    const { wakeAfterMs = 0 } = this.crash ?? {};
    return wakeAfterMs && this.#startedAtEpoch + wakeAfterMs;
  }

  get crash(): Crash | undefined {
    const { disturb } = this.pair;
    return disturb && "crash" in disturb ? disturb : undefined;
  }

  get #run(): string {
    return this.#path.split("/").at(-1) ?? "";
  }

  names(lesson: string) {
    return { lesson, pair: this.pair.id, variant: this.variant, run: this.#run };
  }

  /**
   * Runs a phase, unless an earlier one failed. What goes wrong in it, time running out included, is the run's failure
   * and nobody else's.
   */
  async settle(phase: () => Promise<void>, timeoutMs: number): Promise<void> {
    if (this.failure) return;
    const timeout = AbortSignal.timeout(timeoutMs);
    this.#stop = this.#signal ? AbortSignal.any([this.#signal, timeout]) : timeout;
    try {
      await phase();
    } catch (error) {
      this.#signal?.throwIfAborted();
      this.failure = timeout.aborted
        ? `timed out after ${timeoutMs} ms, waiting for ${this.#waitingFor}`
        : messageOf(error);
    } finally {
      this.endedAt = performance.now();
    }
  }

  /** Waits until a call hangs and, in a Workflow, until the platform says that the step is where the pair says. */
  async untilCrashPoint(): Promise<void> {
    const { crash, engine } = { crash: this.crash?.crash, engine: this.pair.engine };
    if (!crash) return;
    const [type, place] =
      "during" in crash
        ? (["attempt_started", crash.during] as const)
        : (["step_completed", crash.after] as const);
    if (engine === "workflow") {
      await this.#untilEvent(
        type,
        (event) => event["stepName"] === `${place}-1`,
        `step "${place}"`,
      );
    }
    this.#waitingFor = `a call that hangs (${place})`;
    const report = await this.#until((seen) => seen.hanging.length > 0 || isOver(seen.status));
    if (isOver(report.status)) {
      throw new Error(`ended with status ${report.status} before its crash point (${place})`);
    }
    if (engine !== "workflow" && !report.hanging.some((operation) => operation === place)) {
      throw new Error(`hangs in ${report.hanging.join(", ")}, not in ${place}`);
    }
  }

  /** Does what the pair says, when the run is ready for it. */
  async disturb(): Promise<string | null> {
    const { disturb } = this.pair;
    if (!disturb) return null;
    if ("sendEvent" in disturb) {
      const { type } = disturb.sendEvent;
      await this.#untilEvent(
        "wait_started",
        (event) => event["eventType"] === type,
        `a wait for "${type}"`,
      );
    } else if ("restart" in disturb) {
      await this.untilOver();
    } else {
      return null;
    }
    const { disturbed } = await this.#json<{ disturbed: string }>("POST", "/disturb");
    return disturbed;
  }

  async wake(): Promise<string> {
    const remaining = this.#wakeAt - Date.now();
    if (remaining > 0) await this.#pause(remaining);
    this.#waitingFor = "an answer to its wake";
    const { woken } = await this.#json<{ woken: string }>("POST", "/wake");
    return woken;
  }

  async untilOver(): Promise<void> {
    this.#waitingFor = "its end";
    await this.#until(({ status }) => isOver(status));
  }

  /** The result, once a phase ended the run. */
  result(): VariantResult {
    const report = this.#last ?? {
      status: "unknown",
      output: null,
      error: null,
      evidence: {},
      observations: {},
    };
    const seen = this.failure
      ? { ...report, status: this.failure.startsWith("timed out") ? "timed out" : "failed" }
      : report;
    const compared = compareEvidence(this.pair.expect[this.variant], seen);
    return {
      run: this.#run,
      status: seen.status,
      error: this.failure ?? report.error,
      ...compared,
      ok: !this.failure && compared.differences.length === 0,
    };
  }

  async #until(condition: (report: RunReport) => boolean): Promise<RunReport> {
    for (;;) {
      this.#last = await this.#json<RunReport>("GET", "");
      if (condition(this.#last)) return this.#last;
      await this.#pause(POLL_MS);
    }
  }

  async #untilEvent(
    type: string,
    matches: (event: Record<string, unknown>) => boolean,
    what: string,
  ): Promise<void> {
    this.#waitingFor = what;
    const response = await this.#fetch("GET", `${this.#path}/events`);
    for await (const event of ndjson(response)) {
      if (event["type"] === type && matches(event)) return;
    }
    throw new Error(`ended without ${what}`);
  }

  async #json<T>(method: "GET" | "POST", action: string): Promise<T> {
    const response = await this.#fetch(method, `${this.#path}${action}`);
    const body = await response.text();
    if (!response.ok) {
      throw new Error(`${method} ${this.#path}${action}: ${response.status} ${body}`);
    }
    return JSON.parse(body);
  }

  #fetch(method: "GET" | "POST", path: string): Promise<Response> {
    return this.#runtime.fetch(path, this.#stop ? { method, signal: this.#stop } : { method });
  }

  #pause(ms: number): Promise<void> {
    return delay(ms, undefined, this.#stop ? { signal: this.#stop } : {});
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

const isOver = (status: string) => ["complete", "errored", "terminated"].includes(status);

async function* ndjson(response: Response): AsyncGenerator<Record<string, unknown>> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line) yield JSON.parse(line);
  }
}
