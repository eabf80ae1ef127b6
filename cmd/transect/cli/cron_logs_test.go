package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"transect/runtime"
	"transect/runtime/unattended"
	"transect/runtime/unattended/history"
)

// A followed log goes on with the next run, and loses no line of the one before.
func TestLogsOfAJobGoOnWithItsNextRun(t *testing.T) {
	state := t.TempDir()
	p := &runtime.Process{Now: time.Now, Env: func(name string) (string, bool) { return state, name == "TRANSECT_STATE_DIR" }}
	begin := func(at time.Time) *history.Entry {
		e, err := unattended.History(p).Begin(&history.Summary{ID: history.NewID(at), State: history.Running, Job: "nightly", Started: at})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	read, write := io.Pipe()
	p.Stdout = write
	a := NewApp(p)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- a.printLogs(ctx, "nightly", 0, true)
		write.Close()
	}()
	first := begin(time.Now())
	fmt.Fprintln(first.Log, "one")
	var got strings.Builder
	until := func(want string) {
		for buffer := make([]byte, 100); !strings.HasSuffix(got.String(), want); {
			n, err := read.Read(buffer)
			if got.Write(buffer[:n]); err != nil {
				t.Fatalf("%q, %v", got.String(), err)
			}
		}
	}
	until("one\n")
	fmt.Fprintln(first.Log, "two")
	second := begin(time.Now().Add(time.Second))
	fmt.Fprintln(second.Log, "three")
	until("one\ntwo\nthree\n")
	stop()
	go func() { _, _ = io.Copy(io.Discard, read) }()
	if err := <-done; err == nil {
		t.Error("it ended by itself")
	}
}
