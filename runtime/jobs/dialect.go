package jobs

import (
	"fmt"
	"strings"
)

// dialect holds the differences between the two databases. Both support statements with $1, $2 ….
type dialect struct {
	Postgres bool              // the database is PostgreSQL, else SQLite
	words    *strings.Replacer // replacements in the files of schema
	Now      string            // expression: the database's time in milliseconds
	millis   string            // format of a River column as milliseconds
	Due      string            // condition: a row of river_job is due
	after    string            // format of a River column: some milliseconds from now
	json     string            // the JSON $1 as a River column
	args     string            // the arguments of a row of river_job j, as JSON
	Owner    string            // expression: the worker that last fetched a row of river_job j
	uncancel string            // the metadata of a row of river_job without a cancellation
	running  string            // the jobs run by a row of tr_worker w, separated by commas
	tables   string            // query: the names of all tables
	user     string            // the user of the database
	size     string            // query: bytes of the database
	lastID   string            // query: the highest id of a job so far
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

// Lock returns a clause for a select that locks its rows, such as "for update". It is empty on SQLite, where
// one transaction writes at a time.
func (d dialect) Lock(clause string) string {
	if d.Postgres {
		return " " + clause
	}
	return ""
}

// After returns an SQL expression for a River column: some milliseconds from now.
func (d dialect) After(ms string) string { return fmt.Sprintf(d.after, ms) }
