-- How many claims of a key may have had an effect: 0 when its owner gave it back and knew that nothing had happened.
ALTER TABLE idempotency_keys ADD COLUMN tries INTEGER NOT NULL DEFAULT 1;
-- When sweep() may delete it. Each claim says how long its key is kept; those from before are kept for 90 days.
ALTER TABLE idempotency_keys ADD COLUMN delete_at INTEGER;
UPDATE idempotency_keys SET delete_at = updated_at + 7776000000;
-- So that sweep() reads no more than it deletes. Written at a claim, not at the completion.
CREATE INDEX idempotency_keys_delete_at ON idempotency_keys (delete_at);
