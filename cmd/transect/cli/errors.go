package cli

import (
	"cmp"
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/client/fault"
	"transect/client/suggest"
	"transect/runtime"
	"transect/runtime/reference"
	"transect/runtime/vm"
	"transect/scripts"
)

// usage makes a usage error of an error of cobra; errors of the command itself
// are not changed.
func usage(cmd *cobra.Command, err error) error {
	if err == nil || fault.Find(err) != nil || is[*runtime.Reported](err) || is[*vm.Exit](err) ||
		is[*runtime.Interrupted](err) {
		return err
	}
	if at, ok := errors.AsType[*os.PathError](err); ok && at.Op == "write" {
		return fault.Hinted(fault.Of(&fault.FileError{}, "cannot print: %w", err),
			"the disk may be full, or the program that reads the output may have ended")
	}
	text := err.Error()
	if _, given, exclusive := strings.Cut(text, "were all set"); exclusive && given == "" {
		_, given, _ = strings.Cut(text, "; [")
		flags := strings.Fields(strings.TrimSuffix(given, "] were all set"))
		text = "--" + strings.Join(flags, " and --") + " cannot be combined"
	}
	return fault.Hinted(fault.Of(&fault.UsageError{}, "%s", text), "%s", helpFor(cmd))
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func helpFor(cmd *cobra.Command) string { return "see: " + cmd.CommandPath() + " --help" }

// FlagError explains an error of a flag.
func (a *App) FlagError(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return a.unknownFlag(cmd, unknown)
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "flag --%s needs a value", missing.GetFlag().Name), "%s",
			helpFor(cmd))
	}
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if f := fault.Find(err); ok && f != nil {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "--%s: %s", invalid.GetFlag().Name, f.Facts().Message), "%s",
			cmp.Or(f.Facts().Hint, helpFor(cmd)))
	}
	if ok && invalid.GetFlag().Value.Type() == "bool" && errors.Is(err, strconv.ErrSyntax) {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "flag --%s: %q is neither true nor false", invalid.GetFlag().Name,
			invalid.GetValue()), "%s", helpFor(cmd))
	}
	if ok {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "flag --%s: %q is not a valid %s: %v", invalid.GetFlag().Name,
			invalid.GetValue(),
			invalid.GetFlag().Value.Type(), errors.Unwrap(invalid)), "%s", helpFor(cmd))
	}
	return usage(cmd, err)
}

// secretFlags are flags that people try for secrets.
var secretFlags = []string{"password", "passwd", "pass", "pwd", "secret", "client-secret", "token", "access-token"}

// ofJobsInstead maps flags of transect run that jobs do not have to what jobs have.
var ofJobsInstead = map[string]string{
	"lock":        "jobs have --key KEY: one at a time of all with the same KEY",
	"lock-policy": "jobs have --key KEY: one at a time of all with the same KEY, the others wait",
	"log-file":    logOfJob, "log-size": logOfJob, "log-keep": logOfJob,
	"run":    "a job is a run by itself, job-N; each attempt goes on with it",
	"resume": "a job goes on by itself; transect jobs retry N starts another attempt",
	"again":  "submit the script again",
	"job":    "a schedule names its jobs: transect schedule add NAME",
}

const logOfJob = "the output of a job is kept with it: transect jobs logs N"

// unknownFlag suggests a flag with a similar name.
func (a *App) unknownFlag(cmd *cobra.Command, unknown *pflag.NotExistError) error {
	var known []string
	visible := func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	}
	name := unknown.GetSpecifiedName()
	if letters := unknown.GetSpecifiedShortnames(); letters != "" {
		cmd.Flags().VisitAll(visible)
		err := fault.Of(&fault.UsageError{}, "unknown flag -%s", name)
		if near := suggest.Nearest(letters, known); near != "" {
			return fault.Hinted(err, "did you mean --%s?", near)
		}
		return fault.Hinted(err, "%s", helpFor(cmd))
	}
	err := fault.Of(&fault.UsageError{}, "unknown flag --%s", name)
	if slices.Contains(secretFlags, name) {
		return fault.Hinted(err, "secrets are not accepted on the command line, where others can read them: "+
			"set TRANSECT_PASSWORD, TRANSECT_CLIENT_SECRET or TRANSECT_ACCESS_TOKEN, name a file with --password-file, "+
			"--client-secret-file or --access-token-file, or use transect login")
	}
	if name == "version" {
		return fault.Hinted(err, "transect --version prints the version")
	}
	// A flag of a subcommand, written before the subcommand.
	for _, sub := range cmd.Commands() {
		if sub.Flags().Lookup(name) != nil && slices.Contains(a.Process.Args, sub.Name()) {
			return fault.Hinted(err, "it belongs after the command: %s --%s", sub.CommandPath(), name)
		}
	}
	if cmd.CommandPath() == "transect cron add" && a.On(a.Process).run().Flags().Lookup(name) != nil {
		return fault.Hinted(err, "flags of transect run go after the time: transect cron add NAME 'EXPR' --%s … SCRIPT", name)
	}
	if instead := ofJobsInstead[name]; instead != "" && cmd.Flags().Lookup("retries") != nil {
		return fault.Hinted(err, "%s", instead)
	}
	cmd.Flags().VisitAll(visible)
	if near := suggest.Nearest(name, known); near != "" {
		return fault.Hinted(err, "did you mean --%s?", near)
	}
	if run, _, err := cmd.Find([]string{"run"}); err == nil && run != cmd {
		run.Flags().VisitAll(visible)
	}
	if near := suggest.Nearest(name, known); near != "" {
		return fault.Hinted(err, "flags go after the command, such as: transect ls --%s", near)
	}
	return fault.Hinted(err, "%s", helpFor(cmd))
}

// synonyms maps command names of other programs to ours.
var synonyms = map[string]string{
	"upload": "put", "send": "put", "push": "put", "cp": "put, get or copy",
	"download": "get", "fetch": "get", "pull": "get",
	"move": "copy", "sync": "copy", "duplicate": "copy", "clone": "copy",
	"delete": "rm", "del": "rm", "remove": "rm", "list": "ls", "dir": "ls", "search": "find", "log": "logs",
	"tail": "logs",
	"info": "show", "describe": "show", "cat": "show", "exec": "run", "execute": "run", "signin": "login", "man": "doc",
	"shell": "repl", "console": "repl", "prompt": "repl", "new": "init", "explain": "doc",
}

// nearestCommand returns the hint for an unknown command.
func nearestCommand(cmd *cobra.Command, name string) string {
	var known []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			known = append(known, sub.Name())
		}
	}
	candidates := known
	if !cmd.HasParent() {
		candidates = slices.AppendSeq(slices.Clone(known), maps.Keys(synonyms))
	}
	if _, entry, err := reference.New().Find(name); err == nil && !cmd.HasParent() {
		return entryHint(name, entry)
	}
	if script, ok := scripts.Find("@" + name); ok && !script.Command && !cmd.HasParent() {
		return "it is a script: " + script.Program()
	}
	if near := suggest.Nearest(name, candidates); near != "" {
		return "did you mean " + cmd.CommandPath() + " " + cmp.Or(synonyms[near], near) + "?"
	}
	return "the commands are " + strings.Join(known, ", ")
}

// entryHint returns the hint for an operation, manager or function given as a command.
func entryHint(name string, entry *reference.Entry) string {
	if entry != nil && entry.Manager == "" {
		return "it belongs in a script; transect doc " + name + " explains it"
	} else if entry != nil {
		return "it is an operation: transect api " + name + " calls it, transect doc " + name + " explains it"
	}
	return "transect doc " + name + " explains it; transect ls and transect find list what there is"
}

// AtLeast checks that there is an argument for each name.
func AtLeast(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return fault.Hinted(fault.Of(&fault.UsageError{}, "%s is missing", names[len(args)]), "%s", helpFor(cmd))
		}
		return nil
	}
}

// ExactArgs checks the number of arguments. what names the missing one.
func ExactArgs(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < n:
			return fault.Hinted(fault.Of(&fault.UsageError{}, "%s is missing", what), "%s", helpFor(cmd))
		case len(args) > n:
			return fault.Hinted(fault.Of(&fault.UsageError{}, "unexpected argument %s", args[n]), "%s", helpFor(cmd))
		}
		return nil
	}
}
