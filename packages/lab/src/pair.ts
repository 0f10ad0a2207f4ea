/**
 * A pair: a pitfall and its fix, run side by side. This file holds the data of a pair and knows no runtime, so that
 * Workers, the runner and the docs can all read it.
 */
import type { FaultScript, Operation } from "@durable-lessons/outside-world/faults";
import type { Effect, Rule } from "@durable-lessons/outside-world/rules";
import type { EffectKind } from "@durable-lessons/types";

/** The two sides of a pair, in the order in which they are shown. */
export const VARIANTS = ["pitfall", "fix"] as const;

/** One side of a pair. */
export type Variant = (typeof VARIANTS)[number];

/** The reader's own attempt at a fix: a file beside the two sides, on the reader's machine only. */
export const YOURS = "yours";

/** Whatever of a pair can be run: one of its sides, or the reader's own. */
export type AnyVariant = Variant | typeof YOURS;

/** The side whose settings and evidence a variant has: the reader's own attempt has those of the fix. */
export const sideOf = (variant: AnyVariant): Variant => (variant === YOURS ? "fix" : variant);

/**
 * Loads the code of a variant: `() => import("./pitfall.ts")`. It is code for Workers, so nothing else calls this; a
 * variant that throws while it is loaded breaks its own runs only. What it has to export depends on the engine: the
 * list in the lesson's `pitfalls/index.ts` is checked for it.
 */
export type LoadVariant = () => Promise<object>;

/** What a run can build its input from. Every run has an input of its own, since runs share the lesson's tables. */
export interface RunContext {
  /** The run's id: letters, digits and dashes. */
  run: string;
  /** The start of the run, in milliseconds since the epoch. */
  now: number;
}

/** A trial of the gauntlet that a fix does not bear: what it shows is another matter. It says so, and where the cure is. */
export interface Exception {
  /** The name of the trial, as the gauntlet prints it. */
  trial: string;
  /** The rule that breaks. */
  breaks: Rule;
  /** What happens, in one line. */
  because: string;
  /** The pair that shows the cure, such as `02/charge-without-a-key`. */
  cure: string;
}

/**
 * SIGKILL for the runtime while a call to the outside world waits for its answer: give that call the fault `hang` or
 * `hang-after-effect`. In a Workflow `during` and `after` name a step, and the lab checks that the platform saw that
 * step under way, or finished. Elsewhere they name the operation that hangs. `call` is that everywhere, whatever step it
 * is in.
 */
export type Crash = { crash: { during: string } | { after: string } | { call: Operation } } & {
  /** How long after its start a run is woken, at the earliest. One that is later at its crash point is run anew. */
  wakeAfterMs?: number;
};

/**
 * The same message, or the same request, that many times, one after the other; messages with `atOnce` in one
 * `sendBatch`, so that a queue whose batch size is their number delivers them together.
 */
export type Deliver = { deliver: number; atOnce?: true };

/** `instance.restart()` once the run has ended; with `from`, from that step. */
export type Restart = { restart: { from?: string } };

/** An event, sent `times` times (once by default) when the instance first waits for its type. */
export type SendEvent = { sendEvent: { type: string; payload?: unknown; times?: number } };

/**
 * Once the run has ended, its instances are deleted, as at the end of their retention, and its messages are sent once
 * more.
 */
export type Expire = { expire: true };

/**
 * The run's faults end once its messages have waited that long between their deliveries. What counts are the delays that
 * the consumer asks for, not the clock: a slow machine does not end an outage.
 */
export type Outage = { outage: { seconds: number } };

/**
 * A bad message between the run's own ones, in the same `sendBatch`: one with this body or, with `neighbourFails`, a good
 * one whose calls to the outside world fail, always. Another good one follows it.
 */
export type Neighbour = { neighbour: unknown } | { neighbourFails: true };

/**
 * A request with this JSON body in the place of the pair's or, with `oddIds`, with an email address where the pair's
 * body has the run's id.
 */
export type OtherBody = { body: unknown } | { oddIds: true };

/** What the lab does to a run. */
export type Disturbance =
  | Crash
  | Deliver
  | Expire
  | Neighbour
  | OtherBody
  | Outage
  | Restart
  | SendEvent;

/** What the lab notices around a run, beside its effects. */
export type ObservationKind =
  | "consumer.called"
  | "message.acked"
  | "message.dead-lettered"
  | "message.delivered"
  | "message.retried"
  | "message.sent"
  | "workflow.create-called"
  | "workflow.created"
  | "workflow.expired"
  /** How many steps its instances began, by the platform's own events. */
  | "workflow.step-started";

/**
 * The evidence of one variant. Effects are exact: a kind that is not named must not have happened. `status` is
 * `complete` unless named; `waiting` is a run that still waits for an event when the other side is over, which the lab
 * then ends. Observations and fields of the output count where they are named.
 */
export type Expectation = Partial<Record<EffectKind | ObservationKind, number>> & {
  status?: "complete" | "errored" | "terminated" | "waiting";
} & { [field: `output.${string}`]: boolean | number | string };

/** What a reader notices who has met a pitfall: the words of a search. */
export const SYMPTOMS = [
  "twice",
  "vanished",
  "never-ends",
  "stopped",
  "wrong",
  "wasteful",
] as const;

/** It ran twice; it vanished; it never ends; it stopped at the first error; it did the wrong thing; it costs too much. */
export type Symptom = (typeof SYMPTOMS)[number];

interface PairBase extends Record<Variant, LoadVariant> {
  /** Kebab-case, the name of the pair's folder. */
  id: string;
  title: string;
  /** One sentence that the evidence can refute. */
  claim: string;
  /** The mechanism, in one or two sentences. */
  why: string;
  /** Ids of `docs/claims.md`. */
  claims: string[];
  /** How the pitfall shows itself. */
  symptom?: Symptom;
  /** What goes wrong outside, the same for both variants. */
  faults?: FaultScript;
  expect: Record<Variant, Expectation> & {
    /** What is right too in the reader's own attempt, where another right answer may look different from the fix: any of these. */
    solved?: Expectation[];
  };
  /** What the fix does not bear. */
  exceptions?: Exception[];
  /** The reader's own attempt: a lab adds it, no `pair.ts` has it. */
  yours?: LoadVariant;
}

/**
 * How a queue hands out its messages: the settings of a consumer, under the names of the documentation. Every variant
 * has a queue of its own, and behind it a dead letter queue, since a local queue delivers one batch at a time. Retries
 * come at once unless the variant asks for a delay.
 */
export interface QueueSettings {
  /** At this many messages a batch is complete: 10 by default. */
  batchSize?: number;
  /** Seconds that an incomplete batch waits for more: 0 by default. */
  batchTimeout?: number;
  /** How often a message comes again before it is a dead letter: 3 by default. */
  retries?: number;
}

/** Both variants export `run(event, step, env)`. */
export interface WorkflowPair extends PairBase {
  engine: "workflow";
  /**
   * The code of the runs' first life, which exports the same: the runtime that takes the place of the killed one has the variant's
   * code, as if it was deployed in between. A trial of the gauntlet has the variant's code from its start.
   */
  before?: LoadVariant;
  /** Becomes `event.payload`. */
  params?: (context: RunContext) => unknown;
  disturb?: Crash | Restart | SendEvent;
}

/**
 * Both variants export `consume(batch, env)`, and may export `consumeDeadLetters(batch, env)`. Without it a message that
 * comes to the dead letter queue is only noted.
 */
export interface QueuePair extends PairBase {
  engine: "queue";
  /** The settings of the queues, or those of each variant where they are the lesson. */
  queue?: QueueSettings | Record<Variant, QueueSettings>;
  /** The bodies to send, in one `sendBatch`. */
  messages: (context: RunContext) => unknown[];
  /**
   * Where the fix keeps messages that it cannot serve, if it does so itself: how many rows it has for the platform's ids
   * of the messages, which are in the JSON array `?1`.
   */
  kept?: { binding: string; sql: string };
  /**
   * What the run leaves in a table of the lesson: the first row of a statement on a D1 binding, with the run's id as
   * `?1`, becomes its output.
   */
  output?: { binding: string; sql: string };
  disturb?: Crash | Deliver | Expire | Outage;
}

/**
 * Both variants export `handle(request, env, ctx)`. The output has the `responses`: status, body, and how many effects
 * there were by then. What they have sent to `env.QUEUE` is consumed after the last response, so that no timing decides.
 */
export interface HttpPair extends PairBase {
  engine: "http";
  /** The settings of the queues behind `env.QUEUE`, if they send to one: they export `consume(batch, env)` too. */
  queue?: QueueSettings | Record<Variant, QueueSettings>;
  /** The JSON body of the `POST` that they receive. */
  body: (context: RunContext) => unknown;
  disturb?: Crash | Deliver;
}

/** The data of a pair: what stands in `pair.ts`. */
export type Pair = HttpPair | QueuePair | WorkflowPair;

/** What is counted, and how a run ended: the seen side of an {@link Expectation}. */
export interface RunReport {
  status: string;
  output: unknown;
  error: unknown;
  /** Effects, by kind. */
  evidence: Record<string, number>;
  /** Observations, by kind. */
  observations: Record<string, number>;
  /** Operations that wait for an answer that never comes: the crash point is reached. */
  hanging: Operation[];
}

/** What a trial is judged by, beside the {@link RunReport}. */
export interface RunLedger {
  effects: Effect[];
  /** What it has called outside. */
  operations: Operation[];
  /** The types of the events that it has waited for. */
  awaited: string[];
  /** How many messages the variant keeps itself: see {@link QueuePair.kept}. */
  kept: number;
}

/** Is this status of a run final? */
export const isOver = (status: string): boolean =>
  status === "complete" || status === "errored" || status === "terminated";
