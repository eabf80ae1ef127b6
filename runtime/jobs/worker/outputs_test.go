package worker

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// slowly takes its time for each piece, as the database may.
type slowly struct {
	strings.Builder
	pause time.Duration
}

func (s *slowly) Write(p []byte) (int, error) {
	time.Sleep(s.pause)
	return s.Builder.Write(p)
}

// All that a process wrote is read, however slowly, and nobody waits for programs
// that keep its output open.
func TestOutputsToTheEnd(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sh", "-c", "sleep 3600 & echo $! >&2; head -c 60000 /dev/zero | tr '\\0' x")
	out, err := &slowly{pause: 2 * pipeQuiet}, &strings.Builder{}
	o, failed := newOutputs(cmd, out, err)
	if failed == nil {
		failed = cmd.Start()
	}
	if failed != nil {
		t.Fatal(failed)
	}
	o.started()
	_ = cmd.Wait()
	began := time.Now()
	o.drain()
	if n := out.Len(); n != 60000 {
		t.Errorf("%d of 60000 bytes were read", n)
	}
	if took := time.Since(began); took > time.Minute {
		t.Error("it took", took)
	}
	if pid := strings.TrimSpace(err.String()); exec.Command("kill", pid).Run() != nil {
		t.Errorf("the program %q did not outlive it", pid)
	}
}
