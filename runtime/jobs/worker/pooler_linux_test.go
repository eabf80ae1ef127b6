package worker_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"transect/runtime/jobs"
	"transect/testdata/jobstest"
)

// Behind a connection pooler that gives each transaction another session all works,
// though nothing is told: it is looked for.
func TestConnectionPooler(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out what takes seconds")
	}
	t.Parallel()
	cluster := jobstest.NewCluster(t)
	database := cluster.Database(t)
	c := jobs.Config{URL: cluster.Pooled(t, database), StateDir: t.TempDir()}
	store := jobstest.Open(t, c)
	if store.Listens() || !jobstest.Open(t, jobs.Config{URL: database}).Listens() {
		t.Fatal("the pooler is not told from a server")
	}
	said := &transcript{}
	run(t, store, options(t.TempDir(), "here", slog.NewTextHandler(said, nil)))
	victim, _ := process(t, c, "victim,q")
	work := t.TempDir()
	long := submit(t, store, jobs.Spec{Script: "effects", Queue: "q"}, work)
	var live strings.Builder
	followed := make(chan error, 1)
	id := submit(t, store, jobs.Spec{Script: "print", Key: "one"}, "500")
	other := submit(t, store, jobs.Spec{Script: "exit", Key: "one"}, "3")
	go func() {
		_, err := store.Follow(context.Background(), id, jobs.Position{}, func(b jobs.Batch) error { live.WriteString(b.Lines); return nil })
		followed <- err
	}()
	if job := ended(t, store, id); job.State != jobs.Done {
		t.Errorf("%+v", job)
	}
	if err := <-followed; err != nil || strings.Count(live.String(), "\n") != 501 {
		t.Errorf("%d lines, %v", strings.Count(live.String(), "\n"), err)
	}
	if job := ended(t, store, other); job.State != jobs.DoneFailures {
		t.Errorf("%+v", job)
	}
	waitFor(t, func() bool { return len(readEffects(t, work)) > 0 })
	_ = victim.Process.Kill()
	process(t, c, "heir,q")
	waitFor(t, func() bool { return len(attempts(t, store, long)) == 2 })
	touch(t, work, "finish")
	if ended(t, store, long); !slices.Equal(attempts(t, store, long), []string{"lost", "done"}) {
		t.Error(attempts(t, store, long))
	}
	if !strings.Contains(said.String(), "connection pooler") {
		t.Errorf("nothing is said of the pooler: %s", said)
	}
}
