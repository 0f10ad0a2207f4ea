-- One row per piece of work that must not be done twice. Copy this file into the app's own migrations: "done" can then
-- be written in the same db.batch() as the rows that the work makes. Times are milliseconds since 1970, by D1's clock.
CREATE TABLE idempotency_keys (
  key TEXT NOT NULL PRIMARY KEY,
  state TEXT NOT NULL,
  -- The token of the claim that holds the key, or that finished it. NULL when it was released.
  owner TEXT,
  lease_ms INTEGER NOT NULL,
  lease_expires_at INTEGER NOT NULL,
  -- What the key was first used for. Another payload under the same key is refused.
  fingerprint TEXT,
  -- JSON, or NULL when the work gave nothing back.
  result TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  -- completeStatement() writes a state that is neither, to fail the caller's whole batch when the lease is lost.
  CONSTRAINT idempotency_lease_held CHECK (state IN ('processing', 'done'))
) STRICT;
