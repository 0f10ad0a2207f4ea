import { unavailableFor } from "@durable-lessons/worker-helpers/http";

/** Nobody knows whether it has happened, and it is safe to ask for it again. */
export const unavailable = unavailableFor(
  10,
  (wait) => `This cannot be done right now. Send the same again in ${wait}.`,
);
