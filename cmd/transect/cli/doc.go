package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/runtime/reference"
)

func (a *App) doc() *cobra.Command {
	var asJSON, search bool
	var markdown string
	cmd := &cobra.Command{
		Use:   "doc [flags] [NAME | --search WORDS…]",
		Short: "Show the reference of operations, records, modules and functions",
		Long: `Show the reference. NAME is a manager, an operation, a module or a function, a
record such as Dataset, a guide such as filter, or a recipe of the cookbook;
without it, all names are listed. For an operation: description, arguments with
types and defaults, results and errors, its effect on the platform, and a
complete example. For a record: its fields with types and units, and which of
them searches can filter and sort by.`,
		Example: `  transect doc
  transect doc projects
  transect doc projects.create
  transect doc json.encode
  transect doc lib.find
  transect doc Dataset
  transect doc filter
  transect doc python
  transect doc cookbook
  transect doc --search failed ingestion
  transect doc --json | jq '.managers[].operations[] | select(.effect == "delete") | .signature'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if search && strings.TrimSpace(strings.Join(args, "")) == "" {
				return fault.Hinted(fault.Of(&fault.UsageError{}, "no words to search for"),
					"such as: transect doc --search failed ingestion")
			} else if search {
				return nil
			}
			return cobra.MaximumNArgs(1)(cmd, args)
		},
		ValidArgsFunction: a.completeNames((*reference.Reference).Names),
		RunE: func(_ *cobra.Command, args []string) error {
			c := reference.New(a.library()...)
			if markdown != "" {
				return cannotWrite(reference.Replace(markdown, c.Markdown(), ".md", ""))
			}
			if search {
				found, err := c.Search(args)
				if err != nil {
					return err
				}
				return found.WriteText(a.Stdout)
			}
			if len(args) == 0 {
				return a.show(c, c.Overview().WriteText, asJSON)
			}
			document, value, err := c.Lookup(args[0])
			if err != nil {
				return err
			}
			return a.show(value, document.WriteText, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON; without NAME the whole reference")
	cmd.Flags().BoolVarP(&search, "search", "s", false, "list what contains all of the words")
	cmd.Flags().StringVar(&markdown, "markdown", "", "write the reference to `DIR`, as go generate does")
	cobra.CheckErr(cmd.Flags().MarkHidden("markdown"))
	return cmd
}

func (a *App) show(v any, text func(io.Writer) error, asJSON bool) error {
	if asJSON {
		return a.PrintJSON(v, "  ")
	}
	return text(a.Stdout)
}

// completeNames completes names of the reference.
func (a *App) completeNames(names func(*reference.Reference) []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(reference.New(a.library()...)), cobra.ShellCompDirectiveNoFileComp
	}
}

func cannotWrite(err error) error {
	if err == nil {
		return nil
	}
	return fault.Of(&fault.FileError{}, "%w", err)
}

func (a *App) init() *cobra.Command {
	var only bool
	cmd := &cobra.Command{
		Use:   "init [flags] DIR",
		Short: "Create a project folder with editor support",
		Long: `Create a project folder: a first script with its test, a README, and the settings
with which Visual Studio Code, Zed and Neovim use transect lsp, and all but Zed
transect dap. Other editors find definitions for lua-language-server in
.transect/meta.

Existing files are never overwritten: then nothing is written. --definitions
writes only the definitions, to update them after an update of transect.`,
		Example: `  transect init survey
  transect init --definitions .`,
		Args: ExactArgs(1, "DIR"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(_ *cobra.Command, args []string) error {
			dir := a.Process.Path(args[0])
			if !only {
				if err := makeProject(dir, args[0]); err != nil {
					return err
				}
			}
			meta := filepath.Join(dir, filepath.FromSlash(reference.MetaFolder))
			if err := cannotWrite(reference.Refresh(meta)); err != nil {
				return err
			}
			if !a.Output.Quiet {
				fmt.Fprintf(a.Process.Stderr, "wrote %s\n", args[0])
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&only, "definitions", false, "write only the definitions for editors")
	return cmd
}

// makeProject writes the first files of a project, or nothing when one of them exists.
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
