/** One batch to be consumed with one strategy. */
export interface Run {
  strategy: string;
  size: number;
  effectMs: number;
}

/** What it took. */
export interface Counted {
  statements: number;
  effects: number;
}
