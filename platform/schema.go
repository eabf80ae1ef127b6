package platform

// tables are those beside the documents: what clients never see.
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

-- The last upload to a component, under way or complete.
CREATE TABLE uploads (
	id TEXT PRIMARY KEY,
	dataset TEXT NOT NULL,
	component TEXT NOT NULL,
	filename TEXT NOT NULL,
	checksum TEXT NOT NULL,
	chunk_size INTEGER NOT NULL, -- 0 for an upload in one piece
	total_size INTEGER NOT NULL, -- -1 when it was not announced
	total_parts INTEGER NOT NULL,
	direct INTEGER NOT NULL,     -- parts go to signed addresses
	complete INTEGER NOT NULL DEFAULT 0,
	UNIQUE (dataset, component)
) WITHOUT ROWID;

CREATE TABLE parts (
	upload TEXT NOT NULL,
	number INTEGER NOT NULL,     -- from 1; 1 alone for an upload in one piece
	blob TEXT NOT NULL,
	size INTEGER NOT NULL,
	checksum TEXT NOT NULL,
	PRIMARY KEY (upload, number)
) WITHOUT ROWID;

-- Work in the background. A process that takes a job renews its lease until it
-- is done; when the lease has passed, any process may take the job again.
CREATE TABLE jobs (
	id TEXT PRIMARY KEY,         -- of the document the work is for
	kind TEXT NOT NULL,
	owner TEXT,
	lease INTEGER NOT NULL DEFAULT 0,
	attempts INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE TABLE logs (
	product TEXT NOT NULL,
	time INTEGER NOT NULL,       -- microseconds since 1970, no two alike in one product
	record TEXT NOT NULL,
	PRIMARY KEY (product, time)
) WITHOUT ROWID;
`
