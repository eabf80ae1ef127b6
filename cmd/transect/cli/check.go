package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"transect/client/atomicfile"
	"transect/client/fault"
	"transect/client/human"
	"transect/runtime"
	"transect/runtime/lint"
	"transect/runtime/lsp"
	"transect/runtime/luafmt"
	"transect/runtime/luastd"
	"transect/runtime/vm"
	"transect/scripts"
)

func (a *App) check() *cobra.Command {
	var asJSON bool
	var path, allowed []string
	cmd := &cobra.Command{
		Use:   "check [flags] FILE...",
		Short: "Find mistakes in scripts without running them",
		Long: `Find mistakes in scripts without running them: syntax, undefined variables,
unknown managers, operations, functions and arguments, arguments of the wrong
type, misspelt fields of records and searches, results of calls that return
nothing, constant conditions, loops over what is not an iterator, unused
variables, unreachable statements, and more. In a folder, all .lua files below it
are checked; - is standard input. Lines that end with "-- check: ignore" are
skipped. "-- check: allow RULE" at the end of a line allows there what the rule
forbids, on a line of its own in the whole script. transect doc check lists the rules.

Exit codes: 0 no problems, 1 problems were found, 2 a file cannot be read.`,
		Example: `  transect check survey.lua
  transect check --json scripts/ | jq -r '.[].message'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fault.Hinted(fault.Of(&fault.UsageError{}, "no script was named"), "such as: transect check survey.lua")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.checkScripts(args, path, allowed, asJSON) },
	}
	cmd.Flags().StringArrayVar(&path, "path", nil, "additional `DIR` for require to search; TRANSECT_PATH lists others")
	cmd.Flags().StringSliceVar(&allowed, "allow", nil, "`RULE` that is not applied; may be repeated")
	JSONFlag[[]lint.Problem](cmd, &asJSON, "print a JSON list of the problems")
	return cmd
}

func (a *App) checkScripts(args, path, allowed []string, asJSON bool) error {
	for _, name := range allowed {
		if !slices.ContainsFunc(lint.Rules(), func(r lint.Rule) bool { return r.Name == name }) {
			return fault.Hinted(fault.Of(&fault.UsageError{}, "there is no rule %s", name), "transect doc check lists them")
		}
	}
	files, err := a.Process.Scripts(args)
	if err != nil {
		return err
	}
	checker := lint.New(a.library()...)
	checker.Local, checker.Allowed = localModules(a.Process, path), allowed
	problems, bad, unread := []lint.Problem{}, 0, false
	for _, file := range files {
		code, err := a.Process.ReadScript(file)
		if err != nil {
			runtime.Report(a.Process, a.Output, err)
			unread = true
			continue
		}
		found := checker.Script(file.Name, code)
		if len(found) > 0 {
			bad++
		}
		problems = append(problems, found...)
	}
	if asJSON {
		err = a.PrintJSON(problems, "  ")
	}
	for _, p := range problems {
		if asJSON || err != nil {
			break
		}
		text := p.Message
		if p.Hint != "" {
			text += " (" + p.Hint + ")"
		}
		_, err = fmt.Fprintf(a.Stdout, "%s:%d:%d: %s [%s]\n", human.Line(p.File), p.Line, p.Column,
			human.Line(text), p.Rule)
	}
	if err != nil || bad == 0 && !unread {
		return err
	}
	if !asJSON && !a.Output.Quiet && bad > 0 {
		fmt.Fprintf(a.Process.Stderr, "%s in %d of %s\n", human.Count(len(problems), "problem"), bad,
			human.Count(len(files), "script"))
	}
	if unread {
		return &vm.Exit{Code: runtime.ExitUsage}
	}
	return &vm.Exit{Code: runtime.ExitRaised}
}

func (a *App) fmt() *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use:   "fmt [flags] FILE...",
		Short: "Format scripts",
		Long: `Format scripts: two spaces for each level, one space around operators, one blank
line at most, strings in double quotes. Line breaks, line endings and comments are
kept, and what the script does never changes. In a folder, all .lua files below it
are formatted, except links that lead out of it; - formats standard input to
standard output. The names of changed files are printed. Files that cannot be read
or do not compile are reported and left alone.

Exit codes: 0 success, 1 --check found files to format, 2 a file cannot be read
or does not compile.`,
		Example: `  transect fmt survey.lua
  transect fmt --check scripts/`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fault.Hinted(fault.Of(&fault.UsageError{}, "no script was named"), "such as: transect fmt survey.lua")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.format(args, check) },
	}
	cmd.Flags().BoolVar(&check, "check", false, "change nothing; name the files that are not formatted")
	return cmd
}

func (a *App) format(args []string, check bool) error {
	files, err := a.Process.Scripts(args)
	if err != nil {
		return err
	}
	code := runtime.ExitOK
	for _, file := range files {
		if to := a.Process.Outside(file); file.Err == nil && to != "" {
			fmt.Fprintf(a.Process.Stderr, "%s is left as it is: it is a link to %s, outside of %s\n",
				human.Line(file.Name), human.Line(to), human.Line(file.Folder))
			continue
		}
		changed, err := a.formatOne(file, check)
		if err != nil {
			runtime.Report(a.Process, a.Output, err)
			code = runtime.ExitUsage
		} else if check && changed && code == runtime.ExitOK {
			code = runtime.ExitRaised
		}
	}
	if code != runtime.ExitOK {
		return &vm.Exit{Code: code}
	}
	return nil
}

// formatOne formats a script, and reports whether it was not formatted.
func (a *App) formatOne(file runtime.ScriptFile, check bool) (changed bool, err error) {
	code, err := a.Process.ReadScript(file)
	if err != nil {
		return false, err
	}
	formatted, err := luafmt.Source(file.Name, code)
	if err != nil {
		return false, err
	}
	changed = !bytes.Equal(code, formatted)
	switch {
	case file.Name == "-" && !check:
		_, err = a.Stdout.Write(formatted)
	case changed:
		if !check {
			err = cannotWrite(atomicfile.Write(a.Process.Path(file.Name), formatted, 0o666))
		}
		if err == nil && (check || !a.Output.Quiet) {
			_, err = fmt.Fprintln(a.Stdout, human.Line(file.Name))
		}
	}
	return changed, err
}

func (a *App) lsp() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Serve an editor: mistakes, completion, documentation, renaming",
		Long: `Serve an editor over the Language Server Protocol, on standard input and output:
what transect check finds as one types, documentation of operations and their
arguments, completion, definitions and references in the workspace, renaming of
local variables, formatting. Editors start it; transect init writes the settings
of Visual Studio Code, Neovim and Zed.`,
		Example: `  transect lsp`,
		Args:    ExactArgs(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			checker := lint.New(a.library()...)
			checker.Local = localModules(a.Process, nil)
			server := lsp.New(checker, a.library()...)
			server.Version, server.Log, server.Module = Version(), a.Process.Stderr, checker.Local
			ctx, release := a.Process.CancelOnSignal(cmd.Context())
			defer release()
			if !server.Serve(ctx, editor{a.Process.Stdin, a.Stdout}) && ctx.Err() == nil {
				return &vm.Exit{Code: runtime.ExitRaised} // as the protocol demands without shutdown
			}
			return nil
		},
	}
	cmd.Flags().Bool("stdio", true, "use standard input and output; the only way, which some editors ask for")
	cobra.CheckErr(cmd.Flags().MarkHidden("stdio"))
	return cmd
}

// editor is the connection to an editor.
type editor struct {
	io.Reader
	io.Writer
}

func (editor) Close() error { return nil } // the process ends

// localModules finds the file of a module that a script requires, with further folders to
// look in: "" when there is none, a name that begins with @ for a module in Lua inside
// the binary.
func localModules(p *runtime.Process, path []string) func(script, module string) string {
	if len(path) == 0 {
		path = filepath.SplitList(p.Getenv("TRANSECT_PATH"))
	}
	path = slices.Clone(path)
	for i := range path {
		path[i] = p.Path(path[i])
	}
	return func(script, module string) string {
		name := strings.ReplaceAll(module, ".", string(filepath.Separator))
		patterns := luastd.PathOf(p.Path(script), p.Path("."), path, p.Getenv("LUA_PATH"))
		for pattern := range strings.SplitSeq(patterns, ";") {
			file := p.Path(strings.ReplaceAll(pattern, "?", name))
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && file != p.Path(script) {
				return file
			}
		}
		file, _ := scripts.Module(module)
		return file
	}
}
