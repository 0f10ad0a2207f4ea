-- One row per draft. It outlives the instance that works on it, and decides about every review.
CREATE TABLE drafts (
  draft_id TEXT PRIMARY KEY,
  instance_id TEXT NOT NULL,
  -- Of the request, to tell the same draft again from another one under the same id.
  fingerprint TEXT NOT NULL,
  reviewer TEXT NOT NULL,
  -- received, in review, approved, published; or rejected, closed, withdrawn
  state TEXT NOT NULL DEFAULT 'received',
  -- Who wrote the text: a model's name, or that it was none.
  model TEXT,
  text TEXT,
  -- Of the text in UTF-8, in hexadecimal: what a review is about.
  sha256 TEXT,
  -- When the reviewer's link ends to be good.
  expires_at INTEGER,
  reminded_at INTEGER,
  decided_at INTEGER,
  -- Why the draft was withdrawn, or why it is approved and not published.
  reason TEXT,
  created_at INTEGER NOT NULL
);

-- What everybody reads.
CREATE TABLE articles (
  article_id TEXT PRIMARY KEY,
  model TEXT NOT NULL,
  text TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  published_at INTEGER NOT NULL
);
