const MIB = 2 ** 20;

/** What the pair extracts: twice as much as a step may return. */
export const TWO_MIB = 2 * MIB;

/** How many of these results of steps are larger than what production stores. */
export const countOver1MiB = (...results: unknown[]) =>
  results.filter((result) => new TextEncoder().encode(JSON.stringify(result)).length > MIB).length;
