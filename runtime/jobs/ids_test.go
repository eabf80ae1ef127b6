package jobs

import (
	"database/sql"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/riverqueue/river/rivermigrate"
)

// The jobs of a file of version 1, in which River's table gives ids again, stay as
// they are; the id of one that is removed is not given again.
func TestIDsOfOlderFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), File)
	old := &Store{dialect: sqlite, path: path}
	var err error
	if old.db, err = openSQLite(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	err = old.Tx(t.Context(), func(tx *sql.Tx) error {
		river, err := rivermigrate.New(old.driver(old.db), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		if _, err := river.MigrateTx(t.Context(), tx, rivermigrate.DirectionUp, nil); err != nil {
			return err
		}
		return old.migrateOwn(t.Context(), tx, []string{"schema/001_jobs.sql"})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"insert into river_job (id, args, kind, max_attempts, queue) values (7, '{\"script\":\"a.lua\"}', 'script', 9, 'office')",
		"insert into tr_job (job_id, title) values (7, 'a.lua')"} {
		if _, err := old.db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	old.Close()

	s, err := Open(t.Context(), Config{URL: "sqlite:" + path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if job, err := s.Get(t.Context(), 7); err != nil || job.State != Waiting || job.Queue != "office" || job.Script != "a.lua" {
		t.Fatal(job, err)
	}
	var indexes int
	if err := s.db.QueryRow("select count(*) from sqlite_master where type = 'index' and tbl_name = 'river_job'").Scan(&indexes); err != nil || indexes != 4 {
		t.Error(indexes, err)
	}
	if err := s.Remove(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	if id, err := s.Submit(t.Context(), Spec{Script: "b.lua"}); err != nil || id != 8 {
		t.Error(id, err)
	}
}
