import { unavailableFor } from "@durable-lessons/worker-helpers/http";

/** As far as is known it has not happened, and it is safe to ask for it again. */
export const unavailable = unavailableFor(
  30,
  (wait) => `This cannot be done right now. Try again in ${wait}.`,
);
