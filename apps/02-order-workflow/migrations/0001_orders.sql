-- What can be ordered.
CREATE TABLE products (
  sku TEXT PRIMARY KEY,
  cents INTEGER NOT NULL
);
INSERT INTO products (sku, cents) VALUES ('tea', 450), ('teapot', 2900), ('cup', 800);

-- One row per order. It outlives the instance that works on it.
CREATE TABLE orders (
  order_id TEXT PRIMARY KEY,
  instance_id TEXT NOT NULL,
  -- Of the request, to tell the same order again from another one under the same id.
  fingerprint TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'received',
  -- The review that counts, as JSON: the first one.
  review TEXT,
  total_cents INTEGER,
  parcel_id TEXT,
  -- Why the order came to nothing.
  reason TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);

-- What was sold, for the pair price-read-outside-a-step.
CREATE TABLE sales (
  product TEXT PRIMARY KEY
);
