// Package platformcmd adds transect platform, which serves the local platform with its page, to the command line.
package platformcmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/client"
	"transect/client/fault"
	"transect/client/transport/httpserve"
	"transect/cmd/transect/cli"
	"transect/cmd/transect/pagecmd"
	"transect/platform"
	"transect/runtime/local"
	"transect/runtime/web"
)

// Part adds the command platform.
type Part struct{}

// Commands returns the command of the part.
func (Part) Commands(a *cli.App) []cli.Command {
	return []cli.Command{{Name: "platform", Declare: command{a}.platform}}
}

// command declares transect platform.
type command struct{ *cli.App }

func (a command) platform() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "platform",
		Short: "Serve or reset the local platform",
		Long: `The local platform answers the same operations as a remote one, from a folder on
this machine. Scripts use it with transect run --local, or over TCP with
transect platform serve.`,
		Example: `  transect platform serve
  transect platform reset --yes`,
	}
	cli.Group(cmd)
	cmd.AddCommand(a.platformServe(), a.platformReset())
	return cmd
}

// folderFlag adds --dir, also under the name that other commands use.
func folderFlag(flags *pflag.FlagSet, dir *string) {
	cli.AddOptions(flags, cli.Option{Name: "dir", Env: "TRANSECT_LOCAL_DIR", Kind: "DIR",
		Doc: "folder of the local platform", Resolved: true, Parse: cli.ToString(dir)})
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "local-dir" {
			name = "dir"
		}
		return pflag.NormalizedName(name)
	})
}

func (a command) platformReset() *cobra.Command {
	var dir string
	var yes bool
	cmd := &cobra.Command{
		Use:   "reset [flags]",
		Short: "Remove everything in the local platform",
		Long: `Remove the local platform's records and files. The next use starts with an empty
one and new credentials. Other files in its folder are kept. A platform that is
served is left alone.`,
		Example: `  transect platform reset
  transect platform reset --dir platform --yes`,
		Args: cli.ExactArgs(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, release := a.Process.CancelOnSignal(cmd.Context())
			defer release()
			dir, err := local.Dir(a.Process, dir)
			if err != nil {
				return err
			}
			if !yes {
				if !a.Process.IsTerminal(a.Process.Stdin) {
					return fault.Hinted(fault.Of(&fault.UsageError{},
						"this removes everything in %s, and there is no terminal to confirm it", dir),
						"give --yes to confirm")
				}
				if yes, err = a.Process.Confirm(ctx, "Remove everything in "+dir+"?"); err != nil || !yes {
					return err
				}
			}
			if err := platform.Reset(dir); err != nil {
				return err
			}
			if !a.Output.Quiet {
				fmt.Fprintf(a.Process.Stderr, "removed the local platform in %s\n", dir)
			}
			return nil
		},
	}
	folderFlag(cmd.Flags(), &dir)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	return cmd
}

func (a command) platformServe() *cobra.Command {
	var listen, dir string
	var latency, keep time.Duration
	var asJSON bool
	var page pagecmd.PageOptions
	cmd := &cobra.Command{
		Use:   "serve [flags]",
		Short: "Serve the local platform over TCP",
		Long: `Serve the local platform over TCP until interrupted. When it is ready, one line
is printed: its address, a user with password, an OAuth client with secret, the
id of their company, and the address of its page, as transect ui shows it. That
address opens one browser.`,
		Example: `  transect platform serve
  transect platform serve --listen 127.0.0.1:8080 --dir platform --json`,
		Args: cli.ExactArgs(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			ctx, release := a.Process.CancelOnSignal(cmd.Context())
			defer release()
			if dir, err = local.Dir(a.Process, dir); err != nil {
				return err
			}
			if !cmd.Flags().Changed("keep-deleted") {
				if keep, err = local.KeepDeleted(a.Process); err != nil {
					return err
				}
			}
			page.Listen = listen
			return a.serve(ctx, listen, platform.Options{Dir: dir, KeepDeleted: keep, Latency: latency, Logger: a.Logger()},
				page, asJSON)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "`ADDRESS` to listen on; port 0 chooses a free one")
	folderFlag(cmd.Flags(), &dir)
	cli.AddOptions(cmd.Flags(), cli.Option{Name: "keep-deleted", Kind: "duration",
		Doc: "free the disk of datasets deleted `DURATION` ago, which can be restored until then (TRANSECT_KEEP_DELETED; " +
			"168h, a week, if left out)", Parse: cli.ToDuration(&keep)})
	cli.AddOptions(cmd.Flags(), cli.Option{Name: "latency", Kind: "duration",
		Doc: "delay each response by `DURATION`, to simulate a remote platform", Parse: cli.ToDuration(&latency)})
	cli.JSONFlag[ready](cmd, &asJSON, "print the line as JSON")
	pagecmd.PageFlags(cmd, &page)
	return cmd
}

// ready is the line that is printed when the platform is ready.
type ready struct {
	URL string `json:"url"`
	platform.Credentials
	Page string `json:"page,omitempty"`
}

func (a command) serve(ctx context.Context, address string, options platform.Options, o pagecmd.PageOptions,
	asJSON bool) (err error) {
	p, err := platform.Open(ctx, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	listener, err := httpserve.Listen(ctx, address)
	if err != nil {
		return err
	}
	if !httpserve.IsLocal(listener) {
		options.Logger.Warn("other machines can reach this platform, and passwords are sent to it unencrypted", "address",
			listener.Addr().String())
	}
	ready := ready{URL: "http://" + listener.Addr().String(), Credentials: p.Credentials()}
	handler := p.Handler()
	if page, err := a.platformPage(ctx, p, listener, o); err != nil {
		options.Logger.Warn("the platform is served without its page", "reason", err)
	} else {
		handler, ready.Page = page.Over(handler), page.Address()
	}
	if asJSON {
		err = a.PrintJSON(ready, "")
	} else {
		_, err = fmt.Fprintf(a.Stdout, "ready at %s user=%s password=%s client_id=%s client_secret=%s company=%s page=%s\n",
			ready.URL, ready.User, ready.Password, ready.ClientID, ready.ClientSecret, ready.Company, ready.Page)
	}
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	return p.Serve(ctx, listener, handler)
}

// platformPage serves the page of a served platform.
func (a command) platformPage(ctx context.Context, p *platform.Platform, listener net.Listener,
	o pagecmd.PageOptions) (*web.Server, error) {
	made := p.Credentials()
	c, err := client.New(ctx, client.Settings{URL: platform.Address, User: made.User, Password: made.Password},
		client.Options{Version: cli.Version(), Env: a.Process.Env, RoundTripper: p.RoundTripper()})
	if err != nil {
		return nil, err
	}
	return pagecmd.Page(ctx, a.App, c, "local platform", "", listener, o)
}
