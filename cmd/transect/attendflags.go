package main

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"transect/client/fault"
	"transect/runtime"
)

// The variables of flags that only run has.
var attendVariables = map[string]string{
	"lock": "TRANSECT_LOCK", "lock-policy": "TRANSECT_LOCK_POLICY", "log-file": "TRANSECT_LOG_FILE", "log-size": "TRANSECT_LOG_SIZE",
	"log-keep": "TRANSECT_LOG_KEEP", "on-failure": "TRANSECT_ON_FAILURE", "ping": "TRANSECT_PING", "report": "TRANSECT_REPORT",
	"metrics": "TRANSECT_METRICS", "grace": "TRANSECT_GRACE",
}

// attendFlags adds the flags for runs that nobody watches.
func attendFlags(flags *pflag.FlagSet, job *runtime.Job) {
	t := &job.Attend
	t.LogSize, t.LogKeep = 10<<20, 5
	flags.Var(text{&t.Lock, "NAME"}, "lock", "run only one at a time; runs of the same NAME exclude each other, the script's path when left out; write --lock=NAME [$TRANSECT_LOCK]")
	flags.Lookup("lock").NoOptDefVal = runtime.LockOfScript
	flags.Var((*lockPolicy)(&t.LockWait), "lock-policy", "when another run holds the lock: skip (exit code 6) or wait=DURATION [$TRANSECT_LOCK_POLICY]")
	flags.Var(text{&t.LogFile, "FILE"}, "log-file", "append what the run prints to FILE, each line with its time [$TRANSECT_LOG_FILE]")
	flags.Var((*byteSize)(&t.LogSize), "log-size", "set the log file aside when it grows beyond SIZE [$TRANSECT_LOG_SIZE]")
	flags.Var((*howMany)(&t.LogKeep), "log-keep", "keep N log files that were set aside: FILE.1, FILE.2 … [$TRANSECT_LOG_KEEP]")
	flags.Var((*failureAction)(&t.OnFailure), "on-failure", "when the run fails: run the command CMD, its input the last lines; or post them to the URL, https: or mailto: (over $TRANSECT_SMTP) [$TRANSECT_ON_FAILURE]")
	flags.Var((*monitor)(&t.Ping), "ping", "tell the monitor at URL: URL/start, then URL or URL/fail with exit code and last lines [$TRANSECT_PING]")
	flags.Var(text{&t.Report, "FILE"}, "report", "write a JSON report of the run to FILE [$TRANSECT_REPORT]")
	flags.Var(text{&t.Metrics, "FILE"}, "metrics", "write metrics for Prometheus to FILE [$TRANSECT_METRICS]")
	flags.DurationVar(&job.Grace, "grace", 0, "on SIGTERM finish the items in hand, for at most `DURATION` [$TRANSECT_GRACE]")
}

// completeAttendance gives a job what the environment says and its flags do not.
func (a *app) completeAttendance(flags *pflag.FlagSet, job *runtime.Job) error {
	for name, variable := range attendVariables {
		flag := flags.Lookup(name)
		value, _ := a.world.Env(variable)
		if flag.Changed || value == "" {
			continue
		}
		if err := flag.Value.Set(value); err != nil {
			return fault.Of(&fault.ConfigError{}, "%s is %q: %w", variable, value, err)
		}
	}
	if job.Grace < 0 {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "the time to finish in is negative: %s", job.Grace), "leave --grace out for none")
	}
	if job.Attend.LockWait > 0 && job.Attend.Lock == "" {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "--lock-policy without --lock"), "add --lock")
	}
	// In a run, quiet means nothing at all unless it fails: then all is shown,
	// so all of it must be there.
	job.Attend.Hold, job.Output.Quiet = job.Output.Quiet, false
	return nil
}

// lockPolicy is skip, or how long to wait for a lock.
type lockPolicy time.Duration

func (p *lockPolicy) Set(value string) error {
	if value == "skip" {
		*p = 0
		return nil
	}
	if length, ok := strings.CutPrefix(value, "wait="); ok {
		if d, err := time.ParseDuration(length); err == nil && d > 0 {
			*p = lockPolicy(d)
			return nil
		}
	}
	return errors.New("write skip, or wait=DURATION such as wait=10m")
}

func (p *lockPolicy) String() string {
	if *p == 0 {
		return "skip"
	}
	return "wait=" + time.Duration(*p).String()
}

func (p *lockPolicy) Type() string { return "POLICY" }

// howMany is a small number of things to keep.
type howMany int

func (n *howMany) Set(value string) error {
	count, err := strconv.Atoi(value)
	if err != nil || count < 0 || count > 1000 {
		return errors.New("write a number from 0 to 1000")
	}
	*n = howMany(count)
	return nil
}

func (n *howMany) String() string { return strconv.Itoa(int(*n)) }
func (n *howMany) Type() string   { return "N" }

// monitor is the address of a monitor. Errors do not repeat it: it is a secret.
type monitor string

func (m *monitor) Set(value string) error {
	if !isWebAddress(value) {
		return errors.New("write the address of the check, such as https://hc-ping.com/…")
	}
	*m = monitor(value)
	return nil
}

func (m *monitor) String() string { return string(*m) }
func (m *monitor) Type() string   { return "URL" }

// failureAction is a command, or an address.
type failureAction string

func (f *failureAction) Set(value string) error {
	if strings.TrimSpace(value) == "" {
		return errors.New("write a command, or an address that begins with https: or mailto:")
	}
	if scheme, _, _ := strings.Cut(value, "://"); (scheme == "http" || scheme == "https") && !isWebAddress(value) {
		return errors.New("it is no address of the web")
	}
	*f = failureAction(value)
	return nil
}

func (f *failureAction) String() string { return string(*f) }
func (f *failureAction) Type() string   { return "CMD|URL" }

func isWebAddress(value string) bool {
	u, err := url.Parse(value)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
