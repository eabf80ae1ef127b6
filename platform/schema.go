package platform

import (
	"context"
	"errors"
	"os"
	"strings"

	"transect/platform/store"
)

// tables are those beside the documents, which clients never see.
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

-- Background jobs. Earlier versions leased them to one of several processes.
CREATE TABLE jobs (
	id TEXT PRIMARY KEY,         -- of the document the job is for
	kind TEXT NOT NULL,
	owner TEXT,
	lease INTEGER NOT NULL DEFAULT 0,
	attempts INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

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

// unpackBlobs moves the blobs of earlier versions, which packed small ones
// together in large files, to files of their own.
func (p *Platform) unpackBlobs(ctx context.Context) error {
	has, err := p.blobs.HasPacks()
	if err != nil || !has {
		return err
	}
	if err := p.write(ctx, func(t tx) {
		var packed []string
		for row := range t.rows("SELECT blob FROM components UNION SELECT blob FROM parts") {
			var id string
			check(row.Scan(&id))
			if strings.Contains(id, ".") {
				packed = append(packed, id)
			}
		}
		t.exec("CREATE INDEX components_blob ON components(blob)")
		for _, id := range packed {
			unpacked, err := p.blobs.Unpack(id)
			if errors.Is(err, os.ErrNotExist) {
				p.log.Error("a stored file is lost", "error", err)
				continue
			}
			check(err)
			for _, table := range []string{"components", "parts"} {
				t.exec("UPDATE "+table+" SET blob = ? WHERE blob = ?", unpacked, id)
			}
		}
		t.exec("DROP INDEX components_blob")
	}); err != nil {
		return err
	}
	return p.blobs.RemovePacks()
}
