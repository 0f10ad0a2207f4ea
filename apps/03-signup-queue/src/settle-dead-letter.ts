import { completeStatement, InProgressError, once } from "@durable-lessons/idempotency";
import type { Context } from "hono";
import { type DeadLetter, type Settlement, settlementOf } from "./dead-letters.ts";
import type { Operator } from "./operators.ts";
import { unavailable } from "./unavailable.ts";

/** How long a redrive may take. One that died on the way can be repeated after it. */
const LEASE_MS = 10_000;

/**
 * Sends a dead letter back into its queue, or discards it. One of the two, and once: the decision is an idempotent
 * piece of work like any other. Its row and its key change in one transaction.
 */
export async function settleDeadLetter(
  c: Context<{ Bindings: ProducerEnv; Variables: Operator }>,
  settledAs: Settlement["settledAs"],
) {
  const id = c.req.param("id") ?? "";
  const decision = { settledAs, settledBy: c.var.operator, settledAt: Date.now() };
  const letter = await c.env.DB.prepare("SELECT * FROM dead_letters WHERE id = ?1")
    .bind(id)
    .first<DeadLetter>();
  if (!letter) return c.json({ error: "There is no such dead letter." }, 404);
  try {
    const before = settlementOf(letter) ?? (await settle(c.env, letter, decision));
    if (!before) return c.json({ id, ...decision });
    const when = new Date(before.settledAt).toISOString();
    const error = `This dead letter was ${before.settledAs} by ${before.settledBy} at ${when}.`;
    return c.json({ error }, 409);
  } catch (error) {
    if (!(error instanceof InProgressError)) return unavailable(c, error);
    const seconds = Math.ceil(error.retryAfterMs / 1000);
    const answer = { error: "Somebody else is at this dead letter. Look again in a few seconds." };
    return c.json(answer, 409, { "retry-after": String(seconds) });
  }
}

/** @returns the decision that somebody else has made in the meantime, or null where this one stands */
async function settle(
  { DB, SIGNUPS }: ProducerEnv,
  letter: DeadLetter,
  decision: Settlement,
): Promise<Settlement | null> {
  const { settledAs, settledBy, settledAt } = decision;
  const { result, ran } = await once(
    DB,
    `dead-letter/${letter.id}`,
    async (lease) => {
      // The body has the signup's own id. Were this Worker killed after the next line, the letter would go out again,
      // and the consumer would know the id.
      if (settledAs === "redriven") await SIGNUPS.send(JSON.parse(letter.body ?? "null"));
      await DB.batch([
        DB.prepare(
          `UPDATE dead_letters SET settled_as = ?2, settled_by = ?3, settled_at = ?4,
             body = iif(?2 = 'discarded', NULL, body)
           WHERE id = ?1`,
        ).bind(letter.id, settledAs, settledBy, settledAt),
        completeStatement(DB, [{ ...lease, result: decision }]),
      ]);
      return decision;
    },
    { leaseMs: LEASE_MS },
  );
  return ran ? null : result;
}
