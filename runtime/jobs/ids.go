package jobs

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// keepIDs lets SQLite give each id once, as PostgreSQL does. River's table would
// give that of the newest job again when that job was removed, and with it what
// others keep by the id of a job.
func keepIDs(ctx context.Context, tx *sql.Tx) error {
	var table string
	if err := tx.QueryRowContext(ctx, "select sql from sqlite_master where type = 'table' and name = 'river_job'").Scan(&table); err != nil {
		return err
	}
	const plain, kept = "id integer PRIMARY KEY,", "id integer PRIMARY KEY AUTOINCREMENT,"
	if strings.Contains(table, kept) {
		return nil
	}
	if strings.Count(table, plain) != 1 || strings.Count(table, "river_job (") != 1 {
		return fmt.Errorf("the table river_job is not as expected: %s", table)
	}
	indexes, err := Column[string](ctx, tx, "select sql from sqlite_master where tbl_name = 'river_job' and type <> 'table' and sql is not null")
	if err != nil {
		return err
	}
	for _, statement := range append([]string{
		strings.NewReplacer(plain, kept, "river_job (", "river_job_kept (").Replace(table),
		"insert into river_job_kept select * from river_job order by id",
		"drop table river_job",
		"alter table river_job_kept rename to river_job",
	}, indexes...) {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}
