package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/platform"
)

func (a *app) platformReset() *cobra.Command {
	var dir string
	var yes bool
	cmd := &cobra.Command{
		Use:   "reset [flags]",
		Short: "Remove everything in the local platform",
		Long: `Remove the local platform's records and files. The next use starts with an empty
one and new credentials. Nothing else in its folder is touched.`,
		Example: `  transect platform reset
  transect platform reset --dir platform --yes`,
		Args: wants(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, release := a.world.Stoppable(cmd.Context())
			defer release()
			dir, err := a.world.LocalDir(dir)
			if err != nil {
				return err
			}
			if !yes {
				if !a.world.IsTerminal(a.world.Stdin) {
					return fault.Hinted(fault.Of(&fault.UsageError{}, "this removes everything in %s, and there is no terminal to ask on", dir),
						"give --yes if that is meant")
				}
				if yes, err = a.world.Confirm(ctx, "Remove everything in "+dir+"?"); err != nil || !yes {
					return err
				}
			}
			if err := platform.Reset(dir); err != nil {
				return err
			}
			if !a.output.Quiet {
				fmt.Fprintf(a.world.Stderr, "removed the local platform in %s\n", dir)
			}
			return nil
		},
	}
	folderFlag(cmd.Flags(), &dir)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}
