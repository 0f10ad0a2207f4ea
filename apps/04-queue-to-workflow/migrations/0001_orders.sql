-- One row per order, kept for years: it knows the order when its instance is long forgotten. WITHOUT ROWID, so that the
-- key is the table, and an insert writes one row and not another one into an index.
CREATE TABLE orders (
  order_id TEXT PRIMARY KEY,
  -- Of the request, to tell the same order again from another one under the same id.
  fingerprint TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('accepted', 'queued', 'dead-lettered', 'shipped', 'declined', 'cancelled')),
  charge_id TEXT,
  parcel_id TEXT,
  -- Why the order is not shipped.
  reason TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;

-- Messages that no retry has helped or can help, kept for a person.
CREATE TABLE dead_letters (
  -- The message's id in the queue: a second delivery of it is no second dead letter.
  message_id TEXT PRIMARY KEY,
  body TEXT NOT NULL,
  reason TEXT NOT NULL,
  stored_at INTEGER NOT NULL
) WITHOUT ROWID;
