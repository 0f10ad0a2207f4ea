import type { OutsideWorld, WorldBindings } from "@durable-lessons/outside-world";
import type { TrialSettings } from "../plan.ts";
import type { AnyVariant, HttpPair, QueuePair, Variant, WorkflowPair } from "../pair.ts";

/** Params of an instance of the lab's `PitfallWorkflow`. */
export interface PitfallParams {
  pair: string;
  variant: AnyVariant;
  /** The run that the instance belongs to: keys its effects and faults. */
  run: string;
  /** Does the driver read what the variant's code does? See `runVariantCode`. */
  isLogged: boolean;
  /** Set in a trial: delays are cut, and the run has this queue of its variant. */
  trial?: TrialSettings | undefined;
  /** The `bootId` of the workerd in which it was created. */
  createdIn: string;
  /** The variant's own `event.payload`. */
  params: unknown;
}

/** The run to which something belongs. */
export type RunScope = Omit<PitfallParams, "createdIn" | "params">;

/** What the lab's code needs of the Worker that it runs in. */
export interface LabBindings extends WorldBindings {
  /** The lab's `PitfallWorkflow`. */
  PITFALLS: Workflow<PitfallParams>;
}

/**
 * What a variant gets as `env`: the lesson's databases, buckets, senders of mail and vars, the providers of its own outside world, `WORKFLOW`, a
 * Workflow binding whose instances run the `run` that the same variant exports, and `QUEUE`, the pair's queue, whose
 * messages go to the `consume` of the same variant.
 */
export type VariantEnv<Env> = Env & OutsideWorld & { WORKFLOW: Workflow; QUEUE: Queue };

/** A body of a lab queue: the variant sees `body` only. */
export interface LabMessage {
  lab: RunScope & { index: number };
  body: unknown;
}

/** What a `handle` gets as its third argument. */
export type RequestContext = Pick<ExecutionContext, "passThroughOnException" | "waitUntil">;

// Method syntax on purpose: a variant may name its payload's type, and its env as narrow as it uses it.
export interface Runs<Env> {
  run(event: unknown, step: unknown, env: VariantEnv<Env>): Promise<unknown>;
}
export interface Consumes<Env> {
  consume(batch: unknown, env: VariantEnv<Env>): Promise<void>;
  consumeDeadLetters?(batch: unknown, env: VariantEnv<Env>): Promise<void>;
}
export interface Handles<Env> {
  handle(request: Request, env: VariantEnv<Env>, ctx: RequestContext): Promise<Response>;
}

/** A pair whose variants export what its engine calls. */
export type Loading<Pair, Module> = Omit<Pair, AnyVariant> &
  Record<Variant, () => Promise<Module>> & { yours?: () => Promise<Module> };

/** A pair whose two variants run with this `env`, as a lesson's `pitfalls/index.ts` lists them. */
export type RunnablePair<Env> =
  | Loading<WorkflowPair, Runs<Env>>
  | Loading<QueuePair, Consumes<Env> & Partial<Runs<Env>>>
  | Loading<HttpPair, Handles<Env> & Partial<Consumes<Env> & Runs<Env>>>;
