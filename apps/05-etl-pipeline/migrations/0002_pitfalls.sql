-- For the pair load-that-cannot-repeat: the same rows, without a key and with one.
CREATE TABLE unkeyed_sales (run TEXT NOT NULL, sale_id TEXT NOT NULL, minor INTEGER NOT NULL);
CREATE TABLE keyed_sales (
  run TEXT NOT NULL,
  sale_id TEXT NOT NULL,
  minor INTEGER NOT NULL,
  PRIMARY KEY (run, sale_id)
) WITHOUT ROWID;
