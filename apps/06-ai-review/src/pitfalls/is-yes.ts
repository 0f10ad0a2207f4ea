import * as v from "valibot";

const yes = v.object({ approved: v.literal(true) });

/** Is this answer a clear yes? An event may carry anything. */
export const isYes = (payload: unknown): boolean => v.is(yes, payload);
