import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";
import { NonRetryableError } from "cloudflare:workflows";
import { dayBefore } from "./days.ts";
import { startRun } from "./start-run.ts";

/** What the schedule starts: it starts the run of the day before. */
export class NightlyWorkflow extends WorkflowEntrypoint<Env> {
  override async run(event: WorkflowEvent<unknown>, step: WorkflowStep) {
    if (!event.schedule) throw new NonRetryableError("Only the schedule starts this.");
    // The scheduled time, not the clock: a schedule that fires late, or twice, means the same day.
    const day = dayBefore(event.schedule.scheduledTime);
    return step.do("start run", async () => {
      const { isNew, obstacle } = await startRun(this.env, day);
      return { day, started: isNew, ...(obstacle && { obstacle }) };
    });
  }
}
