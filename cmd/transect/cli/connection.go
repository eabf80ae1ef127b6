package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/client"
	"transect/client/fault"
	"transect/client/human/tabular"
	"transect/runtime"
	"transect/runtime/account"
	"transect/runtime/unattended"
)

func (a *App) login() *cobra.Command {
	var job runtime.Job
	var byClient, byToken bool
	cmd := &cobra.Command{
		Use:   "login [flags] [URL]",
		Short: "Log in to a platform and save the login",
		Long: `Log in to a platform and save the login for later commands. Missing values are
asked for; passwords are not shown. The login is tried before it is saved: its
secret in the system's keyring if there is one, otherwise in the configuration
file, which only you can read. TRANSECT_KEYRING=off always uses the file.

With --profile the login becomes a profile: transect ls --profile NAME.

Exit codes: 0 logged in, 4 the platform refuses the login, 5 it cannot be reached;
then nothing is saved.`,
		Example: `  transect login https://platform.example.com
  transect login --url https://platform.example.com --user me --password-file secret.txt
  transect login --client platform.example.com --profile night`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return ExactArgs(1, "")(cmd, args)
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if url := job.Connection.URL; url != "" && url != args[0] {
					return fault.Of(&fault.UsageError{}, "two platforms are named: %s and %s", url, args[0])
				}
				job.Connection.URL = args[0]
			}
			if err := a.Complete(cmd.Flags(), &job); err != nil {
				return err
			}
			kind := ""
			switch {
			case byClient:
				kind = "client"
			case byToken:
				kind = "token"
			}
			return account.Login(cmd.Context(), a.Process, job, kind)
		},
	}
	cmd.Flags().BoolVar(&byClient, "client", false, "log in as an OAuth client: its id and secret")
	cmd.Flags().BoolVar(&byToken, "token", false, "log in with an access token")
	cmd.MarkFlagsMutuallyExclusive("client", "token")
	a.CallFlags(cmd.Flags(), &job)
	for _, name := range []string{"connections", "bwlimit", "rate", "stall-timeout", "dry-run", "local", "local-dir",
		"revision"} {
		cobra.CheckErr(cmd.Flags().MarkHidden(name))
	}
	return cmd
}

func (a *App) logout() *cobra.Command {
	var config, profile string
	cmd := &cobra.Command{
		Use:   "logout",
		Short: "Forget a login",
		Long: `Forget a login: it is removed from the configuration file, its secret from the
system's keyring. Other settings in the file are kept.`,
		Example: `  transect logout
  transect logout --profile night`,
		Args:              ExactArgs(0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			return account.Logout(a.Process, config, profile)
		},
	}
	cmd.Flags().StringVar(&config, "config", "", "configuration `FILE`, instead of the default one")
	cmd.Flags().StringVar(&profile, "profile", "", "forget the login of the profile `NAME`")
	return cmd
}

// inForce is what transect config prints with --json.
type inForce struct {
	Files    []account.Setting `json:"files"`
	Profiles []string          `json:"profiles"`
	Settings []account.Setting `json:"settings"`
}

func (a *App) config() *cobra.Command {
	var job, other runtime.Job
	var options unattended.Options
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show which settings are in force and where they come from",
		Long: `Show which connection settings are in force and where each comes from: a flag, an
environment variable, the configuration file or the keyring; and which files are
used. Secrets are never shown. With the flags of a command it shows what that
command would use.

Exit code 2 means that the settings do not allow a connection; the reason is
printed. Naming no platform at all is reported, but is not a failure.`,
		Example: `  transect config
  transect config --profile night --json`,
		Args:              ExactArgs(0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			settings, files, unready := account.Explain(a.Process, job.Connection)
			if files == nil {
				return unready
			}
			if errors.Is(unready, client.ErrNoConnection) {
				facts := fault.Find(unready).Facts()
				defer fmt.Fprintf(a.Process.Stderr, "%s\n  hint: %s\n", facts.Message, facts.Hint)
				unready = nil
			}
			run := pflag.NewFlagSet("run", pflag.ContinueOnError)
			a.AddRunOptions(run, &other, &options, OnCall|OnLua|OnRun)
			settings = append(settings, a.fromEnvironment(run)...)
			profiles := client.Profiles(job.Connection.Config)
			if asJSON {
				if err := a.PrintJSON(inForce{files, profiles, settings}, "  "); err != nil {
					return err
				}
				return unready
			}
			var rows []tabular.Row
			for _, s := range settings {
				rows = append(rows, tabular.Row{s.Name, s.Value, s.From})
			}
			if len(rows) > 0 {
				a.PrintTable(tabular.Row{"setting", "value", "from"}, rows)
				fmt.Fprintln(a.Stdout)
			}
			rows = nil
			for _, f := range files {
				rows = append(rows, tabular.Row{f.Name, f.Value})
			}
			for _, name := range profiles {
				rows = append(rows, tabular.Row{"profile", name})
			}
			a.PrintTable(tabular.Row{"file", "path"}, rows)
			return unready
		},
	}
	a.CallFlags(cmd.Flags(), &job)
	optionsOf(cmd.Flags(), func(f *pflag.Flag, v *OptionValue) { f.Hidden = !v.Resolved }) // of the connection
	JSONFlag[inForce](cmd, &asJSON, "print JSON")
	return cmd
}

// fromEnvironment lists the flags of transect run that are set by variables, except connection flags.
func (a *App) fromEnvironment(flags *pflag.FlagSet) (settings []account.Setting) {
	optionsOf(flags, func(_ *pflag.Flag, v *OptionValue) {
		if v.Env == "" || v.Resolved {
			return
		}
		if value := a.Process.Getenv(v.Env); value != "" {
			if v.Where&Secret != 0 {
				value = "(set)"
			}
			settings = append(settings, account.Setting{Name: v.Name, Value: value, From: "$" + v.Env})
		}
	})
	return settings
}
