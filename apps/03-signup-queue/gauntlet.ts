import type { LessonFlows, RunningLesson } from "@durable-lessons/lab/flow";
import { signupId } from "./src/signup-id.ts";

const emailOf = (id: string) => `ada-${id}@example.com`;
const CONSUMER = "signup-consumer";

async function database(lesson: RunningLesson): Promise<D1Database> {
  const { DB } = await lesson.env<{ DB: D1Database }>(CONSUMER);
  return DB;
}

const start = (lesson: RunningLesson, id: string) =>
  lesson.send("POST", "/signup", { email: emailOf(id) });

/** How the gauntlet starts this lesson's own code. */
export default {
  vars: { ADMIN_TOKENS: "ada:token-of-the-gauntlets-own-runtime" },
  flows: [
    {
      name: "a signup",
      worker: CONSUMER,
      runOf: (id) => signupId(emailOf(id)),
      start,
      async statusOf(lesson, id) {
        const key = await signupId(emailOf(id));
        const row = await (
          await database(lesson)
        )
          .prepare(
            `SELECT EXISTS (SELECT 1 FROM idempotency_keys WHERE key = ?1 AND state = 'done') AS done,
                    EXISTS (SELECT 1 FROM dead_letters WHERE signup_id = ?1) AS kept`,
          )
          .bind(key)
          .first<{ done: number; kept: number }>();
        if (row?.done) return "complete";
        return row?.kept ? "errored" : "running";
      },
      // A local queue is gone with the runtime, so the message is sent again; and the lease of the dead runs out.
      async wake(lesson, id) {
        await (
          await database(lesson)
        )
          .prepare("UPDATE idempotency_keys SET lease_expires_at = 0 WHERE key = ?1")
          .bind(await signupId(emailOf(id)))
          .run();
        await (await start(lesson, id)).text();
      },
    },
  ],
} satisfies LessonFlows;
