import type { EffectKind } from "@durable-lessons/types";

/** One effect, as the outside world remembers it. */
export interface Effect {
  /** As the provider named it in its answer: what a refund calls `chargeId`. */
  id: string;
  kind: EffectKind;
  key: string | null;
  detail: unknown;
  /** Milliseconds since the epoch. */
  at: number;
}
