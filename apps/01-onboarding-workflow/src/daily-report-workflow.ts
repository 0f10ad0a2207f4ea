import { outsideWorld } from "@durable-lessons/outside-world";
import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";

const DAY_MS = 24 * 60 * 60 * 1000;

/** The scheduled time of the cron that starts the report, in milliseconds since the epoch. */
type DailyReportParams = { scheduledTime: number };

/** Every morning: count the users of the last day, mail the figure to the team. */
export class DailyReportWorkflow extends WorkflowEntrypoint<Env, DailyReportParams> {
  override async run(event: WorkflowEvent<DailyReportParams>, step: WorkflowStep) {
    // The day comes from the payload. Date.now() could be another day when this line runs again.
    const until = event.payload.scheduledTime;
    const { mail } = outsideWorld(this.env, event.instanceId);

    const newUsers = await step.do("count new users", async () => {
      const row = await this.env.DB.prepare(
        "SELECT COUNT(*) AS users FROM users WHERE created_at >= ?1 AND created_at < ?2",
      )
        .bind(until - DAY_MS, until)
        .first<{ users: number }>();
      return row?.users ?? 0;
    });

    await step.do("send report", () =>
      mail.send({
        to: "team@example.com",
        subject: "New users",
        text: `${newUsers} new users in the day before ${new Date(until).toISOString()}.`,
        key: `${event.instanceId}/send report`,
      }),
    );

    return { newUsers };
  }
}
