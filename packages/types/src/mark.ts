/** An effect or an observation, with its time: a point on a timeline. */
export interface Mark {
  kind: string;
  /** For a message its index. */
  detail: unknown;
  /** Milliseconds since the epoch. */
  at: number;
}
