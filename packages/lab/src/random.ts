/** Gives whole numbers from 0, below the one that it is called with. Mulberry32: small, and the same everywhere. */
export function randomOf(seed: number) {
  let state = seed * 0x9e3779b1;
  return (below: number) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}
