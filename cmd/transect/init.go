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
		Short: "Make a project folder that editors understand",
		Long: `Make a project folder: a script to start from, a README, and what an editor with
lua-language-server needs to complete names and to mark misspelt arguments:
.luarc.json and the definitions in .transect/meta.

Files that exist are never overwritten: nothing is written then. Only the
definitions are written anew; --definitions does that alone, for a folder that
has everything else, after an update of transect.`,
		Example: `  transect init survey
  transect init --definitions .`,
		Args: wants(1, "DIR"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(_ *cobra.Command, args []string) error {
			dir := args[0]
			if a.world.Dir != "" && !filepath.IsAbs(dir) {
				dir = filepath.Join(a.world.Dir, dir)
			}
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
				fmt.Fprintf(a.world.Stderr, "wrote %s\n", args[0])
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&only, "definitions", false, "write only the definitions for editors")
	return cmd
}

// makeProject writes the files a project starts with, or none of them when one
// exists.
func makeProject(dir, named string) error {
	files := reference.Project()
	var there []string
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(dir, f.Path)); err == nil {
			there = append(there, f.Path)
		}
	}
	if len(there) > 0 {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "%s holds already: %s", named, strings.Join(there, ", ")),
			"nothing was written; to renew the definitions for editors alone: transect init --definitions %s", named)
	}
	return cannotWrite(reference.Write(dir, files))
}
