import type { EffectKind } from "@durable-lessons/types";

/** One effect, as the outside world remembers it. */
export interface Effect {
  /** As the provider named it in its answer: what a refund calls `chargeId`. */
  id: string;
  kind: EffectKind;
  key: string | null;
  /** What was asked for, as far as it is kept: see `keptOf`. */
  detail: unknown;
  /** Which of its run's names occurred in what was asked for: see `openRun`. */
  names: readonly string[];
  /** Milliseconds since the epoch. */
  at: number;
}
