import type { Disturbance } from "../../pair.ts";

/** How often the same message, or the same request, is sent. */
export const timesDelivered = (disturb: Disturbance | undefined): number =>
  disturb && "deliver" in disturb ? disturb.deliver : 1;

/** Are the same messages sent in one batch? */
export const isAtOnce = (disturb: Disturbance | undefined): boolean =>
  disturb !== undefined && "atOnce" in disturb;
