// Package pagecmd adds transect ui, the page of a platform, to the command line.
package pagecmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"transect/client"
	"transect/client/fault"
	"transect/client/transport/httpserve"
	"transect/cmd/transect/cli"
	"transect/cmd/transect/jobcmd"
	"transect/runtime"
	"transect/runtime/jobs"
	"transect/runtime/jobs/setting"
	"transect/runtime/plan"
	"transect/runtime/tty"
	"transect/runtime/web"
)

// pageOutage is how long a request of the page is repeated during an outage; short, so that the user learns
// of it.
const pageOutage = 2 * time.Second

// Part adds the command ui.
type Part struct{}

// Commands returns the command of the part.
func (Part) Commands(a *cli.App) []cli.Command {
	return []cli.Command{{Name: "ui", Group: cli.Everyday, Declare: command{a}.ui}}
}

// command declares transect ui.
type command struct{ *cli.App }

// PageOptions are what a page needs besides its connection.
type PageOptions struct {
	Listen, tiles string
	actions, open bool
	login         []string    // options with the same login
	jobs          *jobs.Store // nil shows none
}

func (a command) ui() *cobra.Command {
	var job runtime.Job
	var o PageOptions
	var address string
	cmd := &cobra.Command{
		Use:   "ui [flags] [FOLDER]",
		Short: "Open a page with the map, the data, the runs and the jobs",
		Long: `Serve a page for a browser: the map, the datasets and products of the platform,
and the runs of this machine. With a FOLDER it also shows what is in it and what
its check says, before anything is sent. It shows the plans (*.plan) of the current
folder, and the jobs of the state folder where there are any, or those of the
database that --jobs=URL or TRANSECT_JOBS names, with workers, schedules and live
logs.

When it is ready, one line with an address is printed. The address opens one
browser; press Enter for another address. The page changes nothing, unless
--allow-actions is given. It ends with Ctrl-C.`,
		Example: `  transect ui --local
  transect ui --local --open testdata/flight
  transect ui --profile staging --listen 127.0.0.1:8090 --allow-actions
  transect ui --jobs=postgres://me@db.example.com/jobs`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fault.Hinted(fault.Of(&fault.UsageError{}, "unexpected argument %s", args[1]),
					"one FOLDER at most; quote a name with spaces")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.Complete(cmd.Flags(), &job); err != nil {
				return err
			}
			if len(args) == 1 && address == jobsOfUser && strings.Contains(args[0], "://") {
				address, args = args[0], nil // --jobs URL, not --jobs FOLDER
			}
			folder := ""
			if len(args) == 1 {
				folder = a.Process.Path(args[0])
				if info, err := os.Stat(folder); err != nil {
					return fault.Of(&fault.UsageError{}, "cannot read the folder %s: %w", args[0], fault.Reason(err))
				} else if !info.IsDir() {
					return fault.Hinted(fault.Of(&fault.UsageError{}, "%s is not a folder", args[0]), "name the folder that it is in")
				}
			}
			if job.Transfers.MaxOutage == nil {
				outage := pageOutage
				job.Transfers.MaxOutage = &outage
			}
			store, err := a.pageJobs(cmd, &address)
			if err != nil {
				return err
			}
			if o.jobs = store; store != nil {
				defer store.Close()
			}
			o.login = a.Typed(cmd.Flags())
			return a.servePage(cmd.Context(), job, o, folder)
		},
	}
	PageFlags(cmd, &o)
	cmd.Flags().BoolVar(&o.open, "open", false, "open the page in the browser of this desktop")
	cmd.Flags().StringVar(&o.Listen, "listen", "127.0.0.1:0", "`ADDRESS` to listen on; port 0 chooses a free one")
	jobcmd.AddFlag(cmd, &address)
	cmd.Flags().Lookup("jobs").NoOptDefVal = jobsOfUser
	a.CallFlags(cmd.Flags(), &job)
	for _, name := range []string{"dry-run", "timeout", "revision"} {
		cobra.CheckErr(cmd.Flags().MarkHidden(name))
	}
	return cmd
}

// jobsOfUser is the value of --jobs without an address: TRANSECT_JOBS, or the state folder.
const jobsOfUser = "here"

// pageJobs opens the jobs database for the page: the named one, or the state folder's if it exists.
func (a command) pageJobs(cmd *cobra.Command, address *string) (*jobs.Store, error) {
	if *address == jobsOfUser {
		*address = ""
		cmd.Flags().Lookup("jobs").Changed = false
	} else if *address == "" && a.Process.Getenv("TRANSECT_JOBS") == "" {
		if _, err := os.Stat(filepath.Join(a.Process.StateDir(), jobs.File)); err != nil {
			return nil, nil
		}
	}
	return jobcmd.Open(cmd.Context(), a.App, cmd, address)
}

// PageFlags adds the flags that a page has in each command that serves one.
func PageFlags(cmd *cobra.Command, o *PageOptions) {
	cmd.Flags().BoolVar(&o.actions, "allow-actions", false,
		"allow the page to delete and restore datasets, order, carry out plans and run again, each after a confirmation")
	cli.AddOptions(cmd.Flags(), cli.Option{Name: "tiles", Kind: "URL", Parse: toTiles(&o.tiles),
		Doc: "background of the map: a template of tiles, such as https://tile.example.com/{z}/{x}/{y}.png; browsers load " +
			"them from that host"})
}

// toTiles accepts the template of a tile's URL.
func toTiles(to *string) func(string) error {
	return func(text string) error {
		if !setting.IsWebURL(text) || !strings.Contains(text, "{z}") || !strings.Contains(text, "{x}") ||
			!strings.Contains(text, "{y}") {
			return errors.New("write a web URL with {z}, {x} and {y}, such as https://tile.example.com/{z}/{x}/{y}.png")
		}
		*to = text
		return nil
	}
}

// Page makes the page over a connection, for a listener.
func Page(ctx context.Context, a *cli.App, c *client.Client, label, folder string, listener net.Listener,
	o PageOptions) (*web.Server, error) {
	store, err := a.History()
	if err != nil {
		return nil, err
	}
	var names []string
	if name, _, err := net.SplitHostPort(o.Listen); err == nil && name != "" {
		names = append(names, strings.ToLower(name))
	}
	plans := []string{a.Process.Path("."), plan.Folder(a.Process.StateDir())}
	if folder != "" {
		plans = append(plans, folder)
	}
	return web.New(ctx, web.Options{Client: c, Names: names, Platform: label, History: store, Folder: folder, Plans: plans,
		Cache:   filepath.Join(a.Process.StateDir(), "pictures"),
		Actions: o.actions, Again: runAgain, Login: o.login, Tiles: o.tiles, JobStore: o.jobs,
		Listen: listener.Addr().String(), Version: cli.Version(), Env: a.Process.Env, Now: a.Process.Now, Logger: a.Logger()})
}

func (a command) servePage(ctx context.Context, job runtime.Job, o PageOptions, folder string) error {
	listener, err := httpserve.Listen(ctx, o.Listen)
	if err != nil {
		return err
	}
	defer listener.Close()
	if !httpserve.IsLocal(listener) {
		a.Logger().Warn("other machines can reach this page, and its data travels unencrypted; ssh -L reaches a loopback "+
			"address safely", "address", listener.Addr().String())
	}
	served := false
	serve := func(ctx context.Context, c *client.Client, label string) error {
		page, err := Page(ctx, a.App, c, label, folder, listener, o)
		if err != nil {
			return err
		}
		served = true
		if err := a.printAddress(page, o.open); err != nil {
			return err
		}
		go a.moreAddresses(page)
		return httpserve.Server{Handler: page, Logger: a.Logger()}.Serve(ctx, listener)
	}
	err = runtime.Connected(ctx, a.Process, job, serve)
	if (folder != "" || o.jobs != nil) && errors.Is(err, client.ErrNoConnection) {
		a.Logger().Info("no platform is connected: the page shows what is on this machine, and the jobs")
		ctx, release := a.Process.CancelOnSignal(ctx)
		defer release()
		return serve(ctx, nil, "no platform")
	}
	if interrupted := (*runtime.Interrupted)(nil); served && errors.As(err, &interrupted) {
		return nil // the way to end it
	}
	return err
}

// printAddress prints a new address of the page, and opens it if requested.
func (a command) printAddress(page *web.Server, open bool) error {
	address := page.Address()
	if _, err := fmt.Fprintln(a.Stdout, address); err != nil || !open {
		return err
	}
	if err := openBrowser(address); err != nil {
		a.Logger().Warn("no browser could be opened: open the address above", "reason", err)
	}
	return nil
}

// moreAddresses prints an address for each line of a terminal.
func (a command) moreAddresses(page *web.Server) {
	if !a.Process.IsTerminal(a.Process.Stdin) {
		return
	}
	if !a.Output.Quiet {
		fmt.Fprintln(a.Process.Stderr, "Enter prints the address for another browser, Ctrl-C ends")
	}
	for lines := bufio.NewScanner(a.Process.Stdin); lines.Scan(); {
		if a.printAddress(page, false) != nil {
			return
		}
	}
}

func openBrowser(address string) error {
	switch goruntime.GOOS {
	case "darwin":
		return exec.Command("open", address).Start()
	case "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", address).Start()
	}
	return exec.Command("xdg-open", address).Start()
}

// runAgain starts this program in a folder with the arguments of an earlier run. The process outlives the
// Page and is recorded in the history.
func runAgain(folder string, arguments []string) error {
	program, err := os.Executable()
	if err != nil {
		return fault.Of(&fault.ConfigError{}, "the program cannot be found: %w", err)
	}
	cmd := exec.Command(program, arguments...)
	cmd.Dir = folder
	tty.Detach(cmd)
	if err := cmd.Start(); err != nil {
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "cannot run it again in %s: %w", folder, fault.Reason(err)),
			"the folder may have been moved: run the command in a shell")
	}
	go func() { _ = cmd.Wait() }() // its exit code is in the history
	return nil
}
