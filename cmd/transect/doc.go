package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/runtime/reference"
)

func (a *app) doc() *cobra.Command {
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
them searches filter and sort by.`,
		Example: `  transect doc
  transect doc projects
  transect doc projects.create
  transect doc json.encode
  transect doc Dataset
  transect doc filter
  transect doc cookbook
  transect doc --search failed ingestion
  transect doc --json | jq '.managers[].operations[] | select(.effect == "delete") | .signature'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if search && strings.TrimSpace(strings.Join(args, "")) == "" {
				return fault.Hinted(fault.Of(&fault.UsageError{}, "no words to search for"), "such as: transect doc --search failed ingestion")
			} else if search {
				return nil
			}
			return cobra.MaximumNArgs(1)(cmd, args)
		},
		ValidArgsFunction: completeNames((*reference.Reference).Names),
		RunE: func(_ *cobra.Command, args []string) error {
			c := reference.New()
			if markdown != "" {
				return cannotWrite(reference.Replace(markdown, c.Markdown(), ".md", ""))
			}
			if search {
				found, err := c.Search(args)
				if err != nil {
					return err
				}
				return found.WriteText(a.stdout)
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
	cmd.Flags().BoolVarP(&search, "search", "s", false, "list what is documented with all of the words")
	cmd.Flags().StringVar(&markdown, "markdown", "", "write the reference to `DIR`, as go generate does")
	cobra.CheckErr(cmd.Flags().MarkHidden("markdown"))
	return cmd
}

func (a *app) show(v any, text func(io.Writer) error, asJSON bool) error {
	if asJSON {
		return a.printJSON(v, "  ")
	}
	return text(a.stdout)
}

// completeNames completes names of the reference.
func completeNames(names func(*reference.Reference) []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(reference.New()), cobra.ShellCompDirectiveNoFileComp
	}
}

func cannotWrite(err error) error {
	if err == nil {
		return nil
	}
	return fault.Of(&fault.FileError{}, "%w", err)
}
