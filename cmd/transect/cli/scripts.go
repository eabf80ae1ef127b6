package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/client/fault"
	"transect/client/human/tabular"
	"transect/client/suggest"
	"transect/runtime"
	"transect/runtime/unattended"
	"transect/scripts"
	"transect/stdlib"
	"transect/stdlib/argparse"
)

func (a *App) scripts() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "scripts",
		Short: "List the built-in scripts, or copy one to change it",
		Long: `List the built-in scripts: workflows, and the commands that are scripts.
transect run @NAME runs one; transect scripts copy NAME writes it into a file, to
read it or to change it.`,
		Example: `  transect scripts
  transect run @sync_folder --help
  transect scripts copy sync_folder`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return UnknownSubcommand(cmd, args[0])
			}
			return a.listScripts(asJSON)
		},
	}
	JSONFlag[listedScript](cmd, &asJSON, "print one JSON object per script")
	cmd.AddCommand(a.copyScript())
	return cmd
}

// listedScript is a built-in script as --json prints it.
type listedScript struct {
	Command bool   `json:"command"` // not only of transect run
	Does    string `json:"does"`
	Name    string `json:"name"`
	Run     string `json:"run"`
}

func (a *App) listScripts(asJSON bool) error {
	does := func(s scripts.Script) string {
		if spec, err := stdlib.DeclaredArgs(s.Ref(), s.Code); err == nil && spec != nil && !s.Command {
			return strings.TrimSuffix(spec.Doc, ".")
		}
		return s.Short
	}
	return Listing[scripts.Script]{
		Header: tabular.Row{"name", "run", "does"},
		Row:    func(s scripts.Script) tabular.Row { return tabular.Row{s.Name, s.Program(), does(s)} },
		Object: func(s scripts.Script) any {
			return listedScript{s.Command, does(s), s.Name, s.Program()}
		},
	}.Print(a, scripts.List(), asJSON)
}

func (a *App) copyScript() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "copy [flags] NAME [FILE]",
		Short: "Write a script of transect into a file",
		Long: `Write a script of transect into FILE, NAME.lua in the current folder when left out.
The copy runs with transect run FILE; the modules it requires stay in transect.`,
		Example: `  transect scripts copy sync_folder
  transect scripts copy put my_put.lua`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 2 {
				return ExactArgs(2, "")(cmd, args)
			}
			return ExactArgs(1, "NAME")(cmd, args[:min(1, len(args))])
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return scriptNames(""), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			s, ok := scripts.Find(args[0])
			if !ok {
				return fault.Hinted(fault.Of(&fault.UsageError{}, "there is no script %s in transect%s", args[0],
					suggest.Suffix(args[0], scriptNames(""))), "transect scripts lists them")
			}
			file := s.File()
			if len(args) == 2 {
				file = args[1]
			}
			if info, err := os.Stat(a.Process.Path(file)); err == nil && info.IsDir() {
				file = filepath.Join(file, s.File())
			}
			return a.writeScript(file, s.Code, force)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace a file that exists")
	return cmd
}

func (a *App) writeScript(file string, code []byte, force bool) error {
	mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(a.Process.Path(file), mode, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "%s exists", file), "name another file, or replace it with --force")
	}
	if err == nil {
		_, err = f.Write(code)
		if closed := f.Close(); err == nil {
			err = closed
		}
	}
	if err != nil {
		return fault.Of(&fault.FileError{}, "cannot write %s: %w", file, fault.Reason(err))
	}
	if !a.Output.Quiet {
		fmt.Fprintf(a.Process.Stderr, "wrote %s; run it with: transect run %s\n", file, file)
	}
	return nil
}

// scriptNames lists the scripts of the binary, each with a prefix.
func scriptNames(prefix string) (names []string) {
	for _, s := range scripts.List() {
		names = append(names, prefix+s.Name)
	}
	return names
}

const (
	Everyday  = "everyday"
	Scripting = "scripting"
)

// scriptCommands declares the commands that are built-in scripts.
func (a *App) scriptCommands() (list []*cobra.Command) {
	for _, s := range scripts.Commands() {
		cmd := &cobra.Command{Use: s.Name, Short: s.Short, GroupID: Everyday, Run: func(*cobra.Command, []string) {}}
		if slices.Contains(a.Process.Args, s.Name) { // parses only the script in question
			a.declare(cmd, s)
		}
		list = append(list, cmd)
	}
	return list
}

// declare gives a command the arguments that its script declares and the flags of transect run, and runs it
// as transect run @NAME does.
func (a *App) declare(cmd *cobra.Command, s scripts.Script) {
	spec, err := stdlib.DeclaredArgs(s.Ref(), s.Code)
	if err != nil || spec == nil {
		panic(fmt.Sprintf("the declaration of %s: %v", s.Ref(), err)) // a test runs each of them
	}
	var job runtime.Job
	var options unattended.Options
	var declared []string
	flags := cmd.Flags()
	flags.SortFlags = false
	argumentFlags(flags, spec, &declared)

	run := pflag.NewFlagSet(s.Name, pflag.ContinueOnError)
	a.AddRunOptions(run, &job, &options, OnCall|OnLua|OnRun)
	optionsOf(run, func(f *pflag.Flag, v *OptionValue) { f.Hidden = v.Hidden || v.Where&Shown == 0 })
	flags.AddFlagSet(run) // but for those the script declares itself

	cmd.Args = cobra.ArbitraryArgs // the script checks them
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.Complete(cmd.Flags(), &job); err != nil {
			return err
		}
		if err := completeUnattended(&job, &options); err != nil {
			return err
		}
		options.NoHistory, options.Planning.Options, options.Planning.By = spec.Reads, given(cmd.Flags(), InPlan),
			a.UserName()
		job.Script, job.Args = s.Ref(), slices.Concat(declared, []string{"--"}, args)
		return unattended.Run(cmd.Context(), a.Process, job, options)
	}
	a.completeDeclared(cmd, spec, &job)
	cmd.SetHelpFunc(func(*cobra.Command, []string) {
		shared := pflag.NewFlagSet(s.Name, pflag.ContinueOnError)
		shared.SortFlags = false
		optionsOf(run, func(f *pflag.Flag, v *OptionValue) {
			if v.Where&Shown != 0 {
				shared.AddFlag(f)
			}
		})
		fmt.Fprintf(a.Stdout, "%s\nPlatform and run:\n%s\nThe other flags of transect run are accepted as well.\n",
			spec.Usage(), shared.FlagUsages())
	})
}

// argumentFlags declares a flag for each named argument, and collects the values in the form scripts read.
func argumentFlags(flags *pflag.FlagSet, spec *argparse.Spec, given *[]string) {
	for name, arg := range spec.Args {
		if slices.Contains(spec.Positional, name) {
			continue
		}
		long := strings.ReplaceAll(name, "_", "-")
		o := Option{Name: long, Short: arg.Short, Kind: string(arg.Type), Doc: arg.Doc,
			Parse: func(text string) error { *given = append(*given, "--"+long+"="+text); return nil }}
		if arg.Type == "boolean" {
			o.Kind = "bool"
		}
		AddOptions(flags, o)
	}
}
