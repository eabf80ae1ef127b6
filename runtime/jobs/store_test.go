package jobs_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"transect/runtime/jobs"
	"transect/runtime/jobs/setting"
	"transect/testdata/jobstest"
)

func TestSubmitAndGet(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, s *jobs.Store) {
		spec := jobs.Spec{Script: "survey.lua", Args: []string{"flight 7"}, Run: []string{"--local"}, Folder: "/data", Settings: setting.Settings{Key: "k", Retries: 5, Timeout: time.Hour}}
		id, err := s.Submit(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		later, err := s.Submit(t.Context(), jobs.Spec{Script: "@ingest", In: time.Hour, Settings: setting.Settings{Queue: "field-office", Priority: 1}})
		if err != nil || later <= id {
			t.Fatal(later, err)
		}
		job, err := s.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if job.State != jobs.Waiting || job.Queue != "default" || job.Priority != 2 || job.Args[0] != "flight 7" || job.Timeout != time.Hour || job.Key != "k" || job.ExitCode != nil {
			t.Errorf("%+v", job)
		}
		job, err = s.Get(t.Context(), later)
		if err != nil {
			t.Fatal(err)
		}
		if wait := job.Due.Sub(job.Submitted); job.State != jobs.Scheduled || job.Queue != "field-office" || wait < 59*time.Minute || wait > 61*time.Minute {
			t.Errorf("%+v", job)
		}
		if _, err := s.Get(t.Context(), 999); err == nil || !strings.Contains(err.Error(), "there is no job 999") {
			t.Error(err)
		}
		if list, err := s.List(t.Context(), jobs.Filter{States: []jobs.State{jobs.Scheduled}}); err != nil || len(list) != 1 || list[0].ID != later {
			t.Error(list, err)
		}
	})
}

// Jobs of which somebody wants to be told are watched from their time on.
func TestWatched(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, s *jobs.Store) {
		for _, spec := range []jobs.Spec{
			{Settings: setting.Settings{Late: time.Minute}}, {Settings: setting.Settings{Ping: "https://hc.example.com/x", Late: time.Minute}},
			{Settings: setting.Settings{OnFailure: "mail", Late: time.Minute}, In: time.Hour}} {
			spec.Script = "survey.lua"
			id, err := s.Submit(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			job, err := s.Get(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			var starts, late int64
			switch err := s.DB().QueryRow("select starts, late_at from tr_watch where job_id = $1", id).Scan(&starts, &late); {
			case err == sql.ErrNoRows && spec.Ping+spec.OnFailure == "":
			case err != nil, (starts == 1) != (spec.Ping != ""), spec.OnFailure == "" && late != 0, spec.OnFailure != "" && late != job.Due.Add(time.Minute).UnixMilli():
				t.Errorf("%+v: %v, starts %d, late at %d", spec, err, starts, late)
			}
		}
	})
}

// River compares times as texts on SQLite: all are in UTC.
func TestTimesOfSQLite(t *testing.T) {
	t.Parallel()
	s := jobstest.Open(t, jobs.Config{StateDir: t.TempDir()})
	id, err := s.Submit(t.Context(), jobs.Spec{Script: "survey.lua"})
	if err != nil {
		t.Fatal(err)
	}
	due := time.Now().Add(time.Minute)
	for _, zone := range []string{"Pacific/Apia", "America/Bogota"} {
		where, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.DB().Exec("update river_job set state = 'retryable', scheduled_at = $1", due.In(where)); err != nil { // as River does
			t.Fatal(err)
		}
		var later bool
		if err := s.DB().QueryRow("select scheduled_at > datetime('now', 'subsec') and scheduled_at < datetime('now', 'subsec', '2 minutes') from river_job").Scan(&later); err != nil || !later {
			t.Error(zone, later, err)
		}
		if job, err := s.Get(t.Context(), id); err != nil || job.Due.Sub(due).Abs() > time.Second {
			t.Error(zone, job, err)
		}
	}
}

// The id of a job that was removed is not given again.
func TestIDs(t *testing.T) {
	t.Parallel()
	jobstest.EachStore(t, func(t *testing.T, s *jobs.Store) {
		first := submit(t, s, jobs.Spec{})
		if err := s.Remove(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		if second := submit(t, s, jobs.Spec{}); second <= first {
			t.Error(first, second)
		}
	})
}

// Several processes open a new database at once.
func TestMigrateTogether(t *testing.T) {
	t.Parallel()
	jobstest.Each(t, func(t *testing.T, c jobs.Config) {
		var group sync.WaitGroup
		for range 5 {
			group.Go(func() {
				s, err := jobs.Open(t.Context(), c)
				if err != nil {
					t.Error(err)
					return
				}
				defer s.Close()
				if _, err := s.Submit(t.Context(), jobs.Spec{Script: "a.lua"}); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if list, err := jobstest.Open(t, c).List(t.Context(), jobs.Filter{}); err != nil || len(list) != 5 {
			t.Error(len(list), err)
		}
	})
}

func TestNewerTables(t *testing.T) {
	t.Parallel()
	jobstest.Each(t, func(t *testing.T, c jobs.Config) {
		s := jobstest.Open(t, c)
		if err := s.Tx(t.Context(), func(tx *jobs.Tx) error {
			_, err := tx.Exec("insert into tr_migration (version) values (999)")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := jobs.Open(t.Context(), c); err == nil || !strings.Contains(err.Error(), "newer version of transect") {
			t.Error(err)
		}
	})
}

func TestFileOfOneUser(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state # 50%?")
	s := jobstest.Open(t, jobs.Config{StateDir: dir})
	if _, err := s.Submit(t.Context(), jobs.Spec{Script: "a.lua"}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"jobs.db", "jobs.db-wal", "jobs.db-shm"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Error(name, info, err)
		}
	}
}

func TestBadAddresses(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"mysql://x": `its scheme is "mysql"`,
		"jobs":      "has no scheme",
		"postgres://u:sesame@localhost:99999999/":    "address of the jobs",
		"postgres://u:sesame@127.0.0.1:1/x":          "postgres://u:xxxxx@127.0.0.1:1/x",
		"postgres://u@127.0.0.1:1/x?password=sesame": "password=xxxxx",
	} {
		_, err := jobs.Open(t.Context(), jobs.Config{URL: url})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %v", url, err)
		}
	}
}
