package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
	}
	group(cmd)
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
