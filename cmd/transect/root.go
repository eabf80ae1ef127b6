package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/client/fault"
	"transect/runtime"
)

const exitCodes = `Exit codes:
  0    success
  1    the script raised an error
  2    usage, configuration or syntax error
  3    finished, but some items failed
  4    credentials refused
  5    temporary failure: running again may help
  6    another run holds the lock
  10   time limit reached
  130  interrupted
  143  terminated`

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "transect",
		Short: "Run Lua workflows against a geospatial platform",
		Long: `Transect runs Lua workflows against a geospatial platform: ingest a drone
flight, order an analytic, follow its logs, fetch what it made. It carries a
local platform, so that scripts can be tried without an account.

` + exitCodes,
		Example: `  transect run --local survey.lua flight/
  transect repl --local
  transect eval --local 'require("projects").search{}'
  transect platform serve`,
		Args:          cobra.ArbitraryArgs, // so that RunE can say what was meant
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && a.world.IsTerminal(a.world.Stdin) && a.world.IsTerminal(a.world.Stdout):
				var job runtime.Job
				if err := a.complete(cmd.Flags(), &job); err != nil {
					return err
				}
				return runtime.Repl(cmd.Context(), a.world, job)
			case len(args) == 0:
				return cmd.Help()
			}
			return a.unknownCommand(cmd, args)
		},
	}
	a.outputFlags(root.PersistentFlags())
	root.SetFlagErrorFunc(a.flagError)
	root.AddCommand(a.run(), a.repl(), a.eval(), a.check(), a.test(), a.api(), a.doc(), a.init(), a.platform(), a.runs(), a.cron(), a.version())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd(a.world.Args...)
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			strictHelp(root, cmd)
		case "completion":
			group(cmd)
		}
	}
	return root
}

// outputFlags are those of every command: how much is told, and in what form.
func (a *app) outputFlags(flags *pflag.FlagSet) {
	flags.BoolVarP(&a.output.Quiet, "quiet", "q", false, "tell only errors")
	flags.BoolVarP(&a.output.Verbose, "verbose", "v", false, "tell what is good for finding faults")
	flags.Var((*logFormat)(&a.output.JSON), "log-format", "how messages, progress and errors are written: text or json")
}

// strictHelp makes help for a command that does not exist an error.
func strictHelp(root, help *cobra.Command) {
	show := help.Run
	help.Run = nil
	help.RunE = func(cmd *cobra.Command, args []string) error {
		if found, rest, err := root.Find(args); err != nil || len(rest) > 0 {
			return fault.Hinted(fault.Of(&fault.UsageError{}, "there is no help for %s", strings.Join(args, " ")),
				"%s", nearestCommand(found, rest[0]))
		}
		show(cmd, args)
		return nil
	}
}

// group is a command that only holds others: it shows its help, and refuses
// commands it does not have.
func group(cmd *cobra.Command) {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return fault.Hinted(fault.Of(&fault.UsageError{}, "unknown command %s %s", cmd.Name(), args[0]), "%s", nearestCommand(cmd, args[0]))
	}
}

// logFormat is the flag that chooses between text and JSON lines.
type logFormat bool

func (f *logFormat) String() string {
	if *f {
		return "json"
	}
	return "text"
}

func (f *logFormat) Set(value string) error {
	if value != "text" && value != "json" {
		return errors.New("it must be text or json")
	}
	*f = value == "json"
	return nil
}

func (f *logFormat) Type() string { return "text|json" }

// unknownCommand says what was probably meant: a command spelled otherwise, or
// a script without the command that runs it.
func (a *app) unknownCommand(cmd *cobra.Command, args []string) error {
	unknown := args[0]
	err := fault.Of(&fault.UsageError{}, "unknown command %s", unknown)
	_, notThere := os.Stat(filepath.Join(a.world.Dir, unknown))
	if filepath.Ext(unknown) == ".lua" || notThere == nil {
		return fault.Hinted(err, "to run a script: transect run %s", strings.Join(args, " "))
	}
	return fault.Hinted(err, "%s", nearestCommand(cmd, unknown))
}
