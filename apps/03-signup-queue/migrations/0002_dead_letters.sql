-- Messages that no retry has helped or can help, until a person decides. Times are milliseconds since 1970.
CREATE TABLE dead_letters (
  -- The message's id in the queue: a second delivery of it is no second dead letter.
  id TEXT PRIMARY KEY,
  -- The message's own id, the idempotency key. NULL where the body has none.
  signup_id TEXT,
  -- JSON. NULL once the letter is discarded: nobody needs the address any more.
  body TEXT,
  reason TEXT NOT NULL,
  -- How often it was delivered, as far as it is known.
  attempts INTEGER,
  stored_at INTEGER NOT NULL,
  alerted_at INTEGER,
  settled_as TEXT CHECK (settled_as IN ('redriven', 'discarded')),
  settled_by TEXT,
  settled_at INTEGER
);

CREATE INDEX dead_letters_open ON dead_letters (stored_at) WHERE settled_at IS NULL;

-- The latest failure of each signup: a dead letter comes without the error that killed it.
CREATE TABLE delivery_failures (
  signup_id TEXT PRIMARY KEY,
  attempts INTEGER NOT NULL,
  reason TEXT NOT NULL,
  failed_at INTEGER NOT NULL
);
