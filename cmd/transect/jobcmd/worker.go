package jobcmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"transect/client"
	"transect/client/fault"
	"transect/client/human"
	"transect/client/recovery"
	"transect/client/wait"
	"transect/cmd/transect/cli"
	"transect/runtime"
	"transect/runtime/jobs"
	"transect/runtime/jobs/schedule"
	"transect/runtime/jobs/worker"
	"transect/runtime/jobs/worker/monitor"
	"transect/runtime/sandbox"
	"transect/runtime/unattended/notice"
)

func (a commands) worker() *cobra.Command {
	var address, name, policyFile, listen string
	queues := []string{jobs.DefaultQueue}
	slots, grace, sandboxed := 2, 30*time.Second, false
	cmd := &cobra.Command{
		Use:   "worker [flags]",
		Short: "Run submitted jobs on this machine",
		Long: `Run the jobs that were submitted (transect submit) until stopped. A worker
serves the queue default, or those of --queues, and always the queue of its own
name, so that transect submit --on NAME runs a job where the files are.

Each job is a process of its own.

When this machine dies or is cut off, another worker resumes its jobs within half a
minute: they do not repeat what they wrote to the platform (docs/surviving.md).

SIGTERM or Ctrl-C lets running jobs finish within --grace; what is not finished
then is released and resumes elsewhere. A second signal stops at once.

With --listen ADDRESS it says over HTTP whether it lives (/healthz) and takes jobs
(/readyz), and counts for Prometheus (/metrics); nothing of a job's content is shown
(docs/deploy.md).

Jobs have the rights of the worker's user, its logins (transect login) and its
environment, without $TRANSECT_JOBS: whoever may submit jobs may run scripts here.
With --policy FILE scripts access no more than FILE permits, whatever their
manifests and flags say, and only recipients that it names are notified. With
--sandbox they access the folder of their job and the platform, or what --policy
permits, and those without a manifest are refused (docs/jobs.md).`,
		Example: `  transect worker
  transect worker --queues default,ortho --slots 4 --name field-office
  transect worker --jobs postgres://transect@db.example.com/jobs --policy worker.policy.json`,
		Args: cli.ExactArgs(0, ""),
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, release := a.Process.CancelOnSignal(cmd.Context())
		defer release()
		policy, err := workerPolicy(a.Process, policyFile, sandboxed)
		if err != nil {
			return err
		}
		program, err := os.Executable()
		if err != nil {
			return err
		}
		if name == "" {
			if name, err = hostName(); err != nil {
				return err
			}
		}
		counters := &worker.Counters{}
		var state *monitor.Monitor
		if listen != "" {
			state, err = monitor.Start(ctx, listen, monitor.Options{Counters: counters, Name: name, Version: cli.Version(),
				Log: a.Logger()})
			if err != nil {
				return err
			}
			defer state.Close()
		}
		store, err := Open(ctx, a.App, cmd, &address)
		if fault.Transient(err) {
			a.Logger().Warn("the database of the jobs does not answer; the worker waits for it", "error", err)
		}
		for fault.Transient(err) && wait.Sleep(ctx, 2*time.Second) == nil {
			store, err = Open(ctx, a.App, cmd, &address)
		}
		if err != nil {
			return err
		}
		defer store.Close()
		if state != nil {
			state.Use(store)
		}
		if !a.Output.Quiet {
			fmt.Fprintf(a.Process.Stderr, "worker %s: up to %s at a time from the queues %s in %s\n", name,
				human.Count(slots, "job"), strings.Join(append(slices.Clone(queues), name), ", "), store.Name())
			if state != nil {
				fmt.Fprintf(a.Process.Stderr, "worker %s: its state is at http://%s/metrics\n", name, state.Address())
			}
		}
		return worker.Run(ctx, store, worker.Options{
			Name: name, Queues: queues, Slots: slots, Grace: grace, Sandbox: sandboxed, Policy: policy, Version: cli.Version(),
			Program: []string{program}, Folder: filepath.Join(a.Process.StateDir(), "jobs"),
			Env: jobEnvironment(os.Environ()), Secrets: workerSecrets(a.Process, address), Closed: passwordFiles(address),
			Log: a.Logger(), Readable: recovery.Readable(client.Declarations), Counters: counters,
			Beside: []func(context.Context){a.schedules(store, policy)},
		})
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	AddFlag(cmd, &address)
	cli.AddOptions(flags,
		cli.Option{Name: "queues", Kind: "NAMES", Value: jobs.DefaultQueue, Parse: toQueues(&queues),
			Doc: "queues to serve besides the worker's own; several with commas"},
		cli.Option{Name: "slots", Kind: "N", Value: strconv.Itoa(slots), Parse: cli.ToNumber(&slots, 1, 1000),
			Doc: "jobs at the same time"},
		cli.Option{Name: "name", Kind: "NAME", Parse: func(text string) error { name = text; return jobs.CheckQueue(text) },
			Doc: "name of the worker and of its queue; the machine's if left out"},
		cli.Option{Name: "grace", Kind: "duration", Value: grace.String(), Parse: cli.ToDuration(&grace),
			Doc: "on SIGTERM let running jobs continue for at most `DURATION`"})
	flags.StringVar(&listen, "listen", "",
		"serve /healthz, /readyz and /metrics (Prometheus) at `HOST:PORT`, such as 127.0.0.1:9464")
	flags.StringVar(&policyFile, "policy", "", "permit scripts, notices and pings no more than `FILE` does")
	flags.BoolVar(&sandboxed, "sandbox", false,
		"confine scripts to the folder of their job, or to --policy, and refuse those without a manifest")
	return cmd
}

// workerPolicy returns what a worker permits scripts besides their job's folder; nil permits everything.
func workerPolicy(p *runtime.Process, file string, sandboxed bool) (*sandbox.Rules, error) {
	switch {
	case file != "":
		rules, err := sandbox.ReadPolicy(p.AbsPath(file))
		return &rules, err
	case sandboxed:
		return &sandbox.Rules{Sandbox: true, Allow: sandbox.List{sandbox.Op: {"*"}}}, nil
	}
	return nil, nil
}

// schedules fires schedules and sends notices while a worker runs, as far as its policy permits; the rest is
// left to other workers.
func (a commands) schedules(store *jobs.Store, rules *sandbox.Rules) func(context.Context) {
	host, _ := os.Hostname() // not all systems have a name
	log := a.Logger()
	sender := &notice.Sender{Env: a.Process.Env, Environ: jobEnvironment(os.Environ()), Dir: a.Process.Path("."),
		Output: a.Process.Stderr, Host: host, Version: cli.Version()}
	if rules != nil {
		policy := sandbox.NewPolicy(*rules, rules.File, false)
		sender.Permit = func(what string) error { return policy.Permit(sandbox.Notify, what) }
	}
	return func(ctx context.Context) {
		schedule.Run(ctx, store, schedule.Options{Sender: sender, Warn: func(text string) { log.Warn(text) }})
	}
}

// hostName returns the machine's name, as a queue name.
func hostName() (string, error) {
	host, err := os.Hostname()
	if host, _, _ = strings.Cut(host, "."); err == nil {
		err = jobs.CheckQueue(host)
	}
	if err != nil {
		return "", fault.Hinted(fault.Of(&fault.UsageError{}, "the name of this machine is not a valid worker name: %w",
			err), "name the worker with --name")
	}
	return host, nil
}

// jobEnvironment returns the environment without the address of the database.
func jobEnvironment(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return name == "TRANSECT_JOBS" || name == "PGPASSWORD" || name == "PGSSLPASSWORD" || name == "PGPASSFILE" ||
			name == "PGSERVICEFILE"
	})
}

// workerSecrets are values kept out of the logs of jobs.
func workerSecrets(p *runtime.Process, url string) (all []string) {
	password, _ := jobs.Login(url)
	for _, s := range append(runtime.Secrets(p, &runtime.Job{}), password, p.Getenv("PGPASSWORD"),
		p.Getenv("PGSSLPASSWORD"), p.Getenv("TRANSECT_SMTP_PASSWORD")) {
		if len(s) >= 4 { // shorter ones would match ordinary words
			all = append(all, s)
		}
	}
	return all
}

// passwordFiles lists the file with the password of the database.
func passwordFiles(url string) []string {
	if _, file := jobs.Login(url); file != "" {
		return []string{file}
	}
	return nil
}

func toQueues(to *[]string) func(string) error {
	return func(text string) error {
		*to = strings.Split(text, ",")
		for _, name := range *to {
			if err := jobs.CheckQueue(name); err != nil {
				return err
			}
		}
		return nil
	}
}
