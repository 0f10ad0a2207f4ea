import { setTimeout as delay } from "node:timers/promises";
import { TimeLimitError, within } from "@durable-lessons/crash-test/time-limit";
import type { Mark } from "@durable-lessons/types";
import { messageOf } from "../message-of.ts";
import { compareEvidence } from "../evidence.ts";
import { type Crash, isOver, type RunLedger, type RunReport } from "../pair.ts";
import type { Plan } from "../plan.ts";
import { linkAbort, unlessAborted } from "./channel.ts";
import type {
  ConsoleLine,
  PairResult,
  PlatformEvent,
  RunSnapshot,
  ThrownError,
  VariantResult,
} from "./progress.ts";
import type { LessonRuntime } from "./runtime.ts";

/** How often the state of a run is looked at. */
const POLL_MS = 50;
/** How often it is where somebody watches, who wants its times and its events as well: looking costs the runs time. */
const WATCHED_POLL_MS = 150;
/** How long a run must hang in the same call, with no news, before its crash point counts as missed. */
const MISSED_AFTER_MS = 2000;

/** What a {@link RunClient} tells while it works. */
export interface RunListener {
  /** Ends everything that the client does. */
  signal?: AbortSignal | undefined;
  /** Gets how the run stands, whenever that has changed. */
  onSnapshot?: (snapshot: RunSnapshot) => void;
  /** How often the state of the run is looked at, in milliseconds; 50 by default. */
  pollMs?: () => number;
}

/** Why a run has no end of its own. */
export interface RunFailure {
  /** The status that its result has. */
  status: "blocked" | "failed" | "timed out";
  message: string;
}

/** One run, seen through the routes of the lesson's Worker. */
export class RunClient {
  readonly plan: Plan;
  readonly startedAt = performance.now();
  endedAt = Number.NaN;
  /** Empty before its start. */
  id = "";
  failure: RunFailure | undefined;
  /** Set once nothing more is done with the run. */
  isFinished = false;
  readonly console: ConsoleLine[] = [];
  readonly thrown: ThrownError[] = [];
  /** Once it was read. */
  ledger: RunLedger | undefined;
  readonly #runtime: LessonRuntime;
  readonly #listener: RunListener;
  /** Ends the phase that the run is in. Held here, so that it is not collected before its time. */
  #phase = new AbortController();
  #path = "";
  /** The run's own start, by the clock that the Worker reads. */
  #startedAtEpoch = 0;
  #last: RunReport | undefined;
  #notified = "";
  #waitingFor = "its start";

  constructor(runtime: LessonRuntime, plan: Plan, listener: RunListener = {}) {
    this.#runtime = runtime;
    this.plan = plan;
    this.#listener = listener;
  }

  /** Starts the run. A second call starts another one in its place; the first dies in the crash and is not woken. */
  async start(): Promise<void> {
    const { pair, variant, faults, disturb, trial } = this.plan;
    // Known before the answer: the code that runs first may be what keeps the answer away.
    this.id = crypto.randomUUID().slice(0, 13);
    const body = JSON.stringify({
      run: this.id,
      faults,
      disturb: disturb ?? null,
      logged: true,
      trial,
    });
    const response = await this.#fetch("POST", `/pitfalls/${pair.id}/${variant}`, body);
    const text = await response.text();
    const location = response.headers.get("location");
    if (response.status !== 202 || !location) {
      // The Worker knows it all the same, and is asked what its code has thrown.
      this.#path = `/pitfalls/${pair.id}/${variant}/${this.id}`;
      throw new Error(`did not start: ${response.status} ${errorOf(text)}`);
    }
    const { startedAt }: { startedAt: number } = JSON.parse(text);
    this.#path = location;
    this.#startedAtEpoch = startedAt;
  }

  /** Does it run on this runtime? */
  uses(runtime: LessonRuntime): boolean {
    return this.#runtime === runtime;
  }

  /** Does the Worker know of it? */
  get isStarted(): boolean {
    return this.#path !== "";
  }

  /** Is it too late for a run that must be at its crash point before the time at which it may be woken? */
  get isLate(): boolean {
    return this.#wakeAt > 0 && Date.now() >= this.#wakeAt;
  }

  get #wakeAt(): number {
    const { wakeAfterMs = 0 } = this.crash ?? {};
    return wakeAfterMs && this.#startedAtEpoch + wakeAfterMs;
  }

  /** The crash that the plan wants, if it wants one. */
  get crash(): Crash | undefined {
    const { disturb } = this.plan;
    return disturb && "crash" in disturb ? disturb : undefined;
  }

  /** How progress names this run. */
  names(lesson: string) {
    return { lesson, pair: this.plan.pair.id, variant: this.plan.variant, run: this.id };
  }

  /**
   * Does a part of the run's work within a time limit, unless an earlier part failed. What goes wrong in it, time running
   * out included, is the run's failure and nobody else's.
   *
   * @throws the reason of the listener's signal once that is aborted
   */
  async phase(work: () => Promise<void>, timeoutMs: number): Promise<void> {
    if (this.failure) return;
    const { signal } = this.#listener;
    signal?.throwIfAborted();
    const phase = new AbortController();
    this.#phase = phase;
    const unlink = linkAbort(signal, phase);
    const reason = () => `timed out after ${timeoutMs} ms, waiting for ${this.#waitingFor}`;
    try {
      await within(unlessAborted(work(), phase.signal), timeoutMs, reason);
    } catch (error) {
      signal?.throwIfAborted();
      const status = error instanceof TimeLimitError ? "timed out" : "failed";
      this.failure = { status, message: messageOf(error) };
    } finally {
      unlink();
      // Ends what is still under way: a request without an answer, a pause.
      phase.abort();
      this.endedAt = performance.now();
    }
  }

  /** Waits until a call hangs and, in a Workflow, until the platform says that the step is where the plan says. */
  async untilCrashPoint(): Promise<void> {
    const crash = this.crash?.crash;
    if (!crash) return;
    const place = placeOf(crash);
    const isWorkflow = this.plan.pair.engine === "workflow" && !("call" in crash);
    this.#waitingFor = isWorkflow ? `step "${place}"` : `a call that hangs (${place})`;
    let missedAt = Number.POSITIVE_INFINITY;
    for (;;) {
      const { hanging, status } = await this.#until(
        (report) => report.hanging.length > 0 || isOver(report.status),
      );
      const isThere = isWorkflow
        ? (await this.#eventsSoFar()).some(isAtCrashPoint(crash))
        : hanging.some((operation) => operation === place);
      if (isOver(status)) {
        if (isThere || !isWorkflow) {
          throw new Error(`ended with status ${status} before its crash point (${place})`);
        }
        throw new Error(`ended with status ${status}, without step "${place}"`);
      }
      if (isThere) break;
      const calls = hanging.join(", ");
      if (!isWorkflow) throw new Error(`hangs in ${calls}, not in ${place}`);
      // Steps may go on beside the one that hangs.
      if (missedAt === Number.POSITIVE_INFINITY) missedAt = performance.now() + MISSED_AFTER_MS;
      else if (performance.now() >= missedAt) {
        throw new Error(`never reached step "${place}": it hangs in ${calls}`);
      }
      await this.#pause(POLL_MS);
    }
    this.#waitingFor = "somebody to kill the runtime";
  }

  /** Does what the plan says, when the run is ready for it. */
  async disturb(): Promise<string | null> {
    const { disturb } = this.plan;
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
  async untilOver(isOtherSideFinished: () => boolean): Promise<void> {
    if (this.plan.expect.status !== "waiting") return this.#untilEnd();
    await this.#untilEvent("wait_started", () => true, "a wait for an event");
    this.#waitingFor = "the end of the other side";
    const report = await this.#until(({ status }) => isOtherSideFinished() || isOver(status));
    if (isOver(report.status)) return;
    await this.#json("POST", "/end");
    this.#last = { ...report, status: "waiting" };
  }

  /**
   * The platform's events of the run's instances so far, and those that come until the instances are over or the
   * connection is lost: the runtime may be killed meanwhile.
   */
  async *events(signal: AbortSignal = this.#phase.signal): AsyncGenerator<PlatformEvent> {
    yield* ndjson(await this.#runtime.fetch(`${this.#path}/events`, { method: "GET", signal }));
  }

  /** Asks the Worker to write a line of its own, after all that the run's code has written so far. */
  async flushLog(): Promise<void> {
    await this.#ask("/flush", "");
  }

  /** Sends the run's instance an event. */
  async sendEvent(type: string, payload: unknown): Promise<void> {
    await this.#ask("/event", JSON.stringify({ type, payload }));
  }

  /** What a trial is judged by. */
  async readLedger(): Promise<void> {
    this.ledger = JSON.parse(await this.#ask("/ledger"));
  }

  /**
   * Outside of the phases: the last one's signal is aborted. A `POST` where there is a body.
   *
   * @throws Error where the Worker does not do it
   */
  async #ask(action: string, body?: string): Promise<string> {
    const init = body === undefined ? {} : { method: "POST", body };
    const response = await this.#runtime.fetch(this.#path + action, init);
    const text = await response.text();
    if (!response.ok) throw new Error(`${action} was answered ${response.status} ${errorOf(text)}`);
    return text;
  }

  /** How the run stood when it was looked at last. */
  get report(): RunReport | undefined {
    return this.#last;
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
    const { failure, console, thrown } = this;
    const seen = failure ? { ...report, status: failure.status } : report;
    const compared = this.#compared(seen);
    const ok = !failure && compared.differences.length === 0;
    return {
      run: this.id,
      status: seen.status,
      error: failure?.message ?? report.error,
      ...compared,
      ok,
      ...(thrown.length > 0 && !ok ? { thrown } : {}),
      ...(console.length > 0 ? { console } : {}),
    };
  }

  /** Beside what is expected or, where that is nearer, beside what is as good. */
  #compared(seen: Pick<RunReport, "evidence" | "observations" | "output" | "status">) {
    const { expect, orElse = [] } = this.plan;
    const [first, ...others] = [expect, ...orElse].map((one) => compareEvidence(one, seen));
    return others.reduce(
      (best, other) => (other.differences.length < best.differences.length ? other : best),
      first ?? compareEvidence(expect, seen),
    );
  }

  async #untilEnd(): Promise<void> {
    this.#waitingFor = "its end";
    await this.#until(({ status }) => isOver(status));
  }

  async #until(condition: (report: RunReport) => boolean): Promise<RunReport> {
    for (;;) {
      const report = await this.#json<RunReport>("GET", "");
      this.#last = report;
      await this.#notifyListener(report);
      if (condition(report)) return report;
      const { onSnapshot, pollMs } = this.#listener;
      await this.#pause(onSnapshot ? WATCHED_POLL_MS : (pollMs?.() ?? POLL_MS));
    }
  }

  async #notifyListener(report: RunReport): Promise<void> {
    const { onSnapshot } = this.#listener;
    const text = JSON.stringify([this.#path, report]);
    if (!onSnapshot || text === this.#notified) return;
    this.#notified = text;
    const marks = await this.#json<Mark[]>("GET", "/marks");
    const { evidence } = compareEvidence(this.plan.expect, report);
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
    const { status } = await this.#json<RunReport>("GET", "");
    throw new Error(`ended with status ${status}, without ${what}`);
  }

  async #eventsSoFar(): Promise<PlatformEvent[]> {
    const response = await this.#fetch("GET", `${this.#path}/events?until=now`);
    const events: PlatformEvent[] = [];
    for await (const event of ndjson(response)) events.push(event);
    return events;
  }

  async #json<T>(method: "GET" | "POST", action: string): Promise<T> {
    const response = await this.#fetch(method, `${this.#path}${action}`);
    const body = await response.text();
    if (!response.ok) {
      throw new Error(`${method} ${this.#path}${action}: ${response.status} ${body}`);
    }
    return JSON.parse(body);
  }

  #fetch(method: "GET" | "POST", path: string, body?: string): Promise<Response> {
    const { signal } = this.#phase;
    return this.#runtime.fetch(
      path,
      body === undefined ? { method, signal } : { method, signal, body },
    );
  }

  #pause(ms: number): Promise<void> {
    return delay(ms, undefined, { signal: this.#phase.signal });
  }
}

/** Both variants of a pair, compared. */
export function pairResult(lesson: string, pitfall: RunClient, fix: RunClient): PairResult {
  const variants = { pitfall: pitfall.result(), fix: fix.result() };
  return {
    lesson,
    pair: pitfall.plan.pair,
    variants,
    ok: variants.pitfall.ok && variants.fix.ok,
    ms: Math.round(
      Math.max(pitfall.endedAt, fix.endedAt) - Math.min(pitfall.startedAt, fix.startedAt),
    ),
  };
}

const isAtCrashPoint =
  (crash: Crash["crash"]) =>
  ({ type, stepName }: PlatformEvent): boolean =>
    "call" in crash
      ? false
      : "during" in crash
        ? type === "attempt_started" && stepName === `${crash.during}-1`
        : type === "step_completed" && stepName === `${crash.after}-1`;

function placeOf(crash: Crash["crash"]): string {
  if ("call" in crash) return crash.call;
  return "during" in crash ? crash.during : crash.after;
}

function errorOf(text: string): string {
  try {
    return JSON.parse(text).error ?? text;
  } catch {
    return text;
  }
}

async function* ndjson(response: Response): AsyncGenerator<PlatformEvent> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line) yield JSON.parse(line);
  }
}
