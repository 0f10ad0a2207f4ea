CREATE TABLE users (
  user_id TEXT PRIMARY KEY,
  email TEXT NOT NULL,
  plan_type TEXT NOT NULL,
  created_at INTEGER NOT NULL
);

-- Messages that no retry can help, kept with the reason.
CREATE TABLE parked_messages (
  message_id TEXT PRIMARY KEY,
  queue TEXT NOT NULL,
  body TEXT NOT NULL,
  reason TEXT NOT NULL,
  parked_at INTEGER NOT NULL
);
