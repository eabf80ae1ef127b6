package main

import (
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/client/fault"
	"transect/runtime"
)

// jobFlags adds the flags of commands that run Lua.
func (a *app) jobFlags(cmd *cobra.Command, job *runtime.Job) {
	a.callFlags(cmd, job)
	cmd.Flags().StringArrayVar(&job.Path, "path", nil, "another `DIR` for require to look in, may be repeated [$TRANSECT_PATH]")
	limitFlags(cmd, job)
	a.wallFlags(cmd, job)
}

// callFlags adds the flags of commands that use the platform.
func (a *app) callFlags(cmd *cobra.Command, job *runtime.Job) {
	flags := cmd.Flags()
	flags.SortFlags = false
	connectionFlags(flags, &job.Connection)
	transferFlags(flags, &job.Transfers)
	flags.DurationVar(&job.Timeout, "timeout", 0, "limit `DURATION` of the whole run, such as 90s or 2h [$TRANSECT_TIMEOUT]")
	flags.BoolVarP(&job.DryRun, "dry-run", "n", false, "print what would be written to the platform instead of sending it")
	flags.BoolVar(&job.Trace, "trace", false, "print each request and answer, without secrets")
}

// connectionFlags adds a flag for each setting that may stand on a command line.
func connectionFlags(flags *pflag.FlagSet, c *runtime.Connection) {
	for _, o := range c.Options() {
		doc := o.Doc + " [$" + o.Env + "]"
		switch {
		case o.Flag == "":
		case o.On != nil:
			flags.BoolVar(o.On, o.Flag, false, doc)
		default:
			flags.Var(text{o.Text, o.Value}, o.Flag, doc)
		}
	}
}

// text is a flag that help shows with the name of its value.
type text struct {
	to   *string
	name string
}

func (t text) String() string {
	if t.to == nil {
		return "" // pflag asks the zero value for its default
	}
	return *t.to
}

func (t text) Set(value string) error { *t.to = value; return nil }

func (t text) Type() string { return t.name }

// complete gives a job what the environment says and its flags do not.
func (a *app) complete(flags *pflag.FlagSet, job *runtime.Job) error {
	job.Output, job.Version = a.output, version()
	if a.output.Quiet && a.output.Verbose {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "--quiet and --verbose exclude each other"), "give one of them")
	}
	if list, _ := a.world.Env("TRANSECT_PATH"); list != "" && !flags.Changed("path") {
		job.Path = filepath.SplitList(list)
	}
	limit, _ := a.world.Env("TRANSECT_TIMEOUT")
	if limit != "" && !flags.Changed("timeout") {
		var err error
		if job.Timeout, err = time.ParseDuration(limit); err != nil {
			return fault.Hinted(fault.Of(&fault.ConfigError{}, "TRANSECT_TIMEOUT is no duration: %q", limit),
				"write it with its unit, such as 90s, 5m or 1h30m")
		}
	}
	if err := a.completeLimits(flags, job); err != nil {
		return err
	}
	if job.Timeout < 0 {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "the time limit is negative: %s", job.Timeout), "leave --timeout out for none")
	}
	return nil
}
