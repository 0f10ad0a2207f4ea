-- Why the last run of a day has failed. The platform forgets, and the local engine does not tell: here it can be read.
ALTER TABLE runs ADD COLUMN reason TEXT;
