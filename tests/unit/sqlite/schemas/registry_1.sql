-- A registry's database as the first version left it: entries that nobody had signed.
CREATE TABLE zone(name TEXT PRIMARY KEY, entry TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO zone VALUES('beta', '{"name": "beta"}');
PRAGMA user_version=1;
