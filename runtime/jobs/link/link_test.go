package link

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"transect/client/fault"
)

// pair makes both ends of a link in this process.
func pair(t *testing.T, begin Begin, handlers Handlers) (*Worker, *Child) {
	t.Helper()
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
	go func() { served <- w.Serve(t.Context(), begin, handlers) }()
	c, err := open(newsIn, callsOut)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		if err := <-served; err != nil {
			t.Errorf("the worker's end: %v", err)
		}
		_ = w.Close()
	})
	return w, c
}

func leased() Begin { return Begin{Run: "job-1", Job: 1, Until: Now() + time.Hour} }

func TestCallsAreAnswered(t *testing.T) {
	_, c := pair(t, leased(), Handlers{
		"double": Handler(func(_ context.Context, n int) (int, error) { return 2 * n, nil }),
		"refuse": Handler(func(context.Context, any) (any, error) {
			return nil, fault.Hinted(fault.Of(&fault.LockedError{}, "no"), "wait")
		}),
		"fail": Handler(func(context.Context, any) (any, error) { return nil, errors.New("broken") }),
		"long": Handler(func(context.Context, any) (any, error) { return strings.Repeat("x", maxMessage), nil }),
	})
	if c.Run != "job-1" || c.Job != 1 {
		t.Errorf("the beginning came as %+v", c.Begin)
	}
	done := make(chan error)
	for i := range 20 {
		go func() {
			var got int
			err := c.Call(t.Context(), "double", i, &got)
			if err == nil && got != 2*i {
				err = errors.New("a wrong answer")
			}
			done <- err
		}()
	}
	for range 20 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	err := c.Call(t.Context(), "refuse", nil, nil)
	if f, ok := errors.AsType[*fault.LockedError](err); !ok || f.Message != "no" || f.Hint != "wait" {
		t.Errorf("a refusal came as %v", err)
	}
	for call, want := range map[string]string{"fail": "broken", "long": "the limit is 33554432", "nothing": "knows no call"} {
		if err := c.Call(t.Context(), call, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", call, err)
		}
	}
	if err := c.Call(t.Context(), "double", strings.Repeat("x", maxMessage), nil); err == nil || !strings.Contains(err.Error(), "the limit is 33554432") {
		t.Errorf("a long call: %v", err)
	}
}

func TestTheGateIsClosedPastTheLease(t *testing.T) {
	begin := leased()
	begin.Until = Now() - 1
	w, c := pair(t, begin, nil)
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := c.Gate(short); err == nil {
		t.Fatal("the gate is open past the lease")
	}
	passed := make(chan error, 1)
	go func() { passed <- c.Gate(t.Context()) }()
	if err := w.Lease(Now() + time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := <-passed; err != nil {
		t.Errorf("the gate after a renewal: %v", err)
	}
}

func TestCancellingAndTheWorkersEndStopTheJob(t *testing.T) {
	for want, stop := range map[string]func(*Worker) error{
		"the job was cancelled: not needed": func(w *Worker) error { return w.Cancel("not needed") },
		"the worker of the job is gone: EOF": func(w *Worker) error {
			return w.out.Close()
		},
	} {
		begin := leased()
		begin.Until = 0
		w, c := pair(t, begin, Handlers{"wait": Handler(func(ctx context.Context, _ any) (any, error) { <-ctx.Done(); return nil, ctx.Err() })})
		waiting := make(chan error, 2)
		go func() { waiting <- c.Gate(t.Context()) }()
		go func() { waiting <- c.Call(t.Context(), "wait", nil, nil) }()
		if err := stop(w); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := <-waiting; err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		if err := context.Cause(c.Stopped()); err == nil || err.Error() != want {
			t.Errorf("it was stopped for %v", err)
		}
	}
}

// The test's own program is the process of a job.
func TestMain(m *testing.M) {
	c, err := Inherited()
	if c == nil && err == nil {
		os.Exit(m.Run())
	}
	var answer string
	if err == nil {
		err = c.Call(context.Background(), "greet", os.Getpid(), &answer)
	}
	if err != nil || answer != "hello" || os.Getenv(Variable) != "" {
		os.Exit(1)
	}
	os.Exit(0)
}

func TestAProcessInheritsItsLink(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	w, err := Attach(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	err = w.Serve(t.Context(), leased(), Handlers{"greet": Handler(func(_ context.Context, n int) (string, error) { pid = n; return "hello", nil })})
	if err := errors.Join(err, cmd.Wait()); err != nil {
		t.Fatal(err)
	}
	if pid != cmd.Process.Pid {
		t.Errorf("process %d called, %d was started", pid, cmd.Process.Pid)
	}
}
