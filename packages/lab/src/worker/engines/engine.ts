import type { AnyVariant, Disturbance, RunContext, RunReport } from "../../pair.ts";
import type { LabBindings, RequestContext, RunScope } from "../env.ts";

/** A run, as its engine sees it. */
export interface EngineRun<Env extends LabBindings, Pair> {
  env: Env;
  pair: Pair;
  variant: AnyVariant;
  context: RunContext;
  /** What the lab does to it. */
  disturb: Disturbance | undefined;
  /** To which run an instance or a message belongs. */
  scope: RunScope;
}

/** How a run ended, or that it has not. */
export type Ending = Pick<RunReport, "status" | "output" | "error">;

/** What one run is, where it is a Workflow's, a queue's or a request's. */
export interface Engine {
  /** Starts the run. Returns at once. */
  start(ctx: RequestContext): Promise<void>;

  /**
   * Brings back what died with the runtime, beside the instances.
   *
   * @returns what it did
   */
  wake(ctx: RequestContext): Promise<string>;

  /**
   * Does to the run what is left to do to one of this engine that has started: see {@link EngineRun.disturb}.
   *
   * @returns what it did, or null where there is nothing of that kind
   */
  disturb(): Promise<string | null>;

  /** How the request or the messages stand; null for a Workflow, whose instance is all there is. */
  ending(): Promise<Ending | null>;

  /** The ids of the run's Workflow instances, as the platform knows them. */
  instanceIds(): Promise<string[]>;
}
