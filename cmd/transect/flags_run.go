package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/client/fault"
	"transect/runtime"
	"transect/runtime/sandbox"
	"transect/runtime/unattended"
	"transect/runtime/vm"
)

// callFlags adds the flags of commands that use the platform.
func callFlags(flags *pflag.FlagSet, job *runtime.Job) {
	flags.SortFlags = false
	for _, o := range job.Connection.Options() {
		v := &optionValue{option: option{name: o.Flag, env: o.Env, kind: o.Value, doc: o.Doc}, resolved: true}
		switch {
		case o.Flag == "":
			continue
		case o.On != nil:
			v.kind, v.empty, v.parse = "bool", "true", toBool(o.On)
		default:
			v.parse = toString(o.Text)
		}
		addOption(flags, v)
	}
	t := &job.Transfers
	addOptions(flags,
		option{name: "connections", env: "TRANSECT_CONNECTIONS", kind: "N", parse: t.ParseConnections,
			doc: "transfer files over N connections instead of the number that measures best"},
		option{name: "bwlimit", env: "TRANSECT_BWLIMIT", kind: "LIMIT", parse: t.ParseBandwidth,
			doc: "bytes per second, uploads and downloads together: 512k, 10M (k, M, G are 1024, 1024², 1024³), off, or by local time: \"08:00,512k 19:00,10M 23:00,off\""},
		option{name: "rate", env: "TRANSECT_RATE", kind: "N", doc: "at most N requests per second, such as 5 or 0.5", parse: t.ParseRate},
		option{name: "stall-timeout", env: "TRANSECT_STALL_TIMEOUT", kind: "DURATION", parse: t.ParseStall,
			doc: "reconnect a transfer that made no progress for this long (default 60s)"},
		option{name: "max-outage", env: "TRANSECT_MAX_OUTAGE", kind: "DURATION", parse: t.ParseMaxOutage,
			doc: "keep trying for this long while the network or the platform is away, such as 8h for the night (default 5m)"},
		timeoutOption(job, "limit `DURATION` of the whole run, such as 90s or 2h"))
	flags.BoolVarP(&job.DryRun, "dry-run", "n", false, "print what would be written to the platform instead of sending it")
	flags.BoolVar(&job.Trace, "trace", false, "print each request and response, without secrets")
}

func timeoutOption(job *runtime.Job, doc string) option {
	return option{name: "timeout", env: "TRANSECT_TIMEOUT", kind: "duration", doc: doc, parse: toDuration(&job.Timeout)}
}

// scriptFlags adds the flags of commands that run Lua: limits and sandbox.
func (a *app) scriptFlags(flags *pflag.FlagSet, job *runtime.Job) {
	rules := &job.Sandbox.Rules
	rules.Allow, rules.Deny = sandbox.List{}, sandbox.List{}
	rule := func(list sandbox.List) func(string) error {
		return func(text string) error { return list.Parse(text, a.process.AbsPath) }
	}
	addOptions(flags,
		option{name: "path", env: "TRANSECT_PATH", kind: "DIR", list: true, doc: "another folder for require, may be repeated",
			parse: func(dir string) error { job.Path = append(job.Path, dir); return nil }},
		option{name: "max-memory", env: "TRANSECT_MAX_MEMORY", kind: "SIZE", doc: "stop the script when it uses more memory, such as 512MiB", parse: toSize(&job.Limits.Memory)},
		option{name: "max-instructions", env: "TRANSECT_MAX_INSTRUCTIONS", kind: "N", doc: "stop the script after N instructions, such as 1e9", parse: toInstructions(&job.Limits.Instructions)},
		option{name: "allow", kind: "KIND=WHAT", parse: rule(rules.Allow),
			doc: "allow the script only WHAT of a kind: read=DIR, write=DIR, net=HOST[:PORT], env=NAME, run=sh, ops=datasets.*; several with commas, may be repeated"},
		option{name: "deny", kind: "KIND=WHAT", doc: "deny the script WHAT, whatever is allowed", parse: rule(rules.Deny)})
	flags.BoolVar(&rules.Sandbox, "sandbox", false, "deny the script everything that is not allowed")
	addOptions(flags, option{name: "budget", kind: "creates=N,deletes=0,bytes=SIZE", doc: "limit the whole run",
		parse: rules.Budget.Parse})
}

// manifestFlags adds the flags about the manifest beside a script.
func manifestFlags(cmd *cobra.Command, job *runtime.Job) {
	cmd.Flags().BoolVar(&job.Sandbox.NoManifest, "no-manifest", false, "ignore the rules of the file *.allow.json beside the script")
	cmd.Flags().BoolVar(&job.Sandbox.Learn, "learn", false, "write that file from what the script accesses in this run")
	cmd.MarkFlagsMutuallyExclusive("learn", "sandbox")
	cmd.MarkFlagsMutuallyExclusive("learn", "no-manifest")
}

// unattendedFlags adds the flags for unattended runs.
func unattendedFlags(flags *pflag.FlagSet, job *runtime.Job, o *unattended.Options) {
	o.LogSize, o.LogKeep = 10<<20, 5
	addOptions(flags,
		option{name: "run", kind: "ID", doc: "name the run, to start it again: writes that an earlier start of it made are not repeated", parse: toRunID(job)},
		option{name: "settle", env: "TRANSECT_SETTLE", kind: "duration", parse: toDuration(&job.Settle),
			doc: "wait this long after a write whose answer was lost before it counts as not done (default 30s)"},
		option{name: "job", kind: "NAME", doc: "record the run as one of the job NAME of cron", parse: toString(&o.Job)},
		option{name: "lock", env: "TRANSECT_LOCK", kind: "NAME", empty: unattended.LockOfScript, parse: toString(&o.Lock),
			doc: "run only one at a time of all runs with the same NAME, which is the script's path when left out; write --lock=NAME"},
		option{name: "lock-policy", env: "TRANSECT_LOCK_POLICY", kind: "POLICY", value: "skip", parse: toLockPolicy(&o.LockWait),
			doc: "when another run holds the lock: skip (exit code 6) or wait=DURATION"},
		option{name: "log-file", env: "TRANSECT_LOG_FILE", kind: "FILE", doc: "append the output to FILE, each line with its time", parse: toString(&o.LogFile)},
		option{name: "log-size", env: "TRANSECT_LOG_SIZE", kind: "SIZE", value: "10 MiB", doc: "rotate the log file when it exceeds SIZE", parse: toSize(&o.LogSize)},
		option{name: "log-keep", env: "TRANSECT_LOG_KEEP", kind: "N", value: "5", doc: "keep N rotated log files: FILE.1, FILE.2 …", parse: toCount(&o.LogKeep)},
		option{name: "on-failure", env: "TRANSECT_ON_FAILURE", kind: "CMD|URL", parse: toFailureAction(&o.OnFailure),
			doc: "when the run fails: run the command CMD with the last lines as input, or send them to the URL, https: or mailto: (with $TRANSECT_SMTP)"},
		option{name: "ping", env: "TRANSECT_PING", kind: "URL", parse: toMonitor(&o.Ping),
			doc: "notify the monitor at URL: URL/start, then URL or URL/EXITCODE, with the last lines of output and the run as ?rid="},
		option{name: "report", env: "TRANSECT_REPORT", kind: "FILE", doc: "write a JSON report of the run to FILE", parse: toString(&o.Report)},
		option{name: "metrics", env: "TRANSECT_METRICS", kind: "FILE", doc: "write metrics for Prometheus to FILE", parse: toString(&o.Metrics)},
		option{name: "grace", env: "TRANSECT_GRACE", kind: "duration", doc: "on SIGTERM finish the items in hand, for at most `DURATION`", parse: toDuration(&job.Grace)})
}

// toRunID names the run.
func toRunID(job *runtime.Job) func(string) error {
	return func(text string) error {
		job.Run = runtime.RunID{ID: text, Known: true}
		return runtime.CheckRunID(text)
	}
}

// complete gives a job the settings of the environment and of all commands.
func (a *app) complete(flags *pflag.FlagSet, job *runtime.Job) error {
	job.Output, job.Version = a.output, version()
	if a.output.Quiet && a.output.Verbose {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "--quiet and --verbose are mutually exclusive"), "give one of them")
	}
	if err := a.applyEnvironment(flags); err != nil {
		return err
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
