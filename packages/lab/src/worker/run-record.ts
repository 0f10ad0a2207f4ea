import { readRun } from "@durable-lessons/outside-world";
import type { FaultScript } from "@durable-lessons/outside-world/faults";
import type { AnyVariant, Disturbance } from "../pair.ts";
import type { TrialSettings } from "../plan.ts";

/** What is done to a run: what its pair says, unless whoever starts it says otherwise. */
export interface RunPlan {
  /** The run's id, which nobody else has: chosen by whoever wants to know it before the answer is there. */
  run?: string | undefined;
  faults?: FaultScript;
  /** Null: nothing. */
  disturb?: Disturbance | null | undefined;
  /** Does the driver read what the variant's code does? */
  logged?: boolean | undefined;
  /** Is it one of many of the same variant? */
  trial?: TrialSettings | undefined;
}

/** What the lab stores with a run, so that it outlives a crash. */
export interface RunStart extends Omit<RunPlan, "faults" | "run"> {
  pair: string;
  variant: AnyVariant;
  /** Milliseconds since the epoch. */
  now: number;
}

/** What is done to this run; nothing where it was not opened by the lab. */
export async function planOf(world: D1Database, run: string): Promise<Omit<RunPlan, "faults">> {
  const startedBy = (await readRun(world, run))?.startedBy;
  return isStart(startedBy) ? startedBy : {};
}

/** Was a run opened by the lab? */
export const isStart = (value: unknown): value is RunStart =>
  typeof value === "object" &&
  value !== null &&
  "pair" in value &&
  "variant" in value &&
  "now" in value;
