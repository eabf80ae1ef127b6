package main

import (
	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/runtime"
)

func (a *app) login() *cobra.Command {
	var job runtime.Job
	var byClient, byToken bool
	cmd := &cobra.Command{
		Use:   "login [flags] [URL]",
		Short: "Log in to a platform and keep the login",
		Long: `Log in to a platform and keep the login for later commands. What is not given is
asked for; passwords are not shown. The login is tried before it is kept: its
secret in the system's keyring where there is one, else in the configuration
file, which only you can read. TRANSECT_KEYRING=off always takes the file.

With --profile the login becomes a profile: transect ls --profile NAME.

Exit codes: 0 logged in, 4 the platform refuses the login, 5 it cannot be reached;
then nothing is kept.`,
		Example: `  transect login https://platform.example.com
  transect login --url https://platform.example.com --user me --password-file secret.txt
  transect login --client platform.example.com --profile night`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return exactArgs(1, "")(cmd, args)
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
			if err := a.complete(cmd.Flags(), &job); err != nil {
				return err
			}
			kind := ""
			switch {
			case byClient:
				kind = "client"
			case byToken:
				kind = "token"
			}
			return runtime.Login(cmd.Context(), a.process, job, kind)
		},
	}
	cmd.Flags().BoolVar(&byClient, "client", false, "log in as an OAuth client: its id and secret")
	cmd.Flags().BoolVar(&byToken, "token", false, "log in with an access token")
	cmd.MarkFlagsMutuallyExclusive("client", "token")
	callFlags(cmd.Flags(), &job)
	for _, name := range []string{"connections", "bwlimit", "rate", "stall-timeout", "dry-run", "local", "local-dir", "revision"} {
		cobra.CheckErr(cmd.Flags().MarkHidden(name))
	}
	return cmd
}

func (a *app) logout() *cobra.Command {
	var config, profile string
	cmd := &cobra.Command{
		Use:   "logout",
		Short: "Forget a login",
		Long: `Forget a login: it is removed from the configuration file, its secret from the
system's keyring. Other settings of the file stay.`,
		Example: `  transect logout
  transect logout --profile night`,
		Args:              exactArgs(0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			return runtime.Logout(a.process, config, profile)
		},
	}
	cmd.Flags().StringVar(&config, "config", "", "configuration `FILE`, instead of the default one")
	cmd.Flags().StringVar(&profile, "profile", "", "forget the login of the profile `NAME`")
	return cmd
}
