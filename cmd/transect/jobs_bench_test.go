//go:build unix

package main

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"transect/runtime/jobs"
	"transect/runtime/jobs/bundle"
	"transect/runtime/jobs/worker"
	"transect/testdata/jobstest"
)

// BenchmarkEmptyJobs has a worker run jobs of an empty script, and measures in the
// same round what bounds it: processes that run that script with nobody in between.
// ms/job is processor time of the worker and
// its processes, without that of PostgreSQL.
func BenchmarkEmptyJobs(b *testing.B) {
	const count, slots = 200, 4
	dir := b.TempDir()
	program := filepath.Join(dir, "transect.exe")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is handed out
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	script := jobstest.Script(b, dir, "empty.lua", "")
	packed, err := bundle.Make(bundle.Source{Script: script})
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"sqlite", "postgres"} {
		b.Run(name, func(b *testing.B) {
			c := jobs.Config{StateDir: b.TempDir()}
			if name == "postgres" {
				c.URL = jobstest.Database(b)
			}
			bench := &emptyJobs{B: b, store: jobstest.Open(b, c), program: program, env: append(os.Environ(), "HOME="+b.TempDir(), "XDG_DATA_HOME=", "XDG_CONFIG_HOME=")}
			if _, err := bench.store.PutBundle(b.Context(), packed); err != nil {
				b.Fatal(err)
			}
			spec := jobs.Spec{Script: "empty.lua", Bundle: packed.Hash, Folder: dir}
			var processes, took, busy time.Duration
			for b.Loop() {
				processes += bench.processes(count, slots, script)
				before := processorTime(b)
				took += bench.drain(count, slots, spec)
				busy += processorTime(b) - before
			}
			rate := func(d time.Duration) float64 { return count * float64(b.N) / d.Seconds() }
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(rate(took), "jobs/s")
			b.ReportMetric(busy.Seconds()*1000/float64(count*b.N), "ms/job")
			b.ReportMetric(rate(processes), "processes/s")
		})
	}
}

// processorTime is that of this process and those that it has waited for.
func processorTime(b *testing.B) (all time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		if err := syscall.Getrusage(who, &used); err != nil {
			b.Fatal(err)
		}
		all += time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	return all
}

type emptyJobs struct {
	*testing.B
	store   *jobs.Store
	program string
	env     []string
}

// processes runs a script again and again, several at a time.
func (b *emptyJobs) processes(count, slots int, script string) time.Duration {
	var left atomic.Int64
	left.Store(int64(count))
	var all sync.WaitGroup
	began := time.Now()
	for range slots {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				cmd := exec.Command(b.program, "run", script)
				cmd.Env = b.env
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Errorf("%v\n%s", err, out)
				}
			}
		})
	}
	all.Wait()
	return time.Since(began)
}

func (b *emptyJobs) insert(count int, one func(*jobs.Tx) error) {
	if err := b.store.Tx(b.Context(), func(tx *jobs.Tx) error {
		for range count {
			if err := one(tx); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
}

// drain measures from the start of a worker to the end of the last job.
func (b *emptyJobs) drain(count, slots int, spec jobs.Spec) time.Duration {
	var last int64
	b.insert(count, func(tx *jobs.Tx) (err error) {
		last, err = b.store.SubmitTx(b.Context(), tx, spec)
		return err
	})
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	began := time.Now()
	go func() {
		ended <- worker.Run(ctx, b.store, worker.Options{Name: "bench", Queues: []string{jobs.DefaultQueue}, Slots: slots, Grace: time.Minute,
			Program: []string{b.program}, Folder: filepath.Join(b.TempDir(), "jobs"), Env: b.env, Log: slog.New(slog.DiscardHandler)})
	}()
	for left := -1; left != 0; time.Sleep(20 * time.Millisecond) {
		if err := b.store.DB().QueryRow("select count(*) from river_job where state <> 'completed' and kind = $1", spec.Kind()).Scan(&left); err != nil {
			b.Fatal(err)
		}
	}
	took := time.Since(began)
	stop()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
	if job, err := b.store.Get(b.Context(), last); err != nil || job.State != jobs.Done {
		b.Fatalf("job %d: %v, %v", last, job, err)
	}
	return took
}
