-- Until when, in milliseconds since the epoch, one command for the order keeps all others out.
ALTER TABLE orders ADD COLUMN busy_until INTEGER NOT NULL DEFAULT 0;
