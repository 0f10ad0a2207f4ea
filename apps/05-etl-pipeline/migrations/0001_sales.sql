-- One row per day: the run that loads it, and its report. The platform keeps the instance for days, this stays.
CREATE TABLE runs (
  day TEXT PRIMARY KEY,
  instance_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('started', 'complete')),
  report TEXT,
  created_at INTEGER NOT NULL
) WITHOUT ROWID;

-- How each file of a day stands.
CREATE TABLE files (
  day TEXT NOT NULL,
  -- Its key in R2, without the day's folder.
  file TEXT NOT NULL,
  -- The version that the run has listed.
  etag TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('listed', 'transformed', 'loaded', 'skipped', 'gone')),
  -- Why it is skipped.
  reason TEXT,
  rows INTEGER NOT NULL DEFAULT 0,
  rejected INTEGER NOT NULL DEFAULT 0,
  -- The version whose rows are in `sales`, or on their way there.
  loaded_etag TEXT,
  PRIMARY KEY (day, file)
) WITHOUT ROWID;

-- The day comes first in the key and there is no other index: a load writes each row once, a report reads one range.
CREATE TABLE sales (
  day TEXT NOT NULL,
  sale_id TEXT NOT NULL,
  file TEXT NOT NULL,
  line INTEGER NOT NULL,
  sold_at TEXT NOT NULL,
  shop TEXT NOT NULL,
  currency TEXT NOT NULL,
  -- In the currency's minor unit: 1299 are 12.99 EUR, or 1299 JPY. Whole numbers add up exactly.
  minor INTEGER NOT NULL,
  PRIMARY KEY (day, sale_id)
) WITHOUT ROWID;

-- The rows that are not in `sales`, for a person.
CREATE TABLE rejects (
  day TEXT NOT NULL,
  file TEXT NOT NULL,
  line INTEGER NOT NULL,
  reason TEXT NOT NULL,
  -- How the row begins; of a sale_id that was taken, by whom.
  text TEXT NOT NULL,
  -- Only the load can tell that a sale_id is taken: all other reasons are in the row itself.
  is_duplicate INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (day, file, line)
) WITHOUT ROWID;
