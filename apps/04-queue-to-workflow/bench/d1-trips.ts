/** Trips to D1, as the lesson's code makes them: of a request, a batch of messages, an order's result, a look. A test counts. */
export const D1_TRIPS = { request: 2, batch: 2, result: 1, look: 1 };
