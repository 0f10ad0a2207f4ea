-- Texts by which a run's driver tells effects apart, since the requests themselves are not kept; and those of them that
-- occurred in an effect's request. JSON lists.
ALTER TABLE runs ADD COLUMN names TEXT NOT NULL DEFAULT '[]';
ALTER TABLE effects ADD COLUMN names TEXT NOT NULL DEFAULT '[]';
