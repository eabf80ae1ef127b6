package runtime

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"time"

	"transect/runtime/vm"
)

// Again waits, in the process of a job that has ended well, for another job of the
// same script, and sets its command line. It returns false when nothing may follow:
// without a worker that asks, or when the job has left something behind in the
// process.
func (p *Process) Again() bool {
	job := p.link
	if job == nil || job.Mark == "" || len(p.Signals) > 0 || !p.before.restored() {
		return false
	}
	for _, out := range []io.Writer{p.Stdout, p.Stderr} {
		fmt.Fprintln(out, job.Mark) // the worker is gone where this fails
	}
	if p.link = job.Next(p.Signals); p.link == nil {
		p.Exit(ExitTerminated)
		return false
	}
	p.Args = p.link.Args
	return true
}

// mostKept is how much memory a process may hold to run another job, in bytes.
const mostKept = 256 << 20

// traces are what a job may leave behind in its process, beside what ends with its
// interpreter.
type traces struct {
	goroutines, files int
	folder            string
	env               []string
}

func tracesNow() traces {
	folder, _ := os.Getwd() // it may be gone
	t := traces{runtime.NumGoroutine(), openFiles(), folder, os.Environ()}
	slices.Sort(t.env)
	return t
}

// restored reports whether the process is as it was, and no program was started.
func (before traces) restored() bool {
	held := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	metrics.Read(held)
	if startedPrograms() || !vm.Untouched() || held[0].Value.Uint64() > mostKept {
		return false
	}
	for range 20 { // what ends with the job may still be about to
		now := tracesNow()
		if now.goroutines == before.goroutines {
			return now.files == before.files && now.files >= 0 && now.folder == before.folder && slices.Equal(now.env, before.env)
		}
		time.Sleep(time.Millisecond)
	}
	return false
}
