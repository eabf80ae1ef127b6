// Package unattended runs scripts from cron or a service manager: with a lock, a log file, notifications, a
// JSON report, metrics and a history of runs.
//
// cmd/transect calls Run with a job and Options. Run wraps runtime.Run: it opens the log and the history
// (open), takes the lock when the settings are valid (start), and writes report, metrics and history and
// notifies when the run has ended (finish). Output is copied to the log without its secrets.
//
// history stores summaries of runs, logfile the output, cron the crontab. Begin reading with Run.
package unattended

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"transect/client"
	"transect/client/fault"
	"transect/runtime"
	"transect/runtime/debug"
	"transect/runtime/profile"
	"transect/runtime/unattended/history"
	"transect/runtime/unattended/logfile"
	"transect/runtime/vm"
	"transect/scripts"
	"transect/stdlib"
	"transect/stdlib/lock"
	"transect/stdlib/notify"
)

// Options are the settings of an unattended run.
type Options struct {
	Job       string        // name of the cron job, for the history
	AskedBy   string        // program that requests the run, for the history
	Lock      string        // name of the lock; "" for none, LockOfScript for the script's own
	LockWait  time.Duration // how long to wait for the lock
	LogFile   string        // receives the output of the run; "" for none
	LogSize   int64         // bytes at which the log file is rotated
	LogKeep   int           // rotated files to keep
	Buffer    bool          // print nothing unless the run fails
	OnFailure string        // command or URL to notify of a failure
	Ping      string        // URL of a monitor
	Report    string        // file of the JSON report
	Metrics   string        // file of the metrics
	NoHistory bool          // the run only reads and is not recorded
	Planning  Planning
	Profile   profile.Files

	DebugOnError bool // include the variables of the functions that an error was raised in

	Unfinished string // the run that an earlier start of the same command began, when this one does not resume it
}

// LockOfScript selects the lock named after the script's path.
const LockOfScript = "auto"

const (
	maxBuffer = 4 << 20 // bytes of output
	tailLines = 50      // of output, in notifications
	tailBytes = 10_000
)

// Run runs a job with lock, log, notifications, report and history. The returned error is already reported
// and only determines the exit code.
func Run(ctx context.Context, p *runtime.Process, job runtime.Job, options Options) error {
	switch o := options.Planning; {
	case o.Only, o.Ask, o.Renew.File != "":
		return planned(ctx, p, job, options)
	case o.Apply.File != "":
		return applied(ctx, p, job, options)
	}
	if err := vm.CheckStateDir(p.Env); err != nil {
		return err
	}
	r := &run{process: p, job: &job, options: options, redact: newRedactor(p, &job, options),
		calls: calls{named: map[string]history.Calls{}},
		tail:  &logfile.Tail{Lines: tailLines, Bytes: tailBytes}}
	if err := r.open(); err != nil {
		return err
	}
	inner := *p
	inner.Exit = func(code int) { // on a second signal there is only time to write the record
		r.endAtOnce(&runtime.Interrupted{Signal: os.Interrupt}, code)
		p.Exit(code)
	}
	flush := r.forWorker(&inner)
	if r.options.Buffer {
		r.buffer = &logfile.Buffer{Max: maxBuffer}
		inner.Stdout, inner.Stderr = r.buffer.Stream(0), r.buffer.Stream(1)
	}
	if id := options.Unfinished; id != "" {
		r.warn("the run " + id + " of this command has not finished; this starts a new one. Resume the other with: " +
			"transect run --resume=" + id)
	}
	if options.DebugOnError && runtime.PartOf[*debug.Debugger](job.Parts) == nil {
		job = job.With(debug.OnError(p.AbsPath, r.keepFrames))
	}
	err := r.gated(profile.Run(ctx, &inner, job.With(r), options.Profile))
	r.count()
	flush()
	finishing, release := p.CancelOnSignal(context.WithoutCancel(ctx))
	defer release()
	r.end(finishing, err, runtime.ExitCode(err))
	if r.unwritten != nil {
		err = r.unwritten
	}
	return &runtime.Reported{Err: err}
}

// forWorker removes the secrets of a job from its output: its worker, which does not have them, stores the output for
// others. flush prints unterminated lines.
func (r *run) forWorker(p *runtime.Process) (flush func()) {
	if r.supervisor() == nil {
		return func() {}
	}
	out := &logfile.Lines{Now: p.Now, Clean: r.redact.secrets, Plain: []io.Writer{p.Stdout}}
	errs := &logfile.Lines{Now: p.Now, Clean: r.redact.secrets, Plain: []io.Writer{p.Stderr}}
	p.Stdout, p.Stderr = out.Stream(), errs.Stream()
	return func() { out.Flush(); errs.Flush() }
}

// rehearse disables monitors and the files of real runs.
func (r *run) rehearse() {
	o := &r.options
	o.Ping, o.OnFailure, o.Metrics = "", "", ""
	if o.Report == "" {
		return
	}
	var earlier history.Summary
	text, err := os.ReadFile(r.process.Path(o.Report))
	if errors.Is(err, fs.ErrNotExist) || json.Unmarshal(text, &earlier) == nil && earlier.DryRun {
		return
	}
	r.warn("the report " + o.Report + " is left as it is: this is a dry run")
	o.Report = ""
}

// run is an unattended run in progress.
type run struct {
	process *runtime.Process
	job     *runtime.Job
	x       *runtime.Execution // nil before its settings are valid
	options Options
	redact  *redactor
	summary *history.Summary
	result  history.End // counters during the run, complete at its end
	calls   calls

	lines   logfile.Lines
	tail    *logfile.Tail
	logFile *logfile.File
	buffer  *logfile.Buffer
	entry   history.Recorder // nil without a history; set once recorded
	lock    *lock.Lock
	started bool // the lock, if any, was taken

	recording sync.WaitGroup // of the run's entry in the history
	progress  *progress      // nil before the script starts
	pinging   sync.WaitGroup // the ping of the start
	ending    sync.Once
	raised    atomic.Pointer[raised]
	unwritten error // failure to write report or metrics after a success
}

// Supervisor is the part of a run that another program has started: that one records the run and resumes it.
type Supervisor interface {
	Supervise(starting *history.Summary) history.Recorder
}

// supervisor returns the supervisor of a run, nil when it has none.
func (r *run) supervisor() Supervisor { return runtime.PartOf[Supervisor](r.job.Parts) }

// open opens the log and the history first, so that an unwritable log is reported before anything else
// happens.
func (r *run) open() error {
	p, now := r.process, r.process.Now()
	host, _ := os.Hostname() // not all systems have a name
	r.summary = &history.Summary{ID: history.NewID(now), State: history.Running, DryRun: r.job.DryRun,
		Script: r.script(), Arguments: r.redact.arguments(r.job.Args),
		Version: r.job.Version, Host: host, PID: os.Getpid(), Started: now}
	r.summary.Job, r.summary.Lock, r.summary.AskedBy = r.options.Job, r.options.Lock, r.options.AskedBy
	if g := r.gate(); g != nil {
		r.summary.Plan, r.summary.AgreedBy = g.Plan.Sum, r.options.Planning.By
	}
	if r.job.Run.ID == "" {
		r.job.Run.ID = r.summary.ID
	}
	if r.summary.Run = r.job.Run.ID; r.summary.Run == r.summary.ID {
		r.summary.Run = ""
	}
	r.summary.Command = r.redact.secrets(runtime.CommandLine(p, r.job))
	r.summary.Folder, _ = filepath.Abs(p.Path(".")) // "" where the folder was removed
	r.summary.Platform = PlatformName(p, r.job.Connection)
	if r.options.Lock == LockOfScript {
		r.summary.Lock = r.summary.Script
	}
	r.lines.Now, r.lines.Clean = p.Now, r.redact.secrets
	r.lines.Plain = append(r.lines.Plain, r.tail)
	if r.job.DryRun {
		r.rehearse()
	}
	for flag, path := range map[string]string{"report": r.options.Report, "metrics": r.options.Metrics,
		"cpu-profile": r.options.Profile.CPU, "timeline": r.options.Profile.Timeline} {
		if err := CheckWritable(p, flag, path); err != nil {
			return err
		}
	}
	if r.options.LogFile != "" {
		r.logFile = &logfile.File{Path: p.Path(r.options.LogFile), Size: r.options.LogSize, Keep: r.options.LogKeep}
		if err := r.logFile.Open(); err != nil {
			return notWritable("log", "log-file", r.options.LogFile, err)
		}
		r.lines.Stamped = append(r.lines.Stamped, r.logFile)
	}
	if s := r.supervisor(); s != nil {
		starting := *r.summary
		r.entry = s.Supervise(&starting)
	} else if runs, _ := retention(p); runs > 0 && !r.options.NoHistory {
		log := &logfile.Deferred{}
		r.lines.Stamped = append(r.lines.Stamped, log)
		starting := *r.summary
		r.recording.Go(func() { r.record(&starting, log) })
	}
	r.note("run " + r.summary.ID + " of " + r.summary.Script + " starts")
	return nil
}

// record adds the run to the history while the script starts. An unwritable history does not stop the run.
func (r *run) record(starting *history.Summary, log *logfile.Deferred) {
	entry, err := History(r.process).Begin(starting)
	if err != nil {
		r.warn(fmt.Sprintf("the state folder %s cannot be written (%v): this run is not in the history; "+
			"TRANSECT_STATE_DIR names another folder",
			r.process.StateDir(), fault.Reason(err)))
		log.Open(io.Discard)
		return
	}
	r.entry = entry
	log.Open(entry.Log)
}

// script returns the absolute path of the script.
func (r *run) script() string {
	if r.job.Script == "-" || r.job.Script == "" || scripts.IsRef(r.job.Script) {
		return r.job.Script
	}
	full, err := filepath.Abs(r.process.Path(r.job.Script))
	if err != nil {
		return r.job.Script
	}
	return full
}

// note writes a line by this program to the logs.
func (r *run) note(text string) {
	_, _ = r.lines.Stream().Write([]byte("transect: " + text + "\n")) // never fails
}

// warn reports a problem that does not stop the run, in the logs and on the screen; a quiet run shows it only
// if it fails.
func (r *run) warn(text string) {
	r.announce(text, "transect: ")
}

// CheckWritable returns an error for a file that the run could not create; nil without a path.
func CheckWritable(p *runtime.Process, flag, path string) error {
	if path == "" {
		return nil
	}
	full := p.Path(path)
	if info, err := os.Stat(full); err == nil && info.IsDir() {
		return notWritable(flag, flag, path, errors.New("it is a folder"))
	}
	probe, err := os.CreateTemp(filepath.Dir(full), ".transect-*")
	if err != nil {
		return notWritable(flag, flag, path, err)
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	return nil
}

func notWritable(what, flag, path string, err error) error {
	return fault.Hinted(fault.Of(&fault.ConfigError{}, "the %s file %s cannot be written: %w", what, path,
		fault.Reason(err)),
		"name another one with --%s; its folder must exist", flag)
}

// History returns the history of this user's runs.
func History(p *runtime.Process) history.Store { return history.In(p.StateDir()) }

// retention returns the number of runs that the history keeps, and for how long, from TRANSECT_HISTORY:
// "500", "90d", "500,90d" or "off". An invalid value keeps none.
func retention(p *runtime.Process) (runs int, age time.Duration) {
	const day = 24 * time.Hour
	runs, age = 500, 90*day
	text := cmp.Or(p.Getenv("TRANSECT_HISTORY"), "500,90d")
	for part := range strings.SplitSeq(text, ",") {
		var n int
		var unit string
		if k, _ := fmt.Sscanf(strings.TrimSpace(part), "%d%s", &n, &unit); k == 0 || n < 0 || unit != "" && unit != "d" {
			return 0, 0 // off
		}
		if unit == "d" {
			age = time.Duration(n) * day
		} else {
			runs = n
		}
	}
	return runs, age
}

// Prepare copies the output.
func (r *run) Prepare(o *vm.Options) { o.OutCopy, o.ErrCopy = r.lines.Stream(), r.lines.Stream() }

// Made receives the execution, whose counters are read at the end.
func (r *run) Made(x *runtime.Execution) { r.x = x }

// Link counts the calls.
func (r *run) Link(_ string, o *client.Options) {
	o.Links = append(o.Links, client.At(client.PlaceObserve, r.calls.intercept))
}

// Begin takes the lock and announces the run.
func (r *run) Begin(ctx context.Context) (done bool, err error) { return false, r.start(ctx, r.x) }

func (r *run) start(ctx context.Context, x *runtime.Execution) error {
	if name := r.summary.Lock; name != "" {
		l, err := lock.Take(ctx, lock.Request{Folder: stdlib.LockFolder(r.process.StateDir()), Name: name,
			Script: r.summary.Script,
			Wait:   r.options.LockWait, Now: r.process.Now,
			Waiting: func(holder string) { r.note("waiting for the lock held by " + holder) }})
		if err != nil {
			return err
		}
		r.lock = l
		if l.Abandoned != nil {
			r.note("took over the lock of " + l.Abandoned.Describe(r.process.Now()) + ", which ended without releasing it")
		}
		stdlib.HoldsLock(x.Interp, name)
	}
	r.started = true
	r.progress = r.watch(x)
	if err := r.writeFiles(); err != nil {
		r.note(err.Error()) // retried at the end
	}
	if r.options.Ping != "" {
		r.pinging.Go(func() { r.ping(context.WithoutCancel(ctx), notify.Start) }) // even for a run that ends at once
	}
	return nil
}
