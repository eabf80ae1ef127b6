package platform

import "transect/platform/store"

// tables are internal tables besides the documents, which clients never see.
const tables = `
CREATE TABLE tokens (
	hash TEXT PRIMARY KEY,       -- SHA-256 of the access token
	user TEXT NOT NULL,
	client TEXT NOT NULL,
	issued INTEGER NOT NULL,     -- milliseconds since 1970, like all times here
	expires INTEGER NOT NULL
) WITHOUT ROWID;

-- The bytes of a component, once its upload is complete.
CREATE TABLE components (
	dataset TEXT NOT NULL,
	component TEXT NOT NULL,
	blob TEXT NOT NULL,
	size INTEGER NOT NULL,
	checksum TEXT NOT NULL,      -- MD5 in hexadecimal
	filename TEXT NOT NULL,
	PRIMARY KEY (dataset, component)
) WITHOUT ROWID;

-- The latest upload to a component, in progress or complete. Its ID is that of
-- its blob, too.
CREATE TABLE uploads (
	id TEXT PRIMARY KEY,
	dataset TEXT NOT NULL,
	component TEXT NOT NULL,
	filename TEXT NOT NULL,
	checksum TEXT NOT NULL,
	chunk_size INTEGER NOT NULL, -- 0 for a whole file
	total_size INTEGER NOT NULL, -- -1 for a whole file
	total_parts INTEGER NOT NULL,
	direct INTEGER NOT NULL,     -- parts go to signed addresses
	complete INTEGER NOT NULL DEFAULT 0,
	UNIQUE (dataset, component)
) WITHOUT ROWID;

CREATE TABLE parts (
	upload TEXT NOT NULL,
	number INTEGER NOT NULL,     -- from 1; a whole file is part 1
	blob TEXT NOT NULL,
	size INTEGER NOT NULL,
	checksum TEXT NOT NULL,
	PRIMARY KEY (upload, number)
) WITHOUT ROWID;

-- Background jobs.
CREATE TABLE jobs (
	id TEXT PRIMARY KEY,         -- of the document the job is for
	kind TEXT NOT NULL,
	attempts INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX jobs_waiting ON jobs(kind, attempts, id);

-- The answers to writes with an Idempotency-Key.
CREATE TABLE keys (
	user TEXT NOT NULL,
	key TEXT NOT NULL,
	request TEXT NOT NULL,       -- SHA-256 of what was asked
	answer TEXT NOT NULL,
	time INTEGER NOT NULL,
	PRIMARY KEY (user, key)
) WITHOUT ROWID;

-- How often features changed: what was read of a collection for tiles holds until then.
CREATE TABLE changes (
	collection TEXT PRIMARY KEY,
	n INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO changes VALUES ('features', 0);
CREATE TRIGGER feature_inserted AFTER INSERT ON docs WHEN new.collection = 'features'
	BEGIN UPDATE changes SET n = n + 1; END;
CREATE TRIGGER feature_updated AFTER UPDATE ON docs WHEN new.collection = 'features'
	BEGIN UPDATE changes SET n = n + 1; END;
CREATE TRIGGER feature_deleted AFTER DELETE ON docs WHEN old.collection = 'features'
	BEGIN UPDATE changes SET n = n + 1; END;
CREATE TABLE logs (
	product TEXT NOT NULL,
	time INTEGER NOT NULL,       -- microseconds since 1970, unique in a product
	record TEXT NOT NULL,
	PRIMARY KEY (product, time)
) WITHOUT ROWID;
`

// seed inserts the first documents: a company, its user, and the built-in
// analytics.
func (p *Platform) seed(t tx) {
	now := date(p.options.Now())
	s := p.secrets
	t.insert(companies, store.Doc{
		"_id": s.Company, "name": "Local company", "creation_date": now, "creation_user": s.UserID,
	})
	t.insert(users, store.Doc{
		"_id": s.UserID, "company": s.Company, "companies": []any{s.Company},
		"companyRole": roleManager, "profile": profileAdmin,
		"username": s.User, "email": s.User,
		"firstName": "Local", "lastName": "User", "displayName": "Local User",
		"status": "active", "language": "en", "country": "", "dateFormat": "YYYY-MM-DD",
		"units": "metric", "created": now, "creation_date": now,
	})
	p.seedAnalytics(t, now)
}
