const DAY_MS = 24 * 60 * 60 * 1000;

/** The day before a time, in UTC, as `YYYY-MM-DD`. */
export const dayBefore = (time: number) => new Date(time - DAY_MS).toISOString().slice(0, 10);

/** Can no file of this day come any more? */
export const isOver = (day: string, now: number) => day <= dayBefore(now);
