package cli

import (
	"fmt"
	"os"
	"os/user"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/client/duration"
	"transect/client/fault"
	"transect/runtime"
	"transect/runtime/jobs/setting"
	"transect/runtime/planrun"
	"transect/runtime/runledger"
	"transect/runtime/sandbox"
	"transect/runtime/unattended"
	"transect/runtime/vm"
)

// Where is a set of commands and places that an option belongs to.
type Where uint16

const (
	OnCall   Where = 1 << iota // commands that use the platform
	OnLua                      // commands that run Lua
	OnRun                      // transect run, cron add and the everyday commands
	OnJob                      // submit and schedule
	Travels                    // a job carries it to its worker, as --name=value
	Shown                      // in the help of everyday commands
	Secret                     // the value may be one
	ByItself                   // transect run only
	InPlan                     // kept in a plan: has no effect beyond the run, on any machine
	Looking                    // it plans, or names the run: not an option of transect apply

	// An option of a job is accepted by submit and schedule, and travels with it.
	OfJob = OnJob | Travels
)

// runOptions declares the options of a run, each once. The flags of commands with their variables, help and
// completion, what a job carries, what schedule import takes over and what transect config shows derive from
// it. Settings of jobs are in package setting.
func (a *App) runOptions(job *runtime.Job, o *unattended.Options) (list []Option) {
	t, rules := &job.Transfers, &job.Sandbox.Rules
	rules.Allow, rules.Deny = sandbox.List{}, sandbox.List{}
	rule := func(list sandbox.List) func(string) error {
		return func(text string) error { return list.Parse(text, a.Process.AbsPath) }
	}
	o.LogSize, o.LogKeep = 10<<20, 5
	list = append(connectionOptions(&job.Connection), []Option{
		{Name: "connections", Env: "TRANSECT_CONNECTIONS", Kind: "N", Where: OnCall | OfJob | InPlan,
			Parse: t.ParseConnections,
			Doc:   "transfer files over N connections instead of the number that measures best"},
		{Name: "bwlimit", Env: "TRANSECT_BWLIMIT", Kind: "LIMIT", Where: OnCall | OfJob | Shown | InPlan,
			Parse: t.ParseBandwidth,
			Doc: "bytes per second, uploads and downloads together: 512k, 10M (k, M, G are 1024, 1024², 1024³), off, " +
				"or by local time: \"08:00,512k 19:00,10M 23:00,off\""},
		{Name: "rate", Env: "TRANSECT_RATE", Kind: "N", Where: OnCall | OfJob | InPlan, Parse: t.ParseRate,
			Doc: "at most N requests per second, such as 5 or 0.5"},
		{Name: "stall-timeout", Env: "TRANSECT_STALL_TIMEOUT", Kind: "DURATION", Where: OnCall | OfJob | InPlan,
			Parse: t.ParseStall,
			Doc:   "reconnect a transfer that made no progress for this long (default 60s)"},
		{Name: "max-outage", Env: "TRANSECT_MAX_OUTAGE", Kind: "DURATION", Where: OnCall | OfJob | InPlan,
			Parse: t.ParseMaxOutage,
			Doc:   "keep trying for this long while the network or the platform is away, such as 8h for the night (default 5m)"},
		{Name: "timeout", Env: "TRANSECT_TIMEOUT", Kind: "duration", Where: OnCall | Shown | InPlan,
			Parse: ToDuration(&job.Timeout),
			Doc:   "limit `DURATION` of the whole run, such as 90s or 2h"},
		{Name: "dry-run", Short: "n", Kind: "bool", Where: OnCall | OfJob | Shown | Looking, Parse: toBool(&job.DryRun),
			Doc: "print what would be written to the platform instead of sending it"},
		{Name: "plan", Kind: "bool", Where: OnRun | Shown | Looking, Parse: toBool(&o.Planning.Ask),
			Doc: "print what would be written to the platform, ask, and then do exactly that"},
		{Name: "apply", Kind: "SHA256:FILE", Where: OnRun | OfJob | Looking, Parse: toAgreed(&o.Planning.Apply), Hidden: true,
			Doc: "carry out the plan in FILE, which has been approved"},
		{Name: "renew-plan", Kind: "SHA256:FILE", Where: OnRun | Looking, Parse: toAgreed(&o.Planning.Renew), Hidden: true,
			Doc: "make the plan in FILE again"},
		{Name: "allow-effects", Kind: "bool", Where: OnRun | OfJob, Parse: toBool(&o.Planning.Effects), Hidden: true,
			Doc: "allow the plan's side effects outside the platform"},
		{Name: "trace", Kind: "bool", Where: OnCall | OfJob, Parse: toBool(&job.Trace),
			Doc: "print each request and response, without secrets"},
		{Name: "path", Env: "TRANSECT_PATH", Kind: "DIR", List: true, Where: OnLua | OnJob | InPlan,
			Doc:   "another folder for require, may be repeated",
			Parse: func(dir string) error { job.Path = append(job.Path, dir); return nil }},
		{Name: "max-memory", Env: "TRANSECT_MAX_MEMORY", Kind: "SIZE", Where: OnLua | OfJob | InPlan,
			Parse: toSize(&job.Limits.Memory),
			Doc:   "stop the script when it uses more memory, such as 512MiB"},
		{Name: "max-instructions", Env: "TRANSECT_MAX_INSTRUCTIONS", Kind: "N", Where: OnLua | OfJob | InPlan,
			Doc: "stop the script after N instructions, such as 1e9", Parse: toInstructions(&job.Limits.Instructions)},
		{Name: "strict", Env: "TRANSECT_STRICT", Kind: "bool", Where: OnLua | OfJob | InPlan, Parse: toBool(&job.Strict),
			Doc: "fail where a value is probably not the intended one"},
		{Name: "allow", Kind: "KIND=WHAT", Where: OnLua | OfJob | InPlan, Parse: rule(rules.Allow),
			Doc: "allow the script only WHAT of a kind: read=DIR, write=DIR, net=HOST[:PORT], env=NAME, run=sh, " +
				"ops=datasets.*; several with commas, may be repeated"},
		{Name: "deny", Kind: "KIND=WHAT", Where: OnLua | OfJob | InPlan, Doc: "deny the script WHAT, whatever is allowed",
			Parse: rule(rules.Deny)},
		{Name: "sandbox", Kind: "bool", Where: OnLua | OfJob | InPlan, Parse: toBool(&rules.Sandbox),
			Doc: "deny the script everything that is not allowed"},
		{Name: "budget", Kind: "creates=N,deletes=0,bytes=SIZE", Where: OnLua | OfJob | Shown | InPlan,
			Doc:   "limit the whole run",
			Parse: rules.Budget.Parse},
		{Name: "run", Kind: "ID", Where: OnRun | Looking, Parse: toRunID(job),
			Doc: "name the run, to start it again: writes that an earlier start of it made are not repeated"},
		{Name: "settle", Env: "TRANSECT_SETTLE", Kind: "duration", Where: OnRun | OfJob | InPlan,
			Parse: toSettle(job),
			Doc:   "wait this long after a write whose answer was lost before it counts as not done (default 30s)"},
		{Name: "job", Kind: "NAME", Where: OnRun, Doc: "record the run as one of the cron job NAME",
			Parse: ToString(&o.Job)},
		{Name: "asked-by", Env: "TRANSECT_ASKED_BY", Kind: "NAME", Where: OnRun, Parse: ToString(&o.AskedBy), Hidden: true,
			Doc: "record the program NAME as the one that started the run"},
		{Name: "lock", Env: "TRANSECT_LOCK", Kind: "NAME", Empty: unattended.LockOfScript, Where: OnRun,
			Parse: ToString(&o.Lock),
			Doc: "run only one at a time of all runs with the same NAME, which is the script's " +
				"path when left out; write --lock=NAME"},
		{Name: "lock-policy", Env: "TRANSECT_LOCK_POLICY", Kind: "POLICY", Value: "skip", Where: OnRun,
			Parse: toLockPolicy(&o.LockWait),
			Doc:   "when another run holds the lock: skip (exit code 6) or wait=DURATION"},
		{Name: "log-file", Env: "TRANSECT_LOG_FILE", Kind: "FILE", Where: OnRun | Shown, Parse: ToString(&o.LogFile),
			Doc: "append the output to FILE, each line with its time"},
		{Name: "log-size", Env: "TRANSECT_LOG_SIZE", Kind: "SIZE", Value: "10 MiB", Where: OnRun, Parse: toSize(&o.LogSize),
			Doc: "rotate the log file when it exceeds SIZE"},
		{Name: "log-keep", Env: "TRANSECT_LOG_KEEP", Kind: "N", Value: "5", Where: OnRun, Parse: ToCount(&o.LogKeep),
			Doc: "keep N rotated log files: FILE.1, FILE.2 …"},
		{Name: "on-failure", Env: "TRANSECT_ON_FAILURE", Kind: "CMD|URL", Where: OnRun | Secret,
			Parse: checked(&o.OnFailure, setting.CheckAction),
			Doc: "when the run fails: run the command CMD with the last lines as input, or send them to the URL, " +
				"https: or mailto: (with $TRANSECT_SMTP)"},
		{Name: "ping", Env: "TRANSECT_PING", Kind: "URL", Where: OnRun | Secret,
			Parse: checked(&o.Ping, setting.CheckMonitor),
			Doc: "notify the monitor at URL: URL/start, then URL or URL/EXITCODE, with the last lines of output and the run " +
				"as ?rid="},
		{Name: "report", Env: "TRANSECT_REPORT", Kind: "FILE", Where: OnRun | OfJob, Parse: ToString(&o.Report),
			Doc: "write a JSON report of the run to FILE"},
		{Name: "debug-on-error", Kind: "bool", Where: OnRun | OfJob, Parse: toBool(&o.DebugOnError),
			Doc: "record the local variables, without secrets, where the error arose: in the report and transect runs show"},
		{Name: "metrics", Env: "TRANSECT_METRICS", Kind: "FILE", Where: OnRun | OfJob, Parse: ToString(&o.Metrics),
			Doc: "write metrics for Prometheus to FILE"},
		{Name: "grace", Env: "TRANSECT_GRACE", Kind: "duration", Where: OnRun | OfJob, Parse: ToDuration(&job.Grace),
			Doc: "on SIGTERM finish the items in hand, for at most `DURATION`"},
		{Name: "cpu-profile", Kind: "FILE", Where: ByItself, Parse: ToString(&o.Profile.CPU),
			Doc: "measure where the time goes, line by line, and write it to FILE for go tool pprof"},
		{Name: "timeline", Kind: "FILE", Where: ByItself, Parse: ToString(&o.Profile.Timeline),
			Doc: "measure where the time goes and write it to FILE as a page: lines, operations, calls, tasks and requests"},
		{Name: "no-manifest", Kind: "bool", Where: ByItself | OfJob, Parse: toBool(&job.Sandbox.NoManifest),
			Doc: "ignore the script's manifest, the file *.allow.json next to it"},
		{Name: "learn", Kind: "bool", Where: ByItself, Parse: toBool(&job.Sandbox.Learn),
			Doc: "write the manifest from what the script accesses in this run"},
	}...)
	for part := range runtime.PartsOf[Optioner](a.parts) {
		list = append(list, part.Options(job)...)
	}
	return list
}

// platformOptions name a platform without a login. A plan keeps them; a profile is resolved for the user who
// applies it.
var platformOptions = []string{"local", "url", "profile"}

// connectionOptions returns the options of a connection, which package runtime declares because configuration
// files have them too.
func connectionOptions(c *runtime.Connection) (list []Option) {
	for _, declared := range c.Options() {
		o := Option{Name: declared.Flag, Env: declared.Env, Kind: declared.Value, Doc: declared.Doc, Where: OnCall | OfJob,
			Resolved: true}
		if slices.Contains([]string{"local", "url", "user", "config", "profile"}, o.Name) {
			o.Where |= Shown
		}
		if slices.Contains(platformOptions, o.Name) || o.Name == "revision" {
			o.Where |= InPlan
		}
		switch {
		case o.Name == "":
			continue
		case declared.On != nil:
			o.Kind, o.Parse = "bool", toBool(declared.On)
		default:
			o.Parse = ToString(declared.Text)
		}
		list = append(list, o)
	}
	return list
}

// AddRunOptions adds the run options that belong to any of the places.
func (a *App) AddRunOptions(flags *pflag.FlagSet, job *runtime.Job, o *unattended.Options, places Where) {
	flags.SortFlags = false
	for _, option := range a.runOptions(job, o) {
		if option.Where&places != 0 && flags.Lookup(option.Name) == nil {
			AddOptions(flags, option)
		}
	}
}

// CallFlags adds the flags of commands that use the platform.
func (a *App) CallFlags(flags *pflag.FlagSet, job *runtime.Job) {
	a.AddRunOptions(flags, job, &unattended.Options{}, OnCall)
}

// optionsOf visits the options of a command.
func optionsOf(flags *pflag.FlagSet, visit func(*pflag.Flag, *OptionValue)) {
	flags.VisitAll(func(f *pflag.Flag) {
		if v, ok := f.Value.(*OptionValue); ok {
			visit(f, v)
		}
	})
}

// Carried returns the given flags that a job carries to its worker, as --name=value.
func Carried(flags *pflag.FlagSet) []string { return given(flags, Travels) }

// given returns the given flags that belong to any of the places, as --name=value.
func given(flags *pflag.FlagSet, places Where) (given []string) {
	optionsOf(flags, func(f *pflag.Flag, v *OptionValue) {
		if f.Changed && v.Where&places != 0 {
			for _, text := range v.given {
				given = append(given, "--"+v.Name+"="+text)
			}
		}
	})
	return given
}

// CarriedVariables names the variables of options that a job carries to its worker.
func CarriedVariables(flags *pflag.FlagSet) (names []string) {
	optionsOf(flags, func(_ *pflag.Flag, v *OptionValue) {
		if v.Env != "" && v.Where&Travels != 0 {
			names = append(names, v.Env)
		}
	})
	return names
}

// toSettle sets how long a lost request may still arrive.
func toSettle(job *runtime.Job) func(string) error {
	return func(text string) error {
		d, err := duration.Parse(text)
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

// Complete fills a job with the settings of the environment and the global flags.
func (a *App) Complete(flags *pflag.FlagSet, job *runtime.Job) error {
	job.Output, job.Version = a.Output, Version()
	if a.Output.Quiet && a.Output.Verbose {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "--quiet and --verbose are mutually exclusive"), "give one of them")
	}
	if err := a.ApplyEnvironment(flags); err != nil {
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

// UserName names who starts a run or submits a job.
func (a *App) UserName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	if who, err := user.Current(); err == nil {
		return who.Username + "@" + host
	}
	return fmt.Sprintf("%d@%s", os.Getuid(), host)
}
