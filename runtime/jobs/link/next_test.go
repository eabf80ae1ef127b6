package link

import (
	"context"
	"os"
	"testing"
	"time"
)

// A job that has ended can do nothing more, though its process goes on with another.
func TestOneJobAfterAnother(t *testing.T) {
	calls, callsOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	newsIn, news, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	w := &Worker{pipes: pipes{in: calls, out: news}, begun: make(chan struct{})}
	served := make(chan error, 1)
	serve := func(run string) {
		begin := leased()
		begin.Run, begin.Args = run, []string{"run", run}
		served <- w.Serve(t.Context(), begin, Handlers{"run": Handler(func(context.Context, any) (string, error) { return run, nil })})
	}
	go serve("job-1")
	first, err := open(newsIn, callsOut)
	if err != nil {
		t.Fatal(err)
	}
	next := make(chan *Child, 1)
	go func() { next <- first.Next(nil) }()
	if err := <-served; err != nil || !w.Again() {
		t.Fatalf("the end of the first job: %v, again: %v", err, w.Again())
	}
	if err := w.Lease(Now() + 2*time.Hour); err != nil { // meant for the first job
		t.Fatal(err)
	}
	go serve("job-2")
	second := <-next
	if second == nil || second.Run != "job-2" || len(second.Args) != 2 {
		t.Fatalf("the second job: %+v", second)
	}
	const ended = "the job has ended"
	if err := first.Call(t.Context(), "run", nil, nil); err == nil || err.Error() != ended {
		t.Errorf("a call of the first job: %v", err)
	}
	if err := first.Gate(t.Context()); err == nil || err.Error() != ended {
		t.Errorf("the gate of the first job: %v", err)
	}
	var run string
	if err := second.Call(t.Context(), "run", nil, &run); err != nil || run != "job-2" {
		t.Errorf("a call of the second job: %s, %v", run, err)
	}
	if err := second.Gate(t.Context()); err != nil {
		t.Errorf("the gate of the second job: %v", err)
	}
	go func() { next <- second.Next(nil) }()
	if err := <-served; err != nil || !w.Again() {
		t.Fatalf("the end of the second job: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if third := <-next; third != nil {
		t.Errorf("a job of nobody: %+v", third.Begin)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
}
