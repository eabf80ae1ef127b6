package runtime

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"transect/client/fault"
	"transect/runtime/unattended/history"
	"transect/runtime/unattended/logfile"
	"transect/runtime/unattended/report"
	"transect/runtime/vm"
	"transect/stdlib/lock"
)

// Attendance is what is done around a run that nobody watches.
type Attendance struct {
	Lock     string        // name of the lock to hold; "" for none, LockOfScript for the script's own
	LockWait time.Duration // how long to wait for it

	LogFile   string // gets what the run prints; "" for none
	LogSize   int64  // bytes from which it is set aside
	LogKeep   int    // how many of those are kept
	Hold      bool   // print nothing unless the run fails
	OnFailure string // command or address, when it fails
	Ping      string // address of a monitor
	Report    string // file of the JSON report
	Metrics   string // file of the metrics
	Forget    bool   // leave the run out of the history
}

// LockOfScript stands for the lock named after the script's path.
const LockOfScript = "auto"

const (
	mostHeld  = 4 << 20
	tailLines = 50
	tailBytes = 10_000
)

// Attended runs a job with all that is around it: lock, log, monitor, report,
// history. It has told what went wrong when it returns; the error is for the
// exit code.
func Attended(ctx context.Context, w *World, job Job) error {
	if err := vm.CheckStateDir(w.Env); err != nil {
		return err
	}
	a := &attended{world: w, job: &job, set: job.Attend, secrets: secretsOf(w, &job), tail: &logfile.Tail{Most: tailLines, Bytes: tailBytes}}
	if err := a.open(); err != nil {
		return err
	}
	inner := *w
	inner.Exit = func(code int) { // a second signal: no time for anybody but the record
		a.end(nil, &Interrupted{Signal: os.Interrupt}, code)
		w.Exit(code)
	}
	if a.set.Hold {
		a.held = &logfile.Held{Most: mostHeld}
		inner.Stdout, inner.Stderr = a.held.Stream(0), a.held.Stream(1)
	}
	job.outCopy, job.errCopy = a.lines.Stream(), a.lines.Stream()
	job.before, job.after = a.begin, a.count
	err := Run(ctx, &inner, job)
	late, release := w.Stoppable(context.WithoutCancel(ctx))
	defer release()
	a.end(late, err, ExitCode(err))
	if a.missing != nil {
		err = a.missing
	}
	return &Told{err}
}

// attended is a job under way and what is around it.
type attended struct {
	world   *World
	job     *Job
	set     Attendance
	secrets *secrets
	summary *report.Summary
	calls   calls

	lines   logfile.Lines
	tail    *logfile.Tail
	logFile *logfile.File
	held    *logfile.Held
	entry   *history.Entry // nil when there is no history; known when remembering is over
	lock    *lock.Lock
	begun   bool // holds the lock, if any: report, metrics and monitor are its own

	remembering sync.WaitGroup // the history takes the run up
	started     sync.WaitGroup // the monitor is told of the start
	once        sync.Once
	end_        report.End
	missing     error // report or metrics that could not be written after a success
}

// open opens the log and the history: what is wrong with the log is told
// before anything is done.
func (a *attended) open() error {
	now := a.world.Now()
	host, _ := os.Hostname() // not all systems have a name
	a.summary = &report.Summary{ID: history.NewID(now), State: report.Running, Script: a.script(), Arguments: a.secrets.arguments(a.job.Args),
		Lock: a.lockName(), Version: a.job.Version, Host: host, PID: os.Getpid(), Started: now}
	a.lines.Now, a.lines.Clean = a.world.Now, a.secrets.known
	a.lines.Plain = append(a.lines.Plain, a.tail)
	for what, path := range map[string]string{"report": a.set.Report, "metrics": a.set.Metrics} {
		if err := a.world.writable(what, path); err != nil {
			return err
		}
	}
	if a.set.LogFile != "" {
		a.logFile = &logfile.File{Path: a.world.path(a.set.LogFile), Size: a.set.LogSize, Keep: a.set.LogKeep}
		if err := a.logFile.Open(); err != nil {
			return fault.Hinted(fault.Of(&fault.ConfigError{}, "the log file %s cannot be written: %w", a.set.LogFile, fault.Reason(err)),
				"name another one with --log-file; its folder must exist")
		}
		a.lines.Stamps = append(a.lines.Stamps, a.logFile)
	}
	if !a.set.Forget && a.world.keepsRuns() {
		late := &logfile.Late{}
		a.lines.Stamps = append(a.lines.Stamps, late)
		starting := *a.summary
		a.remembering.Go(func() { a.remember(&starting, late) })
	}
	a.note("run " + a.summary.ID + " of " + a.summary.Script + " starts")
	return nil
}

// remember begins the entry of the history, while the script starts. A history
// that cannot be written is no reason not to run.
func (a *attended) remember(starting *report.Summary, log *logfile.Late) {
	entry, err := a.world.History().Begin(starting)
	if err != nil {
		if a.job.Output.Verbose {
			a.warn("the run is not kept in the history: " + fault.Reason(err).Error())
		}
		log.Open(io.Discard)
		return
	}
	a.entry = entry
	log.Open(entry.Log)
}

// script is the full path of the script.
func (a *attended) script() string {
	if a.job.Script == "-" || a.job.Script == "" {
		return a.job.Script
	}
	full, err := filepath.Abs(a.world.path(a.job.Script))
	if err != nil {
		return a.job.Script
	}
	return full
}

func (a *attended) lockName() string {
	if a.set.Lock == LockOfScript {
		return a.script()
	}
	return a.set.Lock
}

// note writes a line of this program's own into the logs.
func (a *attended) note(text string) {
	s := a.lines.Stream()
	_, _ = s.Write([]byte("transect: " + text + "\n")) // never fails
}

// warn tells of what does not stop the run, in the logs and on the screen.
func (a *attended) warn(text string) {
	a.note(text)
	text = "transect: " + a.secrets.all(text) + "\n"
	if a.held != nil {
		_, _ = a.held.Stream(1).Write([]byte(text))
		return
	}
	_, _ = a.world.Stderr.Write([]byte(text))
}

// Told is the error of a run that people have been told about already.
type Told struct{ Err error }

func (t *Told) Error() string {
	if t.Err == nil {
		return "success"
	}
	return t.Err.Error()
}

// Unwrap leads to the error, for the exit code.
func (t *Told) Unwrap() error { return t.Err }

// writable says whether a file can be put into its folder.
func (w *World) writable(what, path string) error {
	if path == "" {
		return nil
	}
	wrong := func(err error) error {
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "the %s file %s cannot be written: %w", what, path, fault.Reason(err)),
			"name another one with --%s; its folder must exist", what)
	}
	full := w.path(path)
	if info, err := os.Stat(full); err == nil && info.IsDir() {
		return wrong(errors.New("it is a folder"))
	}
	probe, err := os.CreateTemp(filepath.Dir(full), ".transect-*")
	if err != nil {
		return wrong(err)
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	return nil
}

// History is the history of runs.
func (w *World) History() history.Store { return history.In(w.StateDir()) }

// keep is how many runs the history keeps, and for how long.
func (w *World) keep() (runs int, age time.Duration, err error) {
	return readKeep(cmp.Or(w.lookup("TRANSECT_HISTORY"), "500,90d"))
}

func (w *World) keepsRuns() bool {
	runs, _, err := w.keep()
	return err == nil && runs > 0
}
