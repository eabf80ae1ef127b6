package jobs

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"transect/client/fault"
)

// Copied counts the rows of a copy.
type Copied struct {
	Jobs, Schedules, Rows int
}

// Copy copies everything but the workers to an empty database, in one transaction
// of each; ids stay. Jobs that were running go on there as after the death of
// their worker. The jobs here are left as they are. It refuses a database that
// holds jobs or schedules, and one here whose workers live.
func (s *Store) Copy(ctx context.Context, to *Store) (n Copied, err error) {
	err = s.snapshot(ctx, func(from *sql.Tx) error {
		var workers sql.NullString
		if err := from.QueryRowContext(ctx, "select max(name) from tr_worker where dead_at is null and lease_until > "+s.now).Scan(&workers); err != nil {
			return s.Explain(err)
		}
		if workers.Valid {
			return fault.Hinted(fault.Of(&fault.ValueError{}, "a worker works on %s: %s", s.Name(), workers.String), "stop the workers first")
		}
		tables, err := s.ownTables(ctx, from)
		if err != nil {
			return s.Explain(err)
		}
		return to.Tx(ctx, func(tx *sql.Tx) error {
			if err := to.empty(ctx, tx); err != nil {
				return err
			}
			if n.Jobs, err = s.copyRows(ctx, from, to, tx, "river_job", riverColumns); err != nil {
				return err
			}
			n.Rows = n.Jobs
			for _, table := range tables {
				rows, err := s.copyRows(ctx, from, to, tx, table, nil)
				if err != nil {
					return fmt.Errorf("%s: %w", table, err)
				}
				n.Rows += rows
				if table == "tr_schedule" {
					n.Schedules = rows
				}
			}
			return to.follow(ctx, tx, s, from)
		})
	})
	return n, err
}

// snapshot calls fn with a state of the database that does not change meanwhile.
func (s *Store) snapshot(ctx context.Context, fn func(*sql.Tx) error) error {
	options := &sql.TxOptions{}
	if s.postgres {
		options.Isolation = sql.LevelRepeatableRead
	}
	tx, err := s.db.BeginTx(ctx, options)
	if err != nil {
		return s.Explain(err)
	}
	defer tx.Rollback()
	if s.postgres {
		if _, err := tx.ExecContext(ctx, "set local "+idleTransaction+" = 0"); err != nil { // the other database may be slow
			return s.Explain(err)
		}
	}
	return fn(tx)
}

// ownTables lists our tables, but for what belongs to one database.
func (s *Store) ownTables(ctx context.Context, tx *sql.Tx) ([]string, error) {
	names, err := Column[string](ctx, tx, s.tables)
	slices.Sort(names)
	return slices.DeleteFunc(names, func(name string) bool {
		return !strings.HasPrefix(name, "tr_") || name == "tr_migration" || name == "tr_worker"
	}), err
}

func (s *Store) empty(ctx context.Context, tx *sql.Tx) error {
	var jobs, schedules int
	err := tx.QueryRowContext(ctx, "select (select count(*) from river_job), (select count(*) from tr_schedule)").Scan(&jobs, &schedules)
	if err == nil && jobs+schedules > 0 {
		return fault.Hinted(fault.Of(&fault.ValueError{}, "%s is not empty: it holds jobs (%d) or schedules (%d)", s.Name(), jobs, schedules), "copy to an empty database")
	}
	return err
}

// column is one of a table that the two databases keep in different forms: how
// SQLite and PostgreSQL read and write it. %s is the column or the value.
type column struct {
	name                       string
	read, readPG, write, wrtPG string
}

// riverColumns are those of river_job. Times travel as microseconds, arrays and
// objects as JSON.
var riverColumns = func() []column {
	plain := func(name string) column { return column{name, "%s", "%s", "%s", "%s"} }
	moment := func(name string) column {
		return column{name, "cast(unixepoch(%s, 'subsec') * 1000000 as integer)", "cast(extract(epoch from %s) * 1000000 as bigint)",
			"strftime('%%Y-%%m-%%d %%H:%%M:%%f', %s / 1000000.0, 'unixepoch')", "to_timestamp(cast(%s as double precision) / 1000000)"}
	}
	list := func(name, elements string) column {
		return column{name, "cast(%s as text)", "cast(to_json(%s) as text)", "%s", "case when cast(%[1]s as text) is null then null else array(select " + elements + "(cast(%[1]s as jsonb))) end"}
	}
	object := func(name string) column {
		return column{name, "cast(%s as text)", "cast(%s as text)", "%s", "cast(%s as jsonb)"}
	}
	return []column{plain("id"), {"state", "%s", "cast(%s as text)", "%s", "cast(%s as river_job_state)"}, plain("attempt"), plain("max_attempts"), plain("priority"), plain("kind"), plain("queue"),
		moment("attempted_at"), moment("created_at"), moment("finalized_at"), moment("scheduled_at"),
		{"args", "cast(%s as text)", "cast(%s as text)", "cast(%s as blob)", "cast(%s as jsonb)"}, object("metadata"),
		list("attempted_by", "jsonb_array_elements_text"), list("errors", "jsonb_array_elements"), list("tags", "jsonb_array_elements_text"),
		plain("unique_key"), {"unique_states", "%s", "cast(%s as integer)", "%s", "cast(cast(%s as integer) as bit(8))"}}
}()

// copyRows copies a table; its columns as they are when none are given.
func (s *Store) copyRows(ctx context.Context, from *sql.Tx, to *Store, tx *sql.Tx, table string, columns []column) (n int, err error) {
	var read []string
	for _, c := range columns {
		form := c.read
		if s.postgres {
			form = c.readPG
		}
		read = append(read, fmt.Sprintf(form, c.name))
	}
	if columns == nil {
		read = []string{"*"}
	}
	rows, err := from.QueryContext(ctx, "select "+strings.Join(read, ", ")+" from "+table)
	if err != nil {
		return 0, s.Explain(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return 0, s.Explain(err)
	}
	var write []string
	for i := range names {
		form := "%s"
		if columns != nil {
			names[i], form = columns[i].name, columns[i].write
			if to.postgres {
				form = columns[i].wrtPG
			}
		}
		write = append(write, fmt.Sprintf(form, fmt.Sprintf("$%d", i+1)))
	}
	own := ""
	if to.postgres && slices.Contains(names, "id") && columns == nil {
		own = " overriding system value"
	}
	insert, err := tx.PrepareContext(ctx, "insert into "+table+" ("+strings.Join(names, ", ")+")"+own+" values ("+strings.Join(write, ", ")+")")
	if err != nil {
		return 0, err
	}
	defer insert.Close()
	values, places := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		places[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return n, s.Explain(err)
		}
		if to.postgres {
			for i, v := range values {
				if text, ok := v.(string); ok { // PostgreSQL takes no other
					values[i] = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
				}
			}
		}
		if _, err := insert.ExecContext(ctx, values...); err != nil {
			return n, err
		}
		n++
	}
	return n, s.Explain(rows.Err())
}
