/** Stores messages for a person to look at. Safe to repeat: until it has returned, none of them must be acked. */
export async function keepDeadLetters(
  db: D1Database,
  letters: readonly { message: Message; reason: string }[],
): Promise<void> {
  const rows = letters.map(({ message: { id, body }, reason }) => ({
    id,
    body: JSON.stringify(body) ?? "null",
    reason,
  }));
  await db
    .prepare(
      `INSERT INTO dead_letters (message_id, body, reason, stored_at)
       SELECT value ->> '$.id', value ->> '$.body', value ->> '$.reason', ?2 FROM json_each(?1)
       WHERE true ON CONFLICT DO NOTHING`,
    )
    .bind(JSON.stringify(rows), Date.now())
    .run();
}
