import { unavailableFor } from "@durable-lessons/worker-helpers/http";

/** Nobody knows whether the request has happened, and it can be sent again as it is. */
export const unavailable = unavailableFor(
  10,
  (wait) =>
    `Nobody knows whether this has happened. Send the same again in ${wait}: it is done once.`,
);
