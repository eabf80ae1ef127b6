package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/client/calendar"
	"transect/client/fault"
	"transect/runtime"
	"transect/runtime/jobs/setting"
	"transect/runtime/planrun"
	"transect/runtime/runledger"
	"transect/runtime/sandbox"
	"transect/runtime/unattended"
	"transect/runtime/vm"
)

// where is a set of commands and places that an option belongs to.
type where uint16

const (
	onCall   where = 1 << iota // commands that use the platform
	onLua                      // commands that run Lua
	onRun                      // transect run, cron add and the everyday commands
	onJob                      // submit and schedule
	travels                    // a job carries it to its worker, as --name=value
	shown                      // in the help of everyday commands
	secret                     // the value may be one
	byItself                   // transect run only
	inPlan                     // kept in a plan: has no effect beyond the run, on any machine
	looking                    // it plans, or names the run: not an option of transect apply

	// An option of a job is accepted by submit and schedule, and travels with it.
	ofJob = onJob | travels
)

// runOptions declares the options of a run, each once. The flags of commands with their variables, help and
// completion, what a job carries, what schedule import takes over and what transect config shows derive from
// it. Settings of jobs are in package setting.
func (a *app) runOptions(job *runtime.Job, o *unattended.Options) []option {
	t, rules := &job.Transfers, &job.Sandbox.Rules
	rules.Allow, rules.Deny = sandbox.List{}, sandbox.List{}
	rule := func(list sandbox.List) func(string) error {
		return func(text string) error { return list.Parse(text, a.process.AbsPath) }
	}
	o.LogSize, o.LogKeep = 10<<20, 5
	return append(connectionOptions(&job.Connection), []option{
		{name: "connections", env: "TRANSECT_CONNECTIONS", kind: "N", where: onCall | ofJob | inPlan,
			parse: t.ParseConnections,
			doc:   "transfer files over N connections instead of the number that measures best"},
		{name: "bwlimit", env: "TRANSECT_BWLIMIT", kind: "LIMIT", where: onCall | ofJob | shown | inPlan,
			parse: t.ParseBandwidth,
			doc: "bytes per second, uploads and downloads together: 512k, 10M (k, M, G are 1024, 1024², 1024³), off, " +
				"or by local time: \"08:00,512k 19:00,10M 23:00,off\""},
		{name: "rate", env: "TRANSECT_RATE", kind: "N", where: onCall | ofJob | inPlan, parse: t.ParseRate,
			doc: "at most N requests per second, such as 5 or 0.5"},
		{name: "stall-timeout", env: "TRANSECT_STALL_TIMEOUT", kind: "DURATION", where: onCall | ofJob | inPlan,
			parse: t.ParseStall,
			doc:   "reconnect a transfer that made no progress for this long (default 60s)"},
		{name: "max-outage", env: "TRANSECT_MAX_OUTAGE", kind: "DURATION", where: onCall | ofJob | inPlan,
			parse: t.ParseMaxOutage,
			doc:   "keep trying for this long while the network or the platform is away, such as 8h for the night (default 5m)"},
		{name: "timeout", env: "TRANSECT_TIMEOUT", kind: "duration", where: onCall | shown | inPlan,
			parse: toDuration(&job.Timeout),
			doc:   "limit `DURATION` of the whole run, such as 90s or 2h"},
		{name: "dry-run", short: "n", kind: "bool", where: onCall | ofJob | shown | looking, parse: toBool(&job.DryRun),
			doc: "print what would be written to the platform instead of sending it"},
		{name: "plan", kind: "bool", where: onRun | shown | looking, parse: toBool(&o.Planning.Ask),
			doc: "print what would be written to the platform, ask, and then do exactly that"},
		{name: "apply", kind: "SHA256:FILE", where: onRun | ofJob | looking, parse: toAgreed(&o.Planning.Apply), hidden: true,
			doc: "carry out the plan in FILE, which has been approved"},
		{name: "renew-plan", kind: "SHA256:FILE", where: onRun | looking, parse: toAgreed(&o.Planning.Renew), hidden: true,
			doc: "make the plan in FILE again"},
		{name: "allow-effects", kind: "bool", where: onRun | ofJob, parse: toBool(&o.Planning.Effects), hidden: true,
			doc: "allow the plan's side effects outside the platform"},
		{name: "trace", kind: "bool", where: onCall | ofJob, parse: toBool(&job.Trace),
			doc: "print each request and response, without secrets"},
		{name: "path", env: "TRANSECT_PATH", kind: "DIR", list: true, where: onLua | onJob | inPlan,
			doc:   "another folder for require, may be repeated",
			parse: func(dir string) error { job.Path = append(job.Path, dir); return nil }},
		{name: "max-memory", env: "TRANSECT_MAX_MEMORY", kind: "SIZE", where: onLua | ofJob | inPlan,
			parse: toSize(&job.Limits.Memory),
			doc:   "stop the script when it uses more memory, such as 512MiB"},
		{name: "max-instructions", env: "TRANSECT_MAX_INSTRUCTIONS", kind: "N", where: onLua | ofJob | inPlan,
			doc: "stop the script after N instructions, such as 1e9", parse: toInstructions(&job.Limits.Instructions)},
		{name: "strict", env: "TRANSECT_STRICT", kind: "bool", where: onLua | ofJob | inPlan, parse: toBool(&job.Strict),
			doc: "fail where a value is probably not the intended one"},
		{name: "allow", kind: "KIND=WHAT", where: onLua | ofJob | inPlan, parse: rule(rules.Allow),
			doc: "allow the script only WHAT of a kind: read=DIR, write=DIR, net=HOST[:PORT], env=NAME, run=sh, " +
				"ops=datasets.*; several with commas, may be repeated"},
		{name: "deny", kind: "KIND=WHAT", where: onLua | ofJob | inPlan, doc: "deny the script WHAT, whatever is allowed",
			parse: rule(rules.Deny)},
		{name: "sandbox", kind: "bool", where: onLua | ofJob | inPlan, parse: toBool(&rules.Sandbox),
			doc: "deny the script everything that is not allowed"},
		{name: "budget", kind: "creates=N,deletes=0,bytes=SIZE", where: onLua | ofJob | shown | inPlan,
			doc:   "limit the whole run",
			parse: rules.Budget.Parse},
		{name: "run", kind: "ID", where: onRun | looking, parse: toRunID(job),
			doc: "name the run, to start it again: writes that an earlier start of it made are not repeated"},
		{name: "settle", env: "TRANSECT_SETTLE", kind: "duration", where: onRun | ofJob | inPlan,
			parse: toSettle(job),
			doc:   "wait this long after a write whose answer was lost before it counts as not done (default 30s)"},
		{name: "job", kind: "NAME", where: onRun, doc: "record the run as one of the cron job NAME",
			parse: toString(&o.Job)},
		{name: "asked-by", env: "TRANSECT_ASKED_BY", kind: "NAME", where: onRun, parse: toString(&o.AskedBy), hidden: true,
			doc: "record the program NAME as the one that started the run"},
		{name: "lock", env: "TRANSECT_LOCK", kind: "NAME", empty: unattended.LockOfScript, where: onRun,
			parse: toString(&o.Lock),
			doc: "run only one at a time of all runs with the same NAME, which is the script's " +
				"path when left out; write --lock=NAME"},
		{name: "lock-policy", env: "TRANSECT_LOCK_POLICY", kind: "POLICY", value: "skip", where: onRun,
			parse: toLockPolicy(&o.LockWait),
			doc:   "when another run holds the lock: skip (exit code 6) or wait=DURATION"},
		{name: "log-file", env: "TRANSECT_LOG_FILE", kind: "FILE", where: onRun | shown, parse: toString(&o.LogFile),
			doc: "append the output to FILE, each line with its time"},
		{name: "log-size", env: "TRANSECT_LOG_SIZE", kind: "SIZE", value: "10 MiB", where: onRun, parse: toSize(&o.LogSize),
			doc: "rotate the log file when it exceeds SIZE"},
		{name: "log-keep", env: "TRANSECT_LOG_KEEP", kind: "N", value: "5", where: onRun, parse: toCount(&o.LogKeep),
			doc: "keep N rotated log files: FILE.1, FILE.2 …"},
		{name: "on-failure", env: "TRANSECT_ON_FAILURE", kind: "CMD|URL", where: onRun | secret,
			parse: checked(&o.OnFailure, setting.CheckAction),
			doc: "when the run fails: run the command CMD with the last lines as input, or send them to the URL, " +
				"https: or mailto: (with $TRANSECT_SMTP)"},
		{name: "ping", env: "TRANSECT_PING", kind: "URL", where: onRun | secret,
			parse: checked(&o.Ping, setting.CheckMonitor),
			doc: "notify the monitor at URL: URL/start, then URL or URL/EXITCODE, with the last lines of output and the run " +
				"as ?rid="},
		{name: "report", env: "TRANSECT_REPORT", kind: "FILE", where: onRun | ofJob, parse: toString(&o.Report),
			doc: "write a JSON report of the run to FILE"},
		{name: "debug-on-error", kind: "bool", where: onRun | ofJob, parse: toBool(&o.DebugOnError),
			doc: "record the local variables, without secrets, where the error arose: in the report and transect runs show"},
		{name: "metrics", env: "TRANSECT_METRICS", kind: "FILE", where: onRun | ofJob, parse: toString(&o.Metrics),
			doc: "write metrics for Prometheus to FILE"},
		{name: "grace", env: "TRANSECT_GRACE", kind: "duration", where: onRun | ofJob, parse: toDuration(&job.Grace),
			doc: "on SIGTERM finish the items in hand, for at most `DURATION`"},
		{name: "cpu-profile", kind: "FILE", where: byItself, parse: toString(&job.Profile.CPU),
			doc: "measure where the time goes, line by line, and write it to FILE for go tool pprof"},
		{name: "timeline", kind: "FILE", where: byItself, parse: toString(&job.Profile.Timeline),
			doc: "measure where the time goes and write it to FILE as a page: lines, operations, calls, tasks and requests"},
		{name: "no-manifest", kind: "bool", where: byItself | ofJob, parse: toBool(&job.Sandbox.NoManifest),
			doc: "ignore the script's manifest, the file *.allow.json next to it"},
		{name: "learn", kind: "bool", where: byItself, parse: toBool(&job.Sandbox.Learn),
			doc: "write the manifest from what the script accesses in this run"},
	}...)
}

// platformOptions name a platform without a login. A plan keeps them; a profile is resolved for the user who
// applies it.
var platformOptions = []string{"local", "url", "profile"}

// connectionOptions returns the options of a connection, which package runtime declares because configuration
// files have them too.
func connectionOptions(c *runtime.Connection) (list []option) {
	for _, declared := range c.Options() {
		o := option{name: declared.Flag, env: declared.Env, kind: declared.Value, doc: declared.Doc, where: onCall | ofJob,
			resolved: true}
		if slices.Contains([]string{"local", "url", "user", "config", "profile"}, o.name) {
			o.where |= shown
		}
		if slices.Contains(platformOptions, o.name) || o.name == "revision" {
			o.where |= inPlan
		}
		switch {
		case o.name == "":
			continue
		case declared.On != nil:
			o.kind, o.parse = "bool", toBool(declared.On)
		default:
			o.parse = toString(declared.Text)
		}
		list = append(list, o)
	}
	return list
}

// addRunOptions adds the run options that belong to any of the places.
func (a *app) addRunOptions(flags *pflag.FlagSet, job *runtime.Job, o *unattended.Options, places where) {
	flags.SortFlags = false
	for _, option := range a.runOptions(job, o) {
		if option.where&places != 0 && flags.Lookup(option.name) == nil {
			addOptions(flags, option)
		}
	}
}

// callFlags adds the flags of commands that use the platform.
func (a *app) callFlags(flags *pflag.FlagSet, job *runtime.Job) {
	a.addRunOptions(flags, job, &unattended.Options{}, onCall)
}

// optionsOf visits the options of a command.
func optionsOf(flags *pflag.FlagSet, visit func(*pflag.Flag, *optionValue)) {
	flags.VisitAll(func(f *pflag.Flag) {
		if v, ok := f.Value.(*optionValue); ok {
			visit(f, v)
		}
	})
}

// carried returns the given flags that a job carries to its worker, as --name=value.
func carried(flags *pflag.FlagSet) []string { return given(flags, travels) }

// given returns the given flags that belong to any of the places, as --name=value.
func given(flags *pflag.FlagSet, places where) (given []string) {
	optionsOf(flags, func(f *pflag.Flag, v *optionValue) {
		if f.Changed && v.where&places != 0 {
			for _, text := range v.given {
				given = append(given, "--"+v.name+"="+text)
			}
		}
	})
	return given
}

// carriedVariables names the variables of options that a job carries to its worker.
func carriedVariables(flags *pflag.FlagSet) (names []string) {
	optionsOf(flags, func(_ *pflag.Flag, v *optionValue) {
		if v.env != "" && v.where&travels != 0 {
			names = append(names, v.env)
		}
	})
	return names
}

// toSettle sets how long a lost request may still arrive.
func toSettle(job *runtime.Job) func(string) error {
	return func(text string) error {
		d, err := calendar.Duration(text)
		if err == nil {
			*job = runtime.Without[runledger.Settle](*job).With(runledger.Settle(d))
		}
		return err
	}
}

// toRunID names the run.
func toRunID(job *runtime.Job) func(string) error {
	return func(text string) error {
		job.Run = runtime.RunID{ID: text, Known: true}
		return runtime.CheckRunID(text)
	}
}

// complete fills a job with the settings of the environment and the global flags.
func (a *app) complete(flags *pflag.FlagSet, job *runtime.Job) error {
	job.Output, job.Version = a.output, version()
	if a.output.Quiet && a.output.Verbose {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "--quiet and --verbose are mutually exclusive"), "give one of them")
	}
	if err := a.applyEnvironment(flags); err != nil {
		return err
	}
	if job.DryRun {
		*job = job.With(planrun.DryRun())
	}
	if job.Limits.Memory > 0 {
		vm.BoundMemory(job.Limits.Memory)
	}
	return nil
}

// completeUnattended checks the settings of an unattended run.
func completeUnattended(job *runtime.Job, o *unattended.Options) error {
	if o.LockWait > 0 && o.Lock == "" {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "--lock-policy without --lock"), "add --lock")
	}
	// A quiet run prints nothing unless it fails; then it prints everything.
	o.Buffer, job.Output.Quiet = job.Output.Quiet, false
	return nil
}

// exclusiveManifest declares which manifest flags cannot be combined.
func exclusiveManifest(cmd *cobra.Command) {
	cmd.MarkFlagsMutuallyExclusive("learn", "sandbox")
	cmd.MarkFlagsMutuallyExclusive("learn", "no-manifest")
}
