-- One row per run: an isolated copy of the outside world, with the faults scripted for it.
-- started_by, status, output and error belong to whoever drives the run (the lab); a lesson leaves them alone.
CREATE TABLE runs (
  run TEXT PRIMARY KEY,
  script TEXT NOT NULL DEFAULT '{}',
  started_by TEXT,
  status TEXT,
  output TEXT,
  error TEXT,
  started_at INTEGER NOT NULL
);

-- One row per call of a provider, answered or not. The nth call of an operation meets the nth fault of its script.
CREATE TABLE calls (
  run TEXT NOT NULL,
  operation TEXT NOT NULL,
  nth INTEGER NOT NULL,
  fault TEXT,
  hangs INTEGER NOT NULL DEFAULT 0,
  at INTEGER NOT NULL,
  PRIMARY KEY (run, operation, nth)
);

-- One row per effect: what cannot be taken back. A key makes the second request of the same thing no effect.
CREATE TABLE effects (
  id INTEGER PRIMARY KEY,
  run TEXT NOT NULL,
  kind TEXT NOT NULL,
  operation TEXT NOT NULL,
  key TEXT,
  detail TEXT NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (run, key)
);

CREATE INDEX effects_by_run ON effects (run, kind);

-- What the driver of a run noticed around it (a delivery, a dead letter, an instance created): no effect, but evidence.
CREATE TABLE observations (
  id INTEGER PRIMARY KEY,
  run TEXT NOT NULL,
  kind TEXT NOT NULL,
  detail TEXT NOT NULL,
  at INTEGER NOT NULL
);

CREATE INDEX observations_by_run ON observations (run, kind);
