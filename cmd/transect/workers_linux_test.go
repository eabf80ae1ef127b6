package main

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"transect/runtime/jobs"
	"transect/testdata/flightgen"
	"transect/testdata/jobstest"
)

// Idle workers hold two connections each and commit less than once a second; behind a
// pooler in transaction mode they share a few, start jobs soon, and leave room for
// commands. TRANSECT_WORKERS is their number; the server has 100 connections then, as
// usual.
func TestManyWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it watches idle workers for a while")
	}
	t.Parallel()
	workers, connections := 5, "max_connections=40"
	if n, err := strconv.Atoi(os.Getenv("TRANSECT_WORKERS")); err == nil {
		workers, connections = n, "max_connections=100"
	}
	cluster := jobstest.NewCluster(t, jobstest.Server{Settings: []string{connections}})
	h := newHome(t, 0, flightgen.Options{})
	h.file("empty.lua", "")
	for _, mode := range []string{"direct", "pooled"} {
		database := cluster.Database(t)
		address, most := cluster.TCP(database, ""), 2*workers
		if mode == "pooled" {
			address, most = cluster.Pooled(t, database, "transaction"), 20 // PgBouncer's default_pool_size
		} else if workers > 40 {
			continue
		}
		h.settings = []string{"TRANSECT_JOBS=" + address}
		h.must("jobs")
		var all []*exec.Cmd
		for i := range workers {
			cmd := h.command("worker", "--name", "w"+strconv.Itoa(i))
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill() }) // unless it has ended
			all = append(all, cmd)
		}
		admin, err := pgx.Connect(t.Context(), database)
		if err != nil {
			t.Fatal(err)
		}
		count := func(query string) (n int64) {
			t.Helper()
			if err := admin.QueryRow(t.Context(), query).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		for count("select count(*) from tr_worker where dead_at is null") < int64(workers) {
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(16 * time.Second) // connections of the start are closed
		const commits = "select xact_commit + xact_rollback from pg_stat_database where datname = current_database()"
		began, before := time.Now(), count(commits)
		time.Sleep(10 * time.Second)
		rate := float64(count(commits)-before) / time.Since(began).Seconds() / float64(workers)
		held := count("select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()")
		if held > int64(most) || rate > 1.3 { // 10 s may hold some beats more
			t.Errorf("%s: %d idle workers hold %d connections, and each commits %.2f times a second", mode, workers, held, rate)
		}
		for range 20 {
			h.must("submit", "--wait", "empty.lua")
		}
		store := jobstest.Open(t, jobs.Config{URL: database})
		list, err := store.List(context.Background(), jobs.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		var waited []time.Duration
		for _, j := range list {
			waited = append(waited, j.Started.Sub(j.Submitted))
		}
		slices.Sort(waited)
		t.Logf("%s: %d idle workers hold %d connections, each commits %.2f times a second; jobs wait %s, at most %s", mode, workers, held,
			rate, waited[len(waited)/2], waited[len(waited)-1])
		for _, cmd := range all {
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
		for _, cmd := range all {
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		}
		_ = admin.Close(context.Background())
		store.Close()
	}
}
