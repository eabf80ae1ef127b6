package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/runtime"
	"transect/runtime/lint"
	"transect/runtime/vm"
)

func (a *app) check() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check [flags] FILE...",
		Short: "Find mistakes in scripts without running them",
		Long: `Find mistakes in scripts without running them: syntax, variables that do not
exist, unknown managers, operations, functions and arguments, arguments of the
wrong type, values of calls that give none, conditions that are always the same,
loops over what is no iterator, variables nobody reads, statements nothing
reaches, and more. Of a folder, all .lua files below it are checked; - is
standard input. A line that ends with "-- check: ignore" is left alone.

Exit codes: 0 nothing was found, 1 something was, 2 a file cannot be read.`,
		Example: `  transect check survey.lua
  transect check --json scripts/ | jq -r '.[].message'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fault.Hinted(fault.Of(&fault.UsageError{}, "no script was named"), "write it like: transect check survey.lua")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.checkScripts(args, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON list of what was found")
	return cmd
}

func (a *app) checkScripts(args []string, asJSON bool) error {
	files, err := a.scripts(args)
	if err != nil {
		return err
	}
	checker := lint.New()
	checker.Local = a.moduleBeside
	problems, wrong := []lint.Problem{}, 0
	for _, file := range files {
		code, err := a.script(file)
		if err != nil {
			return err
		}
		found := checker.Script(file, code)
		if len(found) > 0 {
			wrong++
		}
		problems = append(problems, found...)
	}
	if err := a.showProblems(problems, asJSON); err != nil {
		return err
	}
	if wrong > 0 {
		if !asJSON && !a.output.Quiet {
			fmt.Fprintf(a.world.Stderr, "%s in %d of %s\n", plural(len(problems), "problem"), wrong, plural(len(files), "script"))
		}
		return &vm.Exit{Code: runtime.ExitRaised}
	}
	return nil
}

func (a *app) showProblems(problems []lint.Problem, asJSON bool) error {
	if asJSON {
		out := json.NewEncoder(a.stdout())
		out.SetEscapeHTML(false)
		out.SetIndent("", "  ")
		return out.Encode(problems)
	}
	for _, p := range problems {
		text := p.Message
		if p.Hint != "" {
			text += " (" + p.Hint + ")"
		}
		if _, err := fmt.Fprintf(a.stdout(), "%s:%d:%d: %s [%s]\n", p.File, p.Line, p.Column, text, p.Rule); err != nil {
			return err
		}
	}
	return nil
}

// scripts names the files that were meant, folders searched.
func (a *app) scripts(args []string) ([]string, error) {
	var files []string
	for _, arg := range args {
		info, err := os.Stat(a.path(arg))
		switch {
		case arg == "-":
			files = append(files, arg)
			continue
		case err != nil:
			return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "cannot read %s: %w", arg, fault.Reason(err)), "check the path")
		case !info.IsDir():
			files = append(files, arg)
			continue
		}
		err = filepath.WalkDir(a.path(arg), func(path string, entry os.DirEntry, err error) error {
			if hidden := err == nil && entry.IsDir() && path != a.path(arg) && strings.HasPrefix(entry.Name(), "."); hidden {
				return filepath.SkipDir // what an editor reads, or a version control keeps
			}
			if err != nil || entry.IsDir() {
				return err
			}
			if filepath.Ext(path) == ".lua" {
				within, err := filepath.Rel(a.path(arg), path)
				files = append(files, filepath.Join(arg, within))
				return err
			}
			return nil
		})
		if err != nil {
			return nil, fault.Of(&fault.UsageError{}, "cannot read %s: %w", arg, fault.Reason(err))
		}
	}
	return files, nil
}

func (a *app) script(file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(a.world.Stdin)
	}
	code, err := os.ReadFile(a.path(file))
	if err != nil {
		return nil, fault.Of(&fault.UsageError{}, "cannot read %s: %w", file, fault.Reason(err))
	}
	return code, nil
}

// moduleBeside tells whether require finds a module in the script's folder or
// one of TRANSECT_PATH.
func (a *app) moduleBeside(script, module string) bool {
	name := strings.ReplaceAll(module, ".", string(filepath.Separator))
	more, _ := a.world.Env("TRANSECT_PATH")
	for _, dir := range append([]string{filepath.Dir(script)}, filepath.SplitList(more)...) {
		for _, file := range []string{name + ".lua", filepath.Join(name, "init.lua")} {
			if _, err := os.Stat(a.path(filepath.Join(dir, file))); err == nil {
				return true
			}
		}
	}
	return false
}

func (a *app) path(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.world.Dir, path)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
