package main

import (
	"io"

	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/runtime/reference"
)

func (a *app) doc() *cobra.Command {
	var asJSON bool
	var markdown string
	cmd := &cobra.Command{
		Use:   "doc [flags] [NAME]",
		Short: "Show the reference of managers, operations, modules and functions",
		Long: `Show the reference. NAME is a manager, an operation, a module or a function;
without it, all managers and modules are listed. For an operation: description,
arguments with types and defaults, results and errors, its effect on the
platform, and a complete example.`,
		Example: `  transect doc
  transect doc projects
  transect doc projects.create
  transect doc json.encode
  transect doc --json | jq '.managers[].operations[] | select(.effect == "delete") | .signature'`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeNames((*reference.Reference).Names),
		RunE: func(_ *cobra.Command, args []string) error {
			c := reference.New()
			if markdown != "" {
				return cannotWrite(reference.Replace(markdown, c.Markdown(), ".md", ""))
			}
			if len(args) == 0 {
				return a.show(c, c.Overview().WriteText, asJSON)
			}
			group, entry, err := c.Find(args[0])
			switch {
			case err != nil:
				return err
			case entry != nil:
				return a.show(entry, entry.Document().WriteText, asJSON)
			}
			return a.show(group, group.Document().WriteText, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON; without NAME the whole reference")
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
