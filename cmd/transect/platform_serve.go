package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/platform"
)

func (a *app) platformServe() *cobra.Command {
	var listen, dir string
	var latency time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "serve [flags]",
		Short: "Answer as a platform over TCP",
		Long: `Serve the local platform over TCP until interrupted. One line is printed when it
is ready: its address, a user with password, an OAuth client with secret, and
the id of the company they belong to.`,
		Example: `  transect platform serve
  transect platform serve --listen 127.0.0.1:8080 --dir platform --json`,
		Args: wants(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, release := a.world.Stoppable(cmd.Context())
			defer release()
			if latency < 0 {
				return fault.Hinted(fault.Of(&fault.UsageError{}, "--latency must not be negative, got %s", latency), "leave it out for none")
			}
			return a.serve(ctx, listen, platform.Options{Dir: dir, Latency: latency}, asJSON)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "`ADDRESS` to listen on; port 0 takes a free one")
	folderFlag(cmd.Flags(), &dir)
	cmd.Flags().DurationVar(&latency, "latency", 0, "answer each request `DURATION` later, to rehearse a platform that is far away")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the line as JSON")
	return cmd
}

func (a *app) serve(ctx context.Context, listen string, options platform.Options, asJSON bool) (err error) {
	if options.Dir, err = a.world.LocalDir(options.Dir); err != nil {
		return err
	}
	log := a.logger()
	options.Logger = log
	p, err := platform.Open(ctx, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "cannot listen on %s: %w", listen, fault.Reason(err)),
			"choose another address with --listen; port 0 takes a free one")
	}
	if at, ok := listener.Addr().(*net.TCPAddr); ok && !at.IP.IsLoopback() {
		log.Warn("other machines can reach this platform, and passwords travel to it unencrypted", "address", at.String())
	}
	if err := a.announce(listener.Addr(), p.Credentials(), asJSON); err != nil {
		return errors.Join(err, listener.Close())
	}
	return p.Serve(ctx, listener)
}

// announce says in one line where the platform is and how to log in.
func (a *app) announce(at net.Addr, c platform.Credentials, asJSON bool) error {
	line := struct {
		URL string `json:"url"`
		platform.Credentials
	}{"http://" + at.String(), c}
	if asJSON {
		return json.NewEncoder(a.stdout()).Encode(line)
	}
	_, err := fmt.Fprintf(a.stdout(), "ready at %s user=%s password=%s client_id=%s client_secret=%s company=%s\n",
		line.URL, c.User, c.Password, c.ClientID, c.ClientSecret, c.Company)
	return err
}

// logger writes what the platform has to tell to the error stream.
func (a *app) logger() *slog.Logger {
	options := &slog.HandlerOptions{Level: a.output.Level()}
	if a.output.JSON {
		return slog.New(slog.NewJSONHandler(a.world.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(a.world.Stderr, options))
}
