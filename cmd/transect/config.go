package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/client"
	"transect/client/human"
	"transect/runtime"
	"transect/runtime/unattended"
)

func (a *app) config() *cobra.Command {
	var job, other runtime.Job
	var options unattended.Options
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show which settings are in force and where they are from",
		Long: `Show which settings of the connection are in force and where each is from: a flag,
a variable of the environment, the configuration file or the keyring; and which
files are used. Secrets are never shown. With the flags of a command it shows
what that command would use.

Exit code 2 says that no connection can be made of the settings, and why.`,
		Example: `  transect config
  transect config --profile night --json`,
		Args:              exactArgs(0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, files, unready := runtime.Explain(a.process, job.Connection)
			if files == nil {
				return unready
			}
			run := pflag.NewFlagSet("run", pflag.ContinueOnError)
			callFlags(run, &other)
			a.scriptFlags(run, &other)
			unattendedFlags(run, &other, &options)
			settings = append(settings, a.fromEnvironment(run)...)
			profiles := client.Profiles(job.Connection.Config)
			if asJSON {
				if err := a.printJSON(map[string]any{"settings": settings, "files": files, "profiles": profiles}, "  "); err != nil {
					return err
				}
				return unready
			}
			var rows []human.Row
			for _, s := range settings {
				rows = append(rows, human.Row{s.Name, s.Value, s.From})
			}
			if len(rows) > 0 {
				a.printTable(human.Row{"setting", "value", "from"}, rows)
				fmt.Fprintln(a.stdout)
			}
			rows = nil
			for _, f := range files {
				rows = append(rows, human.Row{f.Name, f.Value})
			}
			for _, name := range profiles {
				rows = append(rows, human.Row{"profile", name})
			}
			a.printTable(human.Row{"file", "path"}, rows)
			return unready
		},
	}
	callFlags(cmd.Flags(), &job)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if v, ok := f.Value.(*optionValue); !ok || !v.resolved {
			f.Hidden = true // not of the connection
		}
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// secretVariables may hold addresses that are secrets.
var secretVariables = map[string]bool{"TRANSECT_PING": true, "TRANSECT_ON_FAILURE": true}

// fromEnvironment lists the flags of transect run that variables set, but for
// those of the connection.
func (a *app) fromEnvironment(flags *pflag.FlagSet) (settings []runtime.Setting) {
	flags.VisitAll(func(f *pflag.Flag) {
		v, ok := f.Value.(*optionValue)
		if !ok || v.env == "" || v.resolved {
			return
		}
		if value := a.process.Getenv(v.env); value != "" {
			if secretVariables[v.env] {
				value = "(set)"
			}
			settings = append(settings, runtime.Setting{Name: v.name, Value: value, From: "$" + v.env})
		}
	})
	return settings
}
