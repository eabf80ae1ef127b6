package worker_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"transect/runtime/jobs"
	"transect/runtime/jobs/setting"
	"transect/testdata/jobstest"
)

// Whatever happens to the server, jobs go on, nothing of what they print is lost or
// repeated, and workers come back by themselves.
func TestDatabaseFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out what takes seconds")
	}
	t.Parallel()
	cluster := jobstest.NewCluster(t, jobstest.Server{Settings: []string{"max_connections=40"}})
	c := jobs.Config{URL: cluster.Database(t), StateDir: t.TempDir()}
	store := jobstest.Open(t, c)
	for i := range 2 {
		process(t, c, fmt.Sprintf("worker-%d", i))
	}
	finish := filepath.Join(t.TempDir(), "finish")
	var talks []int64
	heard := make([]strings.Builder, 4)
	followed := make(chan error, len(heard))
	for i := range heard {
		talks = append(talks, submit(t, store, jobs.Spec{Script: "talk", Settings: setting.Settings{Retries: 0}}, finish))
		become(t, store, talks[i], func(j *jobs.Job) bool { return j.State == jobs.Running })
		go func() {
			_, err := store.Follow(context.Background(), talks[i], jobs.Position{}, func(b jobs.Batch) error { heard[i].WriteString(b.Lines); return nil })
			followed <- err
		}()
	}
	admin := func(statements ...string) error {
		conn, err := pgx.Connect(t.Context(), c.URL)
		if err != nil {
			return err
		}
		defer conn.Close(context.Background())
		for _, s := range statements {
			if _, err := conn.Exec(t.Context(), s); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
		return nil
	}
	const terminate = "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'"
	set := func(setting string) error { return admin("alter system set "+setting, "select pg_reload_conf()") }
	var held []*pgx.Conn
	for _, fault := range []struct {
		name       string
		begin, end func() error
	}{
		{"a restart", cluster.Stop, cluster.Start},
		{"a crash", cluster.Abort, cluster.Start},
		{"the loss of its machine", cluster.Kill, cluster.Start},
		{"connections that are ended, those that listen as well", func() error { return admin(terminate) }, nil},
		{"a server that may not be written to", func() error { return set("default_transaction_read_only = on") },
			func() error {
				return admin("set transaction_read_only = off", "alter system reset default_transaction_read_only", "select pg_reload_conf()")
			}},
		{"idle sessions that are ended", func() error { return set("idle_session_timeout = '300ms'") }, func() error { return set("idle_session_timeout = 0") }},
		{"no connections left", func() error {
			if err := admin(terminate); err != nil {
				return err
			}
			for {
				conn, err := pgx.Connect(t.Context(), c.URL)
				if err != nil {
					return nil
				}
				held = append(held, conn)
			}
		}, func() (err error) {
			for _, conn := range held {
				err = errors.Join(err, conn.Close(context.Background()))
			}
			return err
		}},
	} {
		began := time.Now()
		if err := fault.begin(); err != nil {
			t.Fatal(fault.name, err)
		}
		time.Sleep(2 * quick.Beat)
		if fault.end != nil {
			if err := fault.end(); err != nil {
				t.Fatal(fault.name, err)
			}
		}
		back := time.Now()
		var id int64
		waitFor(t, func() (ok bool) {
			var err error
			id, err = store.Submit(t.Context(), jobs.Spec{Script: "exit", Args: []string{"0"}})
			return err == nil
		})
		if job := ended(t, store, id); job.State != jobs.Done || job.Epoch != 1 {
			t.Errorf("%s: %+v", fault.name, job)
		}
		t.Logf("%s: %s, a job had run %s after it", fault.name, round(back.Sub(began)), round(time.Since(back)))
	}
	touch(t, filepath.Dir(finish), "finish")
	for range talks {
		if err := <-followed; err != nil {
			t.Error(err)
		}
	}
	for i, id := range talks {
		if job := ended(t, store, id); job.State != jobs.Done || !slices.Equal(attempts(t, store, id), []string{"done"}) {
			t.Errorf("%+v, attempts %v", job, attempts(t, store, id))
		}
		kept := output(t, store, id)
		if kept != heard[i].String() {
			t.Errorf("job %d: %d bytes were kept, %d followed", id, len(kept), heard[i].Len())
		}
		inOrder(t, kept)
	}
}

// inOrder checks that no line of a job that talks is lost or repeated.
func inOrder(t *testing.T, text string) {
	t.Helper()
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if !strings.HasPrefix(line, fmt.Sprint(i, " x")) {
			t.Errorf("line %d is %.20q", i, line)
			return
		}
	}
}
