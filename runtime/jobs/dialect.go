package jobs

import (
	"fmt"
	"strings"
)

// dialect is what differs between the two databases. Statements with $1, $2 …
// are understood by both.
type dialect struct {
	Postgres bool              // the database is PostgreSQL, else SQLite
	words    *strings.Replacer // in the files of schema
	Now      string            // expression: milliseconds of the database's clock
	millis   string            // format of a column of River's as milliseconds
	Due      string            // condition: the time of a row of river_job has come
	after    string            // format of a column of River's: some milliseconds from now
	json     string            // the JSON $1 as a column of River's
	args     string            // the arguments of a row of river_job j, as JSON
	Owner    string            // expression: the worker that fetched a row of river_job j last
	uncancel string            // the metadata of a row of river_job, when it is to be cancelled no longer
	running  string            // the jobs that a row of tr_worker w runs, separated by commas
	tables   string            // query: the names of all tables
	user     string            // the user of the database
	size     string            // query: bytes of the database
	lastID   string            // query: the highest id that a job has had
}

const (
	nowSQLite   = "cast(unixepoch('subsec') * 1000 as integer)"
	nowPostgres = "cast(extract(epoch from clock_timestamp()) * 1000 as bigint)"
)

var (
	sqlite = dialect{
		words: strings.NewReplacer("{id}", "integer primary key autoincrement", "{bytes}", "blob", "{now}",
			"("+nowSQLite+")", "{user}", "''"),
		user:     "''",
		Now:      nowSQLite,
		millis:   "cast(coalesce(unixepoch(%s, 'subsec'), 0) * 1000 as integer)",
		Due:      "scheduled_at <= datetime('now', 'subsec')",
		after:    "strftime('%%Y-%%m-%%d %%H:%%M:%%f', 'now', (%s / 1000.0) || ' seconds')",
		json:     "jsonb($1)",
		args:     "json(j.args)",
		Owner:    "json_extract(j.attempted_by, '$[#-1]')",
		uncancel: "jsonb_remove(metadata, '$.cancel_attempted_at')",
		running: "(select coalesce(group_concat(job_id), '') from (select job_id from tr_run where worker_id = " +
			"w.id and ended_at is null order by id) x)",
		tables: "select name from sqlite_master where type = 'table'",
		size:   "select page_count * page_size from pragma_page_count(), pragma_page_size()",
		lastID: "select coalesce((select seq from sqlite_sequence where name = 'river_job'), 0)",
	}
	postgres = dialect{
		Postgres: true,
		words: strings.NewReplacer("{id}", "bigint generated always as identity primary key", "{bytes}", "bytea",
			"{now}", nowPostgres, "{user}", "session_user"),
		user:     "session_user",
		Now:      nowPostgres,
		millis:   "cast(coalesce(extract(epoch from %s), 0) * 1000 as bigint)",
		Due:      "scheduled_at <= now()",
		after:    "clock_timestamp() + cast(%s as bigint) * interval '1 millisecond'",
		json:     "cast($1 as jsonb)",
		args:     "j.args",
		Owner:    "j.attempted_by[array_upper(j.attempted_by, 1)]",
		uncancel: "metadata - 'cancel_attempted_at'",
		running: "(select coalesce(string_agg(job_id::text, ',' order by id), '') from tr_run where " +
			"worker_id = w.id and ended_at is null)",
		tables: "select tablename from pg_tables where schemaname = any(current_schemas(false))",
		size:   "select pg_database_size(current_database())",
		lastID: "select coalesce(pg_sequence_last_value(pg_get_serial_sequence('river_job', 'id')::regclass), 0)",
	}
)

// Lock ends a select that locks its rows, such as "for update". It is empty on
// SQLite, where one transaction writes at a time.
func (d dialect) Lock(clause string) string {
	if d.Postgres {
		return " " + clause
	}
	return ""
}

// After is an SQL expression for a column of River's: some milliseconds from now.
func (d dialect) After(ms string) string { return fmt.Sprintf(d.after, ms) }
