import { claim, completeStatement, type Lease, release } from "@durable-lessons/idempotency";
import { bodyOf, type DeadLetter, type Settlement, settlementOf } from "./dead-letters.ts";

/** How long a redrive may take. One that died on the way can be repeated after it. */
const LEASE_MS = 10_000;

/** Most messages of one `sendBatch`, and most bytes of each and of all ("Limits" of Queues, with room for their envelopes). */
const BATCH = { messages: 100, bytes: 250_000, bytesOfOne: 127_000 };

/** What became of one letter. */
export type Settled = { id: string } & (
  | { outcome: "settled" }
  | { outcome: "settled before"; by: Settlement }
  | { outcome: "in progress"; retryAfterMs: number }
  | { outcome: "unknown" }
  | { outcome: "refused"; reason: string }
  | { outcome: "failed"; error: unknown }
);

/**
 * Sends dead letters back into their queue, or discards them. Of two decisions about a letter one stands, and it is carried
 * out once: it is an idempotent piece of work like any other. Rows and keys change in one transaction.
 *
 * @param ids of the letters, at most 1,000
 * @returns what became of each, in no particular order
 */
export async function settleDeadLetters(
  env: ProducerEnv,
  ids: readonly string[],
  decision: Settlement,
): Promise<Settled[]> {
  const { results: letters } = await env.DB.prepare(
    "SELECT * FROM dead_letters WHERE id IN (SELECT value FROM json_each(?1))",
  )
    .bind(JSON.stringify(ids))
    .all<DeadLetter>();

  const known = new Set(letters.map(({ id }) => id));
  const settled: Settled[] = [...new Set(ids)]
    .filter((id) => !known.has(id))
    .map((id) => ({ id, outcome: "unknown" }));
  const open: DeadLetter[] = [];
  for (const letter of letters) {
    const { id } = letter;
    const before = settlementOf(letter);
    const reason = decision.settledAs === "redriven" ? obstacleTo(letter) : null;
    if (before) settled.push({ id, outcome: "settled before", by: before });
    else if (reason) settled.push({ id, outcome: "refused", reason });
    else open.push(letter);
  }
  for (const batch of inBatches(open)) settled.push(...(await settleBatch(env, batch, decision)));
  return settled;
}

async function settleBatch(
  { DB, SIGNUPS }: ProducerEnv,
  letters: readonly DeadLetter[],
  decision: Settlement,
): Promise<Settled[]> {
  const leases: Lease[] = [];
  try {
    const claims = await claim(
      DB,
      letters.map(({ id }) => ({ key: keyOf(id) })),
      { leaseMs: LEASE_MS },
    );
    const mine: DeadLetter[] = [];
    const settled = claims.map((answer, nth): Settled => {
      const letter = letters[nth] as DeadLetter;
      const { id } = letter;
      if (answer.state === "claimed") {
        mine.push(letter);
        leases.push({ key: answer.key, owner: answer.owner });
        return { id, outcome: "settled" };
      }
      if (answer.state === "done") {
        return { id, outcome: "settled before", by: answer.result as Settlement };
      }
      // No other answer comes to a claim without a fingerprint.
      const retryAfterMs = answer.state === "in progress" ? answer.retryAfterMs : LEASE_MS;
      return { id, outcome: "in progress", retryAfterMs };
    });
    if (mine.length === 0) return settled;

    // Each body has its signup's own id. Were this Worker killed after the next line, the letters would go out again, and the
    // consumer would know the ids.
    if (decision.settledAs === "redriven") {
      await SIGNUPS.sendBatch(mine.map((letter) => ({ body: bodyOf(letter).body })));
    }
    const { settledAs, settledBy, settledAt } = decision;
    await DB.batch([
      // Nobody needs the body here any more, with somebody's address in it.
      DB.prepare(
        `UPDATE dead_letters SET settled_as = ?2, settled_by = ?3, settled_at = ?4, body = NULL
         WHERE id IN (SELECT value FROM json_each(?1))`,
      ).bind(JSON.stringify(mine.map(({ id }) => id)), settledAs, settledBy, settledAt),
      completeStatement(
        DB,
        leases.map((lease) => ({ ...lease, result: decision })),
      ),
    ]);
    return settled;
  } catch (error) {
    // Whatever has happened can be asked for again. Leases that cannot be given back end by themselves.
    await release(DB, leases).catch(() => undefined);
    return letters.map(({ id }) => ({ id, outcome: "failed", error }));
  }
}

const keyOf = (id: string) => `dead-letter/${id}`;

/** Why a letter cannot be sent again as it is, or null. */
function obstacleTo(letter: DeadLetter): string | null {
  if (!bodyOf(letter).isReadable) return "Its body is not JSON. Discard it.";
  const bytes = bytesOf(letter);
  if (bytes <= BATCH.bytesOfOne) return null;
  return `Its body of ${bytes} bytes does not fit into a message, which takes ${BATCH.bytesOfOne}. Discard it.`;
}

const bytesOf = ({ body }: DeadLetter) => new TextEncoder().encode(body ?? "").length;

/** Lists that fit into one `sendBatch` each. */
function inBatches(letters: readonly DeadLetter[]): DeadLetter[][] {
  const batches: DeadLetter[][] = [];
  let bytes = Infinity;
  for (const letter of letters) {
    bytes += bytesOf(letter);
    const last = batches.at(-1);
    if (last && bytes <= BATCH.bytes && last.length < BATCH.messages) last.push(letter);
    else {
      batches.push([letter]);
      bytes = bytesOf(letter);
    }
  }
  return batches;
}
