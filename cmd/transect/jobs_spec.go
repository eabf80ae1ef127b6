package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/client/fault"
	"transect/runtime"
	"transect/runtime/jobs"
	"transect/runtime/jobs/bundle"
	"transect/runtime/sandbox"
	"transect/runtime/unattended"
	"transect/scripts"
)

// jobFlags are the flags that describe a job: those of its own, and those of
// transect run, which travel with it.
type jobFlags struct {
	spec    jobs.Spec
	on      string
	include []string
	job     runtime.Job
	cmd     *cobra.Command
	run     *pflag.FlagSet
	given   []string // flags of transect run, as --name=value
	parsed  bool     // what is set now comes from the environment
}

// notOfJobs are flags of transect run that a job sets itself, or has its own
// for: its id is its run, its log is kept with it, its key is its lock.
var notOfJobs = []string{"timeout", "run", "job", "lock", "lock-policy", "log-file", "log-size", "log-keep", "on-failure", "ping", "path"}

// jobFlags adds the flags to a command that makes jobs.
func (a *app) jobFlags(cmd *cobra.Command) *jobFlags {
	f := &jobFlags{cmd: cmd, spec: jobs.Spec{Retries: jobs.DefaultRetries}, run: pflag.NewFlagSet("run", pflag.ContinueOnError)}
	flags := cmd.Flags()
	flags.SortFlags = false
	addOptions(flags,
		option{name: "queue", kind: "Q", value: jobs.DefaultQueue, doc: "the queue of the job; workers serve the queues that they name", parse: toString(&f.spec.Queue)},
		option{name: "on", kind: "HOST", doc: "run the job on the worker of this name, where its files are", parse: toString(&f.on)},
		option{name: "key", kind: "KEY", doc: "of all jobs with the same KEY run one at a time; the others wait", parse: toString(&f.spec.Key)},
		option{name: "priority", kind: "1-4", value: strconv.Itoa(jobs.DefaultPriority), doc: "1 is first, 4 last", parse: toNumber(&f.spec.Priority, 1, 4)},
		option{name: "retries", kind: "N", value: strconv.Itoa(jobs.DefaultRetries), doc: "after a temporary failure (exit code 5) try again up to N times", parse: toCount(&f.spec.Retries)},
		option{name: "timeout", env: "TRANSECT_TIMEOUT", kind: "duration", doc: "limit `DURATION` of each attempt, such as 90s or 2h", parse: toDuration(&f.spec.Timeout)},
		option{name: "on-failure", env: "TRANSECT_ON_FAILURE", kind: "CMD|URL", parse: orVariable(&f.spec.OnFailure, toFailureAction(&f.spec.OnFailure)),
			doc: "when the job fails: run the command CMD on a worker with the last lines as input, or send them to the URL, https: or mailto:; env:NAME is the worker's variable NAME"},
		option{name: "late", kind: "duration", parse: toDuration(&f.spec.Late),
			doc: "take the steps of --on-failure also when the job has not started this long after its time"},
		option{name: "ping", env: "TRANSECT_PING", kind: "URL", doc: "notify the monitor at URL of start and end; env:NAME is the worker's variable NAME", parse: orVariable(&f.spec.Ping, toMonitor(&f.spec.Ping))},
		option{name: "include", kind: "PATH", doc: "another file or folder beside the script that travels with it, may be repeated",
			parse: func(path string) error { f.include = append(f.include, path); return nil }})
	cmd.MarkFlagsMutuallyExclusive("queue", "on")

	callFlags(f.run, &f.job)
	a.scriptFlags(f.run, &f.job)
	unattendedFlags(f.run, &f.job, &unattended.Options{})
	f.run.BoolVar(&f.job.Sandbox.NoManifest, "no-manifest", false, "ignore the rules of the file *.allow.json beside the script")
	f.run.VisitAll(func(flag *pflag.Flag) {
		if v, ok := flag.Value.(*optionValue); ok && !slices.Contains(notOfJobs, flag.Name) {
			parse := v.parse
			v.parse = func(text string) error {
				if !f.parsed {
					f.given = append(f.given, "--"+flag.Name+"="+text)
				}
				return parse(text)
			}
		}
		if flag.Name == "path" || !slices.Contains(notOfJobs, flag.Name) {
			flags.AddFlag(flag)
		}
	})
	flags.SetInterspersed(false)
	cmd.PreRun = func(*cobra.Command, []string) { f.parsed = true }
	return f
}

// orVariable also accepts env:NAME, the variable of the worker that holds the value,
// which need not stand in the database then.
func orVariable(to *string, parse func(string) error) func(string) error {
	return func(text string) error {
		name, ok := strings.CutPrefix(text, "env:")
		if text == "" {
			*to = ""
			return nil
		}
		if !ok {
			return parse(text)
		}
		if name == "" || strings.ContainsAny(name, " =/") {
			return errors.New("write env: and the name of a variable, such as env:OPS_HOOK")
		}
		*to = text
		return nil
	}
}

// jobSpec makes the job of a command line: words are the script and its
// arguments. The script is packed with what it requires; nil for scripts of the
// binary.
func (a *app) jobSpec(ctx context.Context, f *jobFlags, words []string) (jobs.Spec, *bundle.Bundle, error) {
	var none jobs.Spec
	if len(words) == 0 {
		return none, nil, fault.Hinted(fault.Of(&fault.UsageError{}, "no script was named"), "such as: survey.lua")
	}
	if words[0] == "-" {
		return none, nil, fault.Hinted(fault.Of(&fault.UsageError{}, "a job cannot read its script from standard input"), "name a file")
	}
	env := a.environment(variables(f.run, append([]string{"on-failure", "ping"}, notOfJobs...)...))
	if err := a.complete(f.cmd.Flags(), &f.job); err != nil {
		return none, nil, err
	}
	f.run.VisitAll(func(flag *pflag.Flag) {
		if _, option := flag.Value.(*optionValue); !option && flag.Changed {
			f.given = append(f.given, "--"+flag.Name+"="+flag.Value.String())
		}
	})
	spec := f.spec
	spec.Script, spec.Args, spec.Run, spec.Env, spec.User = words[0], words[1:], f.given, env, a.submitter()
	if f.on != "" {
		spec.Queue = f.on
	}
	f.job.Script, f.job.Args = words[0], words[1:]
	all := slices.Concat(env, f.given, words, []string{"--on-failure=" + spec.OnFailure, "--ping=" + spec.Ping})
	if err := a.noSecret(all); err != nil {
		return none, nil, err
	}
	isFlag := func(name string) bool { return f.cmd.Flags().Lookup(name) != nil }
	if err := runtime.MisplacedFlag(a.process, words[0], words[1:], f.cmd.CommandPath(), isFlag); err != nil {
		return none, nil, err
	}
	if _, err := runtime.PreflightScript(a.process, f.job); err != nil {
		return none, nil, err
	}
	folder, err := filepath.Abs(a.process.Dir)
	if err != nil {
		return none, nil, fault.Of(&fault.ConfigError{}, "cannot find the current folder: %w", err)
	}
	spec.Folder = folder
	if scripts.IsRef(words[0]) {
		return spec, nil, nil
	}
	packed, err := bundle.Make(a.bundleSource(words[0], f))
	if err != nil {
		return none, nil, err
	}
	spec.Bundle = packed.Hash
	if len(f.include) == 0 && !a.output.Quiet {
		for _, at := range packed.Computed {
			fmt.Fprintf(a.process.Stderr, "%s: the name of this module is computed at run time; it is packed with the job only if --include PATH names its file or folder\n", at)
		}
	}
	return spec, packed, nil
}

func (a *app) bundleSource(script string, f *jobFlags) bundle.Source {
	source := bundle.Source{Script: a.process.AbsPath(script)}
	if !f.job.Sandbox.NoManifest {
		source.Manifest = a.process.AbsPath(sandbox.ManifestOf(script))
	}
	for _, dir := range f.job.Path {
		source.Path = append(source.Path, a.process.AbsPath(dir))
	}
	for _, path := range f.include {
		source.Include = append(source.Include, a.process.AbsPath(path))
	}
	return source
}

// partOfRun makes the jobs that a script of transect run submits: with its flags,
// as far as they are those of jobs, and its variables.
func (a *app) partOfRun(flags *pflag.FlagSet) func(script string, args []string) (jobs.Spec, error) {
	own := append([]string{"on-failure", "ping", "jobs", "dry-run", "learn", "report", "metrics"}, notOfJobs...)
	return func(script string, args []string) (jobs.Spec, error) {
		spec := jobs.Spec{Env: a.environment(variables(flags, own...)), User: a.submitter()}
		flags.Visit(func(f *pflag.Flag) {
			v, option := f.Value.(*optionValue)
			switch {
			case slices.Contains(own, f.Name), f.Name == "resume", f.Name == "again":
			case option:
				for _, text := range v.given {
					spec.Run = append(spec.Run, "--"+f.Name+"="+text)
				}
			default:
				spec.Run = append(spec.Run, "--"+f.Name+"="+f.Value.String())
			}
		})
		var err error
		if spec.Folder, err = filepath.Abs(a.process.Dir); err != nil {
			return spec, fault.Of(&fault.ConfigError{}, "cannot find the current folder: %w", err)
		}
		return spec, a.noSecret(slices.Concat(spec.Env, spec.Run, []string{script}, args))
	}
}

// noSecret refuses what would put a secret into the database of jobs.
func (a *app) noSecret(words []string) error {
	if err := noPassword("in the database of jobs", words); err != nil {
		return err
	}
	for _, name := range a.secretVariables() {
		for _, word := range words {
			if strings.Contains(word, a.process.Getenv(name)) {
				return fault.Hinted(fault.Of(&fault.UsageError{}, "an argument contains the value of %s, which would be stored in the jobs database", name),
					"the worker needs a login of its own: transect login there, or a file that --password-file names")
			}
		}
	}
	return nil
}
