package jobs

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"

	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"

	"transect/client/fault"
)

// schema holds one file per version, in order. Released ones never change; a new version of River's tables
// gets a file as well, even an empty one.
//
//go:embed schema/*.sql
var schema embed.FS

// riverVersion is the version of River's tables that the newest file belongs to.
const riverVersion = 8

// migrationLock is the key of the advisory lock on PostgreSQL.
const migrationLock = 0x7472616e73656374

// migrate updates the tables to the version of this program. Several processes may do so at once.
func (s *Store) migrate(ctx context.Context) error {
	files, err := fs.Glob(schema, "schema/*.sql")
	if err != nil {
		return err
	}
	have, err := s.version(ctx)
	if err != nil || have == len(files) {
		return err
	}
	if have > len(files) {
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "the jobs in %s were made by a newer version of transect",
			s.Name()), "update transect on this machine")
	}
	if s.Postgres {
		return s.migratePostgres(ctx, files)
	}
	return s.Tx(ctx, func(tx *Tx) error {
		river, err := rivermigrate.New(riversqlite.New(s.db), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		//nolint:staticcheck // on SQLite all of River's migrations can share a transaction
		if _, err := river.MigrateTx(ctx, tx.Tx, rivermigrate.DirectionUp, nil); err != nil {
			return err
		}
		return s.migrateOwn(ctx, tx, files)
	})
}

// migratePostgres holds the lock in a separate transaction: River's own migrations cannot share one, because
// a new value of an enum type cannot be used in the transaction that adds it.
func (s *Store) migratePostgres(ctx context.Context, files []string) error {
	return s.Tx(ctx, func(lock *Tx) error {
		if _, err := lock.ExecContext(ctx, "set local "+idleTransaction+" = 0"); err != nil {
			return err
		}
		if _, err := lock.ExecContext(ctx, "select pg_advisory_xact_lock($1)", migrationLock); err != nil {
			return err
		}
		river, err := rivermigrate.New(riverpgxv5.New(s.pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		if _, err := river.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
			return err
		}
		return s.Tx(ctx, func(tx *Tx) error { return s.migrateOwn(ctx, tx, files) })
	})
}

func (s *Store) migrateOwn(ctx context.Context, tx *Tx, files []string) error {
	if _, err := tx.ExecContext(ctx,
		"create table if not exists tr_migration (version bigint primary key, at bigint not null "+
			"default "+s.words.Replace("{now}")+")"); err != nil {
		return err
	}
	var have int
	if err := tx.QueryRowContext(ctx, "select coalesce(max(version), 0) from tr_migration").Scan(&have); err != nil {
		return err
	}
	for n := have + 1; n <= len(files); n++ { // another process may have done some
		text, err := schema.ReadFile(files[n-1])
		if err != nil {
			return err
		}
		for _, statement := range statements(string(text)) {
			if _, err := tx.ExecContext(ctx, s.words.Replace(statement)); err != nil {
				return fmt.Errorf("%s: %w", files[n-1], err)
			}
		}
		if _, err := tx.ExecContext(ctx, "insert into tr_migration (version) values ($1)", n); err != nil {
			return err
		}
	}
	return nil
}

// statements splits a file at the semicolons that end lines.
func statements(text string) (list []string) {
	for _, line := range strings.Split(text, ";\n") {
		if strings.TrimSpace(line) != "" {
			list = append(list, line)
		}
	}
	return list
}

// version returns the version of the tables; 0 for a new database.
func (s *Store) version(ctx context.Context) (version int, err error) {
	tables, err := Column[string](ctx, s.db, s.tables)
	if err != nil || !slices.Contains(tables, "tr_migration") {
		return 0, err
	}
	err = s.db.QueryRowContext(ctx, "select coalesce(max(version), 0) from tr_migration").Scan(&version)
	return version, err
}
