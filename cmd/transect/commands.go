package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/runtime"
	"transect/runtime/unattended"
	"transect/scripts"
	"transect/stdlib"
	"transect/stdlib/argparse"
)

const (
	everyday  = "everyday"
	scripting = "scripting"
)

// everydayFlags are the flags of transect run that the help of a command shows.
var everydayFlags = []string{"local", "url", "user", "config", "profile", "dry-run", "timeout", "bwlimit", "budget", "log-file"}

// scriptCommands are the commands that are scripts of the binary.
func (a *app) scriptCommands() (list []*cobra.Command) {
	for _, s := range scripts.Commands() {
		cmd := &cobra.Command{Use: s.Name, Short: s.Short, GroupID: everyday, Run: func(*cobra.Command, []string) {}}
		if slices.Contains(a.process.Args, s.Name) { // only the script that is meant is parsed
			a.declare(cmd, s)
		}
		list = append(list, cmd)
	}
	return list
}

// declare gives a command the arguments its script declares and the flags of
// transect run, and runs it as transect run @NAME does.
func (a *app) declare(cmd *cobra.Command, s scripts.Script) {
	spec, err := stdlib.DeclaredArgs(s.Ref(), s.Code)
	if err != nil || spec == nil {
		panic(fmt.Sprintf("the declaration of %s: %v", s.Ref(), err)) // a test runs each of them
	}
	var job runtime.Job
	var options unattended.Options
	var given []string
	flags := cmd.Flags()
	flags.SortFlags = false
	argumentFlags(flags, spec, &given)

	run := pflag.NewFlagSet(s.Name, pflag.ContinueOnError)
	callFlags(run, &job)
	a.scriptFlags(run, &job)
	unattendedFlags(run, &job, &options)
	run.VisitAll(func(f *pflag.Flag) { f.Hidden = !slices.Contains(everydayFlags, f.Name) })
	flags.AddFlagSet(run) // but for those the script declares itself

	cmd.Args = cobra.ArbitraryArgs // the script checks them
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.complete(cmd.Flags(), &job); err != nil {
			return err
		}
		if err := completeUnattended(&job, &options); err != nil {
			return err
		}
		options.NoHistory = spec.Reads
		job.Script, job.Args = s.Ref(), slices.Concat(given, []string{"--"}, args)
		return unattended.Run(cmd.Context(), a.process, job, options)
	}
	a.completeDeclared(cmd, spec, &job)
	cmd.SetHelpFunc(func(*cobra.Command, []string) {
		shared := pflag.NewFlagSet(s.Name, pflag.ContinueOnError)
		shared.SortFlags = false
		run.VisitAll(func(f *pflag.Flag) {
			if slices.Contains(everydayFlags, f.Name) {
				shared.AddFlag(f)
			}
		})
		fmt.Fprintf(a.stdout, "%s\nPlatform and run:\n%s\nThe other flags of transect run are accepted as well.\n", spec.Usage(), shared.FlagUsages())
	})
}

// argumentFlags makes a flag of each argument that is not positional. What is
// given is collected in the form scripts read.
func argumentFlags(flags *pflag.FlagSet, spec *argparse.Spec, given *[]string) {
	for name, arg := range spec.Args {
		if slices.Contains(spec.Positional, name) {
			continue
		}
		long := strings.ReplaceAll(name, "_", "-")
		v := &optionValue{option: option{name: long, kind: string(arg.Type), doc: arg.Doc,
			parse: func(text string) error { *given = append(*given, "--"+long+"="+text); return nil }}}
		if arg.Type == "boolean" {
			v.kind, v.empty = "bool", "true"
		}
		f := flags.VarPF(v, long, arg.Short, arg.Doc)
		f.NoOptDefVal = v.empty
	}
}
