package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/client"
	"transect/client/fault"
	"transect/client/transport/httpserve"
	"transect/platform"
	"transect/runtime/local"
	"transect/runtime/web"
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

// folderFlag adds --dir, also under the name that other commands use.
func folderFlag(flags *pflag.FlagSet, dir *string) {
	addOptions(flags, option{name: "dir", env: "TRANSECT_LOCAL_DIR", kind: "DIR", doc: "folder of the local platform",
		resolved: true, parse: toString(dir)})
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "local-dir" {
			name = "dir"
		}
		return pflag.NormalizedName(name)
	})
}

func (a *app) platformReset() *cobra.Command {
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
		Args: exactArgs(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, release := a.process.CancelOnSignal(cmd.Context())
			defer release()
			dir, err := local.Dir(a.process, dir)
			if err != nil {
				return err
			}
			if !yes {
				if !a.process.IsTerminal(a.process.Stdin) {
					return fault.Hinted(fault.Of(&fault.UsageError{},
						"this removes everything in %s, and there is no terminal to confirm it", dir),
						"give --yes to confirm")
				}
				if yes, err = a.process.Confirm(ctx, "Remove everything in "+dir+"?"); err != nil || !yes {
					return err
				}
			}
			if err := platform.Reset(dir); err != nil {
				return err
			}
			if !a.output.Quiet {
				fmt.Fprintf(a.process.Stderr, "removed the local platform in %s\n", dir)
			}
			return nil
		},
	}
	folderFlag(cmd.Flags(), &dir)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	return cmd
}

func (a *app) platformServe() *cobra.Command {
	var listen, dir string
	var latency, keep time.Duration
	var asJSON bool
	var page pageOptions
	cmd := &cobra.Command{
		Use:   "serve [flags]",
		Short: "Serve the local platform over TCP",
		Long: `Serve the local platform over TCP until interrupted. When it is ready, one line
is printed: its address, a user with password, an OAuth client with secret, the
id of their company, and the address of its page, as transect ui shows it. That
address opens one browser.`,
		Example: `  transect platform serve
  transect platform serve --listen 127.0.0.1:8080 --dir platform --json`,
		Args: exactArgs(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			ctx, release := a.process.CancelOnSignal(cmd.Context())
			defer release()
			if dir, err = local.Dir(a.process, dir); err != nil {
				return err
			}
			if !cmd.Flags().Changed("keep-deleted") {
				if keep, err = local.KeepDeleted(a.process); err != nil {
					return err
				}
			}
			page.listen = listen
			return a.serve(ctx, listen, platform.Options{Dir: dir, KeepDeleted: keep, Latency: latency, Logger: a.logger()},
				page, asJSON)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "`ADDRESS` to listen on; port 0 chooses a free one")
	folderFlag(cmd.Flags(), &dir)
	addOptions(cmd.Flags(), option{name: "keep-deleted", kind: "duration",
		doc: "free the disk of datasets deleted `DURATION` ago, which can be restored until then (TRANSECT_KEEP_DELETED; " +
			"168h, a week, if left out)", parse: toDuration(&keep)})
	addOptions(cmd.Flags(), option{name: "latency", kind: "duration",
		doc: "delay each response by `DURATION`, to simulate a remote platform", parse: toDuration(&latency)})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the line as JSON")
	pageFlags(cmd, &page)
	return cmd
}

func (a *app) serve(ctx context.Context, address string, options platform.Options, o pageOptions,
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
	ready := struct {
		URL string `json:"url"`
		platform.Credentials
		Page string `json:"page,omitempty"`
	}{URL: "http://" + listener.Addr().String(), Credentials: p.Credentials()}
	handler := p.Handler()
	if page, err := a.platformPage(ctx, p, listener, o); err != nil {
		options.Logger.Warn("the platform is served without its page", "reason", err)
	} else {
		handler, ready.Page = page.Over(handler), page.Address()
	}
	if asJSON {
		err = a.printJSON(ready, "")
	} else {
		_, err = fmt.Fprintf(a.stdout, "ready at %s user=%s password=%s client_id=%s client_secret=%s company=%s page=%s\n",
			ready.URL, ready.User, ready.Password, ready.ClientID, ready.ClientSecret, ready.Company, ready.Page)
	}
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	return p.Serve(ctx, listener, handler)
}

// platformPage serves the page of a served platform.
func (a *app) platformPage(ctx context.Context, p *platform.Platform, listener net.Listener,
	o pageOptions) (*web.Server, error) {
	made := p.Credentials()
	c, err := client.New(ctx, client.Settings{URL: platform.Address, User: made.User, Password: made.Password},
		client.Options{Version: version(), Env: a.process.Env, RoundTripper: p.RoundTripper()})
	if err != nil {
		return nil, err
	}
	return a.page(ctx, c, "local platform", "", listener, o)
}

// logger logs the messages of the platform to standard error.
func (a *app) logger() *slog.Logger {
	options := &slog.HandlerOptions{Level: a.output.Level()}
	if a.output.JSON {
		return slog.New(slog.NewJSONHandler(a.process.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(a.process.Stderr, options))
}
