import { outsideWorld } from "@durable-lessons/outside-world";

/** For all dead letters of one outage operators get one alert in this time. */
const EVERY_MS = 15 * 60 * 1000;

/** The name of the alerts in the outside world. */
export const ALERTS = "dead-letters";

/**
 * Sends operators one alert about all new letters, at most once in a quarter of an hour. The next call does the rest, and
 * what failed: consumers call it when they have stored a letter, and so does a cron.
 *
 * @returns the number of letters in the alert. It never throws: a stored letter must not be redelivered because of its alert
 */
export async function alertOperators(env: ConsumerEnv, now = Date.now()): Promise<number> {
  try {
    return await tell(env, now);
  } catch (error) {
    console.error("operators could not be told, will be tried again", error);
    return 0;
  }
}

async function tell(env: ConsumerEnv, now: number): Promise<number> {
  const waiting = await env.DB.prepare(
    `SELECT COUNT(*) AS count, MAX(rowid) AS last, MIN(reason) AS reason FROM dead_letters
     WHERE alerted_at IS NULL AND settled_at IS NULL`,
  ).first<{ count: number; last: number; reason: string }>();
  if (!waiting?.count) return 0;

  // Only one of two at once may send it. If it is killed after this line, the next one does in a quarter of an hour.
  const turn = await env.DB.prepare(
    `INSERT INTO alerts (id, sent_at) VALUES (1, ?1)
     ON CONFLICT (id) DO UPDATE SET sent_at = excluded.sent_at WHERE sent_at <= excluded.sent_at - ?2
     RETURNING sent_at`,
  )
    .bind(now, EVERY_MS)
    .first();
  if (!turn) return 0;

  const { count, last, reason } = waiting;
  const what = count === 1 ? "A signup has died" : `${count} signups have died`;
  try {
    await outsideWorld(env, ALERTS).alerts.send({
      subject: what,
      text: `${what}, such as of: ${reason}. Decide about them on the producer's page.`,
      key: `dead-letters-${last}`,
    });
  } catch (error) {
    // The next call may try at once.
    await env.DB.prepare("UPDATE alerts SET sent_at = 0 WHERE sent_at = ?1").bind(now).run();
    throw error;
  }
  await env.DB.prepare(
    "UPDATE dead_letters SET alerted_at = ?2 WHERE alerted_at IS NULL AND rowid <= ?1",
  )
    .bind(last, now)
    .run();
  return count;
}
