package runtime

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"transect/client/fault"
	"transect/runtime/plan"
	"transect/runtime/vm"
)

func TestExitCode(t *testing.T) {
	t.Parallel()
	answered := func(status int) error {
		return fault.In("projects.create", fault.Of(&fault.ResponseError{Status: status}, "no"))
	}
	for _, c := range []struct {
		name string
		err  error
		want int
	}{
		{"nothing", nil, 0},
		{"asked for", &vm.Exit{Code: 3}, 3},
		{"asked for, negative", &vm.Exit{Code: -1}, 255},
		{"asked for, cut to zero", &vm.Exit{Code: 512}, 1},
		{"raised", &vm.ScriptError{Err: fault.Of(&fault.RuntimeError{}, "boom")}, 1},
		{"usage", fault.Of(&fault.UsageError{}, "no"), 2},
		{"configuration", &vm.ScriptError{Err: fault.Of(&fault.ConfigError{}, "no")}, 2},
		{"syntax", &vm.ScriptError{Err: fault.Of(&fault.SyntaxError{}, "no")}, 2},
		{"no credentials", fault.Of(&fault.MissingCredentialsError{}, "no"), 2},
		{"refused", &vm.ScriptError{Err: fault.In("x", fault.Of(&fault.TokenRenewalError{}, "%w", answered(401)))}, 4},
		{"unauthorised", answered(401), 4},
		{"forbidden", answered(403), 1},
		{"unknown id", answered(404), 1},
		{"server fault", answered(500), 5},
		{"not implemented", answered(501), 1},
		{"no room on the platform", answered(507), 5},
		{"too many", answered(429), 5},
		{"bad gateway", answered(502), 5},
		{"unavailable", &vm.ScriptError{Err: answered(503)}, 5},
		{"gateway timeout", answered(504), 5},
		{"unreachable", fault.Of(&fault.ConnectionError{}, "no"), 5},
		{"request timeout", fault.Of(&fault.TimeoutError{}, "no"), 5},
		{"upload without connection", fault.Of(&fault.UploadError{}, "%w", fault.Of(&fault.ConnectionError{}, "no")), 5},
		{"time limit", stopReason(&timeoutError{time.Second}), 10},
		{"interrupted", &Interrupted{os.Interrupt}, 130},
		{"terminated", fmt.Errorf("x: %w", &Interrupted{syscall.SIGTERM}), 143},
		{"drift", fmt.Errorf("x: %w", &plan.Drift{}), ExitDrift},
		{"a program that failed", fault.Of(&fault.ConfigError{}, "no: %w", &exec.ExitError{ProcessState: &os.ProcessState{}}), 2},
		{"internal", vm.Internal("broken"), 1},
		{"unnamed", errors.New("x"), 1},
	} {
		if got := ExitCode(c.err); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// A run that was stopped ends with the reason, not with what it cut short.
func TestEnding(t *testing.T) {
	t.Parallel()
	stop := &Interrupted{os.Interrupt}
	cut := fault.Of(&fault.CancelledError{}, "stopped: %w", stop)
	if got := stopReason(&vm.ScriptError{Err: cut}); got != stop {
		t.Errorf("got %v", got)
	}
	late := stopReason(fault.Of(&fault.CancelledError{}, "stopped: %w", &timeoutError{time.Minute}))
	if f := fault.Find(late); f == nil || f.Name() != "TimeoutError" {
		t.Errorf("got %v", late)
	}
	other := errors.New("other")
	if got := stopReason(other); got != other {
		t.Errorf("got %v", got)
	}
}
