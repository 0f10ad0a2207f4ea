-- What a pair remembers of the orders that are done.
CREATE TABLE finished_orders (order_id TEXT PRIMARY KEY) WITHOUT ROWID;
