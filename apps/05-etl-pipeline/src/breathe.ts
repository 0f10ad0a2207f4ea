/**
 * Lets others have their turn. The local runtime is one thread in which R2 and D1 answer without a wait: work in a loop
 * would keep every request waiting until it ends (measured locally). In production it costs nothing.
 */
export const breathe = () => scheduler.wait(0);
