-- When an instance of the order was seen. The platform forgets instances after their retention, and an id that is free again
-- would start an order anew that has failed or was stopped.
ALTER TABLE orders ADD COLUMN started_at INTEGER;
