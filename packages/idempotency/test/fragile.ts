/** The times of the consumer that dies: short, since its leases end by the real clock. */
export const FRAGILE_TIMES = { leaseMs: 2000, handlerTimeoutMs: 500 };
