import { setTimeout as delay } from "node:timers/promises";
import {
  compareEvidence,
  type Crash,
  type Pair,
  type RunReport,
  type Variant,
  isOver,
} from "../pair.ts";
import type { Mark, PairResult, PlatformEvent, RunSnapshot, VariantResult } from "./progress.ts";
import type { LessonRuntime } from "./runtime.ts";

/** How often the state of a run is looked at. */
const POLL_MS = 50;
/** How often it is where somebody watches, who wants its times and its events as well: looking costs the runs time. */
const WATCHED_POLL_MS = 150;

/** What a {@link RunClient} tells while it works. */
export interface RunListener {
  /** Ends everything that the client does. */
  signal?: AbortSignal | undefined;
  /** Gets how the run stands, whenever that has changed. */
  onSnapshot?: (snapshot: RunSnapshot) => void;
}

/** One run, seen through the routes of the lesson's Worker. */
export class RunClient {
  readonly pair: Pair;
  readonly variant: Variant;
  readonly startedAt = performance.now();
  endedAt = Number.NaN;
  failure: string | undefined;
  /** Set once nothing more is done with the run. */
  isFinished = false;
  readonly #runtime: LessonRuntime;
  readonly #listener: RunListener;
  /** Ends the phase that the run is in: the listener's signal, or time running out. */
  #stop: AbortSignal | undefined;
  #path = "";
  /** The run's own start, by the clock that the Worker reads. */
  #startedAtEpoch = 0;
  #last: RunReport | undefined;
  #told = "";
  #waitingFor = "its start";

  constructor(runtime: LessonRuntime, pair: Pair, variant: Variant, listener: RunListener = {}) {
    this.#runtime = runtime;
    this.pair = pair;
    this.variant = variant;
    this.#listener = listener;
    this.#stop = listener.signal;
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

  /** The crash that the pair wants, if it wants one. */
  get crash(): Crash | undefined {
    const { disturb } = this.pair;
    return disturb && "crash" in disturb ? disturb : undefined;
  }

  get #run(): string {
    return this.#path.split("/").at(-1) ?? "";
  }

  /** How progress names this run. */
  names(lesson: string) {
    return { lesson, pair: this.pair.id, variant: this.variant, run: this.#run };
  }

  /**
   * Runs a phase, unless an earlier one failed. What goes wrong in it, time running out included, is the run's failure
   * and nobody else's.
   */
  async settle(phase: (stop: AbortSignal) => Promise<void>, timeoutMs: number): Promise<void> {
    if (this.failure) return;
    const { signal } = this.#listener;
    const timeout = AbortSignal.timeout(timeoutMs);
    const stop = signal ? AbortSignal.any([signal, timeout]) : timeout;
    this.#stop = stop;
    try {
      await phase(stop);
    } catch (error) {
      signal?.throwIfAborted();
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
      await this.#untilEvent(type, (event) => event.stepName === `${place}-1`, `step "${place}"`);
    }
    this.#waitingFor = `a call that hangs (${place})`;
    const report = await this.#until((seen) => seen.hanging.length > 0 || isOver(seen.status));
    if (isOver(report.status)) {
      throw new Error(`ended with status ${report.status} before its crash point (${place})`);
    }
    if (engine !== "workflow" && !report.hanging.some((operation) => operation === place)) {
      throw new Error(`hangs in ${report.hanging.join(", ")}, not in ${place}`);
    }
    this.#waitingFor = "somebody to kill the runtime";
  }

  /** Does what the pair says, when the run is ready for it. */
  async disturb(): Promise<string | null> {
    const { disturb } = this.pair;
    if (!disturb) return null;
    if ("sendEvent" in disturb) {
      const { type } = disturb.sendEvent;
      await this.#untilEvent(
        "wait_started",
        (event) => event.eventType === type,
        `a wait for "${type}"`,
      );
    } else if ("restart" in disturb || "expire" in disturb) {
      await this.#untilEnd();
    } else {
      return null;
    }
    const { disturbed } = await this.#json<{ disturbed: string }>("POST", "/disturb");
    return disturbed;
  }

  /** Brings the run back after a crash. */
  async wake(): Promise<string> {
    const remaining = this.#wakeAt - Date.now();
    if (remaining > 0) await this.#pause(remaining);
    this.#waitingFor = "an answer to its wake";
    const { woken } = await this.#json<{ woken: string }>("POST", "/wake");
    return woken;
  }

  /**
   * Waits until the run has ended, well or not. One that is expected to wait for ever is ended when the other side is
   * finished and the platform says that it waits: so no clock decides what "for ever" is.
   */
  async untilOver(other: RunClient): Promise<void> {
    if (this.pair.expect[this.variant].status !== "waiting") return this.#untilEnd();
    await this.#untilEvent("wait_started", () => true, "a wait for an event");
    this.#waitingFor = "the end of the other side";
    const report = await this.#until(({ status }) => other.isFinished || isOver(status));
    if (isOver(report.status)) return;
    await this.#json("POST", "/end");
    this.#last = { ...report, status: "waiting" };
  }

  /**
   * The platform's events of the run's instances so far, and those that come until the instances are over or the
   * connection is lost: the runtime may be killed meanwhile.
   */
  async *events(signal: AbortSignal | undefined = this.#stop): AsyncGenerator<PlatformEvent> {
    const init = signal ? { method: "GET", signal } : { method: "GET" };
    yield* ndjson(await this.#runtime.fetch(`${this.#path}/events`, init));
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

  async #untilEnd(): Promise<void> {
    this.#waitingFor = "its end";
    await this.#until(({ status }) => isOver(status));
  }

  async #until(condition: (report: RunReport) => boolean): Promise<RunReport> {
    for (;;) {
      const report = await this.#json<RunReport>("GET", "");
      this.#last = report;
      await this.#tell(report);
      if (condition(report)) return report;
      await this.#pause(this.#listener.onSnapshot ? WATCHED_POLL_MS : POLL_MS);
    }
  }

  async #tell(report: RunReport): Promise<void> {
    const { onSnapshot } = this.#listener;
    const text = JSON.stringify([this.#path, report]);
    if (!onSnapshot || text === this.#told) return;
    this.#told = text;
    const marks = await this.#json<Mark[]>("GET", "/marks");
    const { evidence } = compareEvidence(this.pair.expect[this.variant], report);
    onSnapshot({
      status: report.status,
      evidence,
      // A provider's detail is of no use in a picture; a message's is its index.
      marks: marks.map(({ kind, detail, at }) => ({
        kind,
        detail: typeof detail === "number" ? detail : null,
        at,
      })),
    });
  }

  async #untilEvent(
    type: string,
    matches: (event: PlatformEvent) => boolean,
    what: string,
  ): Promise<void> {
    this.#waitingFor = what;
    for await (const event of this.events()) {
      if (event.type === type && matches(event)) return;
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

/** Both variants of a pair, compared. */
export function pairResult(lesson: string, pitfall: RunClient, fix: RunClient): PairResult {
  const variants = { pitfall: pitfall.result(), fix: fix.result() };
  return {
    lesson,
    pair: pitfall.pair,
    variants,
    ok: variants.pitfall.ok && variants.fix.ok,
    ms: Math.round(
      Math.max(pitfall.endedAt, fix.endedAt) - Math.min(pitfall.startedAt, fix.startedAt),
    ),
  };
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

async function* ndjson(response: Response): AsyncGenerator<PlatformEvent> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line) yield JSON.parse(line);
  }
}
