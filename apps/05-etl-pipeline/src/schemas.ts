import { body } from "@durable-lessons/types/fields";
import * as v from "valibot";

/** Is this text a day of the calendar, as `YYYY-MM-DD`? */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  // February 30 is read as March 2.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Body of `POST /runs`, and the params of the ETL Workflow: the day whose files are loaded. */
export const etlRun = body({
  day: v.pipe(
    v.string("day must be text"),
    v.check(isDay, "day must be a day of the calendar, such as 2026-11-28"),
  ),
});

/** The day of a run, validated: see {@link etlRun}. */
export type EtlRun = v.InferOutput<typeof etlRun>;
