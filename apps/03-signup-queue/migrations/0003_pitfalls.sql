-- What the pitfalls write: a list of the mails that are done, as it is often made.
CREATE TABLE mails_done (id TEXT PRIMARY KEY);
