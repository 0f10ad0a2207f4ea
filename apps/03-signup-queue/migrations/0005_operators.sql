-- Ten thousand letters may wait for a decision: a page of them, or those of one reason, without reading all.
DROP INDEX dead_letters_open;
CREATE INDEX dead_letters_open ON dead_letters (stored_at, id) WHERE settled_at IS NULL;
CREATE INDEX dead_letters_open_by_reason ON dead_letters (reason, stored_at, id) WHERE settled_at IS NULL;
CREATE INDEX dead_letters_untold ON dead_letters (reason) WHERE alerted_at IS NULL AND settled_at IS NULL;
CREATE INDEX dead_letters_settled ON dead_letters (settled_at, id) WHERE settled_at IS NOT NULL;

-- When operators were last told. One row, so that of two consumers one tells them.
CREATE TABLE alerts (id INTEGER PRIMARY KEY CHECK (id = 1), sent_at INTEGER NOT NULL);
