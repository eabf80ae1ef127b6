package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/client/fault"
)

func (a *app) platform() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "platform",
		Short: "Serve or reset the local platform",
		Long: `The local platform answers the same operations as a remote one, from a folder on
this machine. Scripts use it with transect run --local, or over TCP with
transect platform serve.`,
		Example: `  transect platform serve
  transect platform reset --yes`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return fault.Hinted(fault.Of(&fault.UsageError{}, "unknown command platform %s", args[0]), "%s", nearestCommand(cmd, args[0]))
		},
	}
	cmd.AddCommand(a.platformServe(), a.platformReset())
	return cmd
}

// folderFlag names the folder of the local platform. What other commands call
// it is understood too.
func folderFlag(flags *pflag.FlagSet, dir *string) {
	flags.Var(text{dir, "DIR"}, "dir", "folder of the local platform [$TRANSECT_LOCAL_DIR]")
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "local-dir" {
			name = "dir"
		}
		return pflag.NormalizedName(name)
	})
}
