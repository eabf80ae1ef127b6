package store

// Version is the layout of the database, kept in its user_version. A database of a higher version was written
// by a newer program and is left alone.
const Version = 1

// columns maps the keys of documents that have a column of their own, in addition to the JSON body, so that
// filters on them need not read it. They may hold text only, so that comparing the column is the same as
// comparing the key in the body.
var columns = map[string]string{
	"_id":           "id",
	"name":          "name",
	"company":       "company",
	"project":       "project",
	"mission":       "mission",
	"flight":        "flight",
	"type":          "type",
	"status":        "status",
	"creation_date": "creation_date",
	"deletion_date": "deletion_date",
}

// columnOrder is the order in which Insert and Replace write the columns.
var columnOrder = []string{
	"name", "company", "project", "mission", "flight", "type", "status", "creation_date", "deletion_date",
}

// All documents live in one table: a new kind of resource needs no change of layout, and opening a folder
// parses few statements. The indexes hold deletion_date and end in id, because lists are read in that order, and
// counting one or going to a later page then reads the index alone. Those of whole lists, of projects and of
// missions hold the type, which is often asked for; that of names gives their order. Company, type and status are
// not selective: an index of their own would cost each write and save no search.
const tables = `
CREATE TABLE docs (
	collection TEXT NOT NULL,
	id TEXT NOT NULL,
	name TEXT, company TEXT, project TEXT, mission TEXT, flight TEXT,
	type TEXT, status TEXT, creation_date TEXT, deletion_date TEXT,
	body TEXT NOT NULL
);
CREATE UNIQUE INDEX docs_id ON docs(collection, id);
CREATE INDEX docs_alive ON docs(collection, deletion_date, id, type);
CREATE INDEX docs_name ON docs(collection, deletion_date, name, id);
CREATE INDEX docs_project ON docs(collection, project, deletion_date, id, type) WHERE project IS NOT NULL;
CREATE INDEX docs_mission ON docs(collection, mission, deletion_date, id, type) WHERE mission IS NOT NULL;
CREATE INDEX docs_flight ON docs(collection, flight, deletion_date, id) WHERE flight IS NOT NULL;
CREATE INDEX docs_created ON docs(collection, creation_date, id);
`
