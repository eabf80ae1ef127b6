package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/runtime/reference"
)

func (a *app) init() *cobra.Command {
	var only bool
	cmd := &cobra.Command{
		Use:   "init [flags] DIR",
		Short: "Create a project folder with editor support",
		Long: `Create a project folder: a first script, a README, and the files that let editors
with lua-language-server complete names and mark misspelt arguments: .luarc.json
and the definitions in .transect/meta.

Existing files are never overwritten: then nothing is written. --definitions
writes only the definitions, to update them after an update of transect.`,
		Example: `  transect init survey
  transect init --definitions .`,
		Args: exactArgs(1, "DIR"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(_ *cobra.Command, args []string) error {
			dir := a.process.Path(args[0])
			if !only {
				if err := makeProject(dir, args[0]); err != nil {
					return err
				}
			}
			meta := filepath.Join(dir, filepath.FromSlash(reference.MetaFolder))
			if err := cannotWrite(reference.Refresh(meta)); err != nil {
				return err
			}
			if !a.output.Quiet {
				fmt.Fprintf(a.process.Stderr, "wrote %s\n", args[0])
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&only, "definitions", false, "write only the definitions for editors")
	return cmd
}

// makeProject writes the first files of a project, or none when one exists.
func makeProject(dir, named string) error {
	files := reference.Project()
	var existing []string
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(dir, f.Path)); err == nil {
			existing = append(existing, f.Path)
		}
	}
	if len(existing) > 0 {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "%s already contains %s", named, strings.Join(existing, ", ")),
			"nothing was written; to update only the definitions for editors: transect init --definitions %s", named)
	}
	return cannotWrite(reference.Write(dir, files))
}
