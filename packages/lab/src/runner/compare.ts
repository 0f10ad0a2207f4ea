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
  /** How long one run may take from its start to its end, 120,000 by default. Reaching it is a failed pair. */
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
  const runs = await Promise.all(
    pairs.flatMap((pair) => VARIANTS.map((variant) => startRun(runtime, pair, variant, options))),
  );
  for (const run of runs) emit({ type: "run-started", ...run.names(lesson) });

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
      await run.settle(() => run.untilCrashPoint(), runTimeoutMs);
      if (!run.failure) emit({ type: "crash-point", ...run.names(lesson) });
    }),
  ]);

  if (doomed.some((run) => !run.failure)) {
    const report = await runtime.crash();
    emit({
      type: "crashed",
      lesson,
      pairs: [...new Set(doomed.map(({ pair }) => pair.id))],
      ...report,
    });
  }
  await Promise.all(
    doomed.map(async (run) => {
      if (!run.failure) {
        await run.settle(async () => {
          const did = await run.wake();
          emit({ type: "run-woken", ...run.names(lesson), did });
          return run.untilOver();
        }, runTimeoutMs);
      }
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

async function startRun(
  runtime: LessonRuntime,
  pair: Pair,
  variant: Variant,
  { signal }: CompareOptions,
): Promise<RunClient> {
  const startedAt = performance.now();
  const response = await runtime.fetch(`/pitfalls/${pair.id}/${variant}`, { method: "POST" });
  const location = response.headers.get("location");
  const body = await response.text();
  if (response.status !== 202 || !location) {
    throw new Error(`The ${variant} of "${pair.id}" did not start: ${response.status} ${body}`);
  }
  return new RunClient(runtime, pair, variant, location, startedAt, signal);
}

/** One run, seen through the routes of the lesson's Worker. */
class RunClient {
  readonly pair: Pair;
  readonly variant: Variant;
  readonly startedAt: number;
  endedAt = Number.NaN;
  failure: string | undefined;
  readonly #runtime: LessonRuntime;
  readonly #path: string;
  readonly #signal: AbortSignal | undefined;
  #last: RunReport | undefined;
  #waitingFor = "its start";

  constructor(
    runtime: LessonRuntime,
    pair: Pair,
    variant: Variant,
    path: string,
    startedAt: number,
    signal: AbortSignal | undefined,
  ) {
    this.#runtime = runtime;
    this.pair = pair;
    this.variant = variant;
    this.#path = path;
    this.startedAt = startedAt;
    this.#signal = signal;
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

  /** Runs a phase. What goes wrong in it, time running out included, is the run's failure and nobody else's. */
  async settle(phase: () => Promise<void>, timeoutMs: number): Promise<void> {
    const timeout = new AbortController();
    try {
      await Promise.race([
        phase(),
        delay(timeoutMs, undefined, { signal: timeout.signal }).then(() => {
          throw new Error(`timed out after ${timeoutMs} ms, waiting for ${this.#waitingFor}`);
        }),
      ]);
    } catch (error) {
      this.#signal?.throwIfAborted();
      this.failure = error instanceof Error ? error.message : String(error);
    } finally {
      timeout.abort();
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
    const remaining = (this.crash?.wakeAfterMs ?? 0) - (performance.now() - this.startedAt);
    if (remaining > 0)
      await delay(remaining, undefined, this.#signal ? { signal: this.#signal } : {});
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
      this.#signal?.throwIfAborted();
      this.#last = await this.#json<RunReport>("GET", "");
      if (condition(this.#last)) return this.#last;
      await delay(POLL_MS);
    }
  }

  async #untilEvent(
    type: string,
    matches: (event: Record<string, unknown>) => boolean,
    what: string,
  ): Promise<void> {
    this.#waitingFor = what;
    const response = await this.#runtime.fetch(`${this.#path}/events`);
    for await (const event of ndjson(response)) {
      this.#signal?.throwIfAborted();
      if (event["type"] === type && matches(event)) return;
    }
    throw new Error(`ended without ${what}`);
  }

  async #json<T>(method: "GET" | "POST", action: string): Promise<T> {
    const response = await this.#runtime.fetch(`${this.#path}${action}`, { method });
    const body = await response.text();
    if (!response.ok)
      throw new Error(`${method} ${this.#path}${action}: ${response.status} ${body}`);
    return JSON.parse(body);
  }
}

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
