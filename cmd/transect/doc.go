package main

import (
	"encoding/json"
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
		Short: "Show what scripts can use: managers, operations, modules, functions",
		Long: `Show what scripts can use. NAME is a manager, an operation, a module or a
function; without it, all managers and modules are listed. Of an operation are
told: what it does, its arguments with their types and defaults, what it returns
and raises, its effect on the platform, and an example that runs.`,
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
				return show(a.stdout(), c, c.WriteList, asJSON)
			}
			group, entry, err := c.Find(args[0])
			switch {
			case err != nil:
				return err
			case entry != nil:
				return show(a.stdout(), entry, entry.WriteText, asJSON)
			}
			return show(a.stdout(), group, group.WriteText, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: without NAME the whole catalogue")
	cmd.Flags().StringVar(&markdown, "markdown", "", "write the reference into `DIR`, as go generate does")
	cobra.CheckErr(cmd.Flags().MarkHidden("markdown"))
	return cmd
}

func show(out io.Writer, v any, text func(io.Writer) error, asJSON bool) error {
	if !asJSON {
		return text(out)
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// completeNames completes names of the catalogue.
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
