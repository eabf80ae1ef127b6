package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"transect/client/fault"
	textedit "transect/runtime/editor"
	"transect/runtime/unattended/cron"
	"transect/runtime/vm"
)

func (a *App) cronRun() *cobra.Command {
	return &cobra.Command{
		Use: "run NAME", Short: "Run a job now",
		Long: `Run a job now as cron would, in its folder and with the few variables that cron
sets, but with its output on the terminal. It exits with the run's exit code.`,
		Example: "  transect cron run nightly", Args: ExactArgs(1, "NAME"), ValidArgsFunction: a.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			j, t, err := a.cronJob(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			command := j.Command
			if folder, env, words, err := j.Words(); err == nil {
				words = slices.DeleteFunc(words, func(w string) bool { return w == "--quiet" })
				command = cron.Command(folder, env, words)
			}
			return a.runJob(command, t.Environment(j.Name))
		},
	}
}

// runJob runs a command with the environment of cron.
func (a *App) runJob(command string, env []string) error {
	if err := a.makeLogFolder(); err != nil {
		return err
	}
	shell := exec.Command("/bin/sh", "-c", command)
	shell.Env = []string{"SHELL=/bin/sh", "PATH=/usr/bin:/bin"}
	for _, name := range []string{"HOME", "LOGNAME", "USER"} {
		if value, ok := a.Process.Env(name); ok {
			shell.Env = append(shell.Env, name+"="+value)
		}
	}
	shell.Env = append(shell.Env, env...)
	shell.Stdout, shell.Stderr = a.Process.Stdout, a.Process.Stderr
	if err := shell.Start(); err != nil {
		return fault.Of(&fault.ConfigError{}, "cannot start the shell: %w", err)
	}
	ended := make(chan struct{})
	defer close(ended)
	defer a.Process.AwaitSignals()()
	go func() {
		for {
			select {
			case signal := <-a.Process.Signals:
				if signal != os.Interrupt || !a.Process.IsTerminal(a.Process.Stdin) { // Ctrl-C goes to the whole foreground group
					_ = shell.Process.Signal(signal) // it may have ended
				}
			case <-ended:
				return
			}
		}
	}()
	err := shell.Wait()
	if status, ok := shell.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return &vm.Exit{Code: 128 + int(status.Signal())}
	}
	if code := shell.ProcessState.ExitCode(); code != 0 {
		return &vm.Exit{Code: code}
	}
	return err
}

func (a *App) cronPause() *cobra.Command {
	return a.cronSwitch("pause", "Pause a job", "Pause a job: its line in the crontab is commented out.", "paused",
		(*cron.Job).Paused)
}

func (a *App) cronResume() *cobra.Command {
	return a.cronSwitch("resume", "Resume a paused job", "Resume a paused job: its line in the crontab is active again.",
		"resumed", (*cron.Job).Resumed)
}

func (a *App) cronSwitch(name, short, long, done string, change func(*cron.Job) *cron.Job) *cobra.Command {
	return &cobra.Command{
		Use: name + " NAME", Short: short, Long: long,
		Example: "  transect cron " + name + " nightly", Args: ExactArgs(1, "NAME"), ValidArgsFunction: a.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			var j *cron.Job
			err := a.ChangeCrontab(cmd.Context(), func(t *cron.Table) (err error) {
				if j, err = t.Find(args[0]); err == nil {
					j = change(j)
					t.Add(j)
				}
				return err
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Stdout, "%s %s\n", done, j.Name)
			if !j.Off {
				a.PrintTimes(j.Times, a.Process.Now(), ShowTimes)
			}
			return nil
		},
	}
}

func (a *App) cronRemove() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Remove a job", Long: "Remove a job from the user's crontab. Its logs are kept.",
		Example: "  transect cron remove nightly", Args: ExactArgs(1, "NAME"), ValidArgsFunction: a.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			err := a.ChangeCrontab(cmd.Context(), func(t *cron.Table) error {
				if _, err := t.Find(args[0]); err != nil {
					return err
				}
				t.Remove(args[0])
				return nil
			})
			if err == nil {
				fmt.Fprintf(a.Stdout, "removed %s\n", args[0])
			}
			return err
		},
	}
}

func (a *App) cronEdit() *cobra.Command {
	var when string
	cmd := &cobra.Command{
		Use: "edit [--when EXPR] NAME", Short: "Change a job",
		Long: `Change the time and the arguments of a job in the editor ($VISUAL, $EDITOR or
vi), or its time with --when. The job is checked like a new one. Its folder, its
variables and whether it is paused stay as they are.`,
		Example: `  transect cron edit nightly
  transect cron edit --when '0 4 * * *' nightly`,
		Args: ExactArgs(1, "NAME"), ValidArgsFunction: a.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			j, _, err := a.cronJob(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			changed, err := a.editJob(cmd.Context(), j, when)
			switch {
			case err != nil:
				return err
			case changed.Line == j.Line:
				fmt.Fprintf(a.Process.Stderr, "%s is unchanged\n", j.Name)
				return nil
			}
			err = a.ChangeCrontab(cmd.Context(), func(t *cron.Table) error {
				if now, err := t.Find(j.Name); err != nil || now.Line != j.Line {
					return fault.Hinted(fault.Of(&fault.UsageError{}, "the job %s changed in the meantime", j.Name), "edit it again")
				}
				t.Add(changed)
				return nil
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Stdout, "changed %s\n", j.Name)
			if !changed.Off {
				a.PrintTimes(changed.Times, a.Process.Now(), ShowTimes)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&when, "when", "", "the new time, a cron expression; no editor is started")
	return cmd
}

// editJob returns the job with another time, or as edited by the user.
func (a *App) editJob(ctx context.Context, j *cron.Job, when string) (*cron.Job, error) {
	folder, env, words, err := j.Words()
	if err != nil {
		return nil, err
	}
	presets := a.cronPresets(j.Name, nil)
	rest := slices.DeleteFunc(words[2:], func(w string) bool { return slices.Contains(presets, w) })
	if when == "" {
		note := fmt.Sprintf("# The job %s runs in %s. The line below is its time and the arguments of transect run.\n",
			j.Name, folder)
		text, err := textedit.Edit(ctx, a.Process, "job-*.txt", note+j.Expr+" "+cron.Join(rest)+"\n")
		if err != nil {
			return nil, err
		}
		if when, rest, err = splitEdited(text); err != nil {
			return nil, err
		}
	}
	changed, err := a.newCronJob(ctx, j.Name, when, folder, env, rest)
	if err == nil && j.Off {
		changed = changed.Paused()
	}
	return changed, err
}

// splitEdited splits the edited line into the time and the arguments.
func splitEdited(text string) (when string, rest []string, err error) {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	if len(lines) != 1 {
		return "", nil, fault.Hinted(fault.Of(&fault.UsageError{}, "the job must be one line, not %d; it is unchanged",
			len(lines)), "transect cron remove removes a job")
	}
	when, line := cron.CutExpr(lines[0])
	if line == "" {
		return "", nil, fault.Of(&fault.UsageError{}, "the script is missing; the job is unchanged")
	}
	rest, err = cron.Split(line)
	return when, rest, err
}
