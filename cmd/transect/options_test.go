package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/cmd/transect/cli"
	"transect/runtime"
	"transect/runtime/jobs/setting"
	"transect/runtime/unattended"
)

// subcommand finds a subcommand with its flags.
func subcommand(t *testing.T, words ...string) *cobra.Command {
	t.Helper()
	p := &runtime.Process{Env: func(string) (string, bool) { return "", false }, Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}, Args: words}
	cmd, _, err := newCommandLine(p).Root(nil).Find(words)
	if err != nil || cmd.Name() != words[len(words)-1] {
		t.Fatal(words, err)
	}
	return cmd
}

// An option of a run is declared once, and is a flag of each command where it applies.
func TestEachOptionOfARunAppearsWhereItApplies(t *testing.T) {
	places := map[cli.Where][]*cobra.Command{
		cli.OnCall: {subcommand(t, "run"), subcommand(t, "api"), subcommand(t, "find")},
		cli.OnLua:  {subcommand(t, "run"), subcommand(t, "eval"), subcommand(t, "test"), subcommand(t, "find")},
		cli.OnRun:  {subcommand(t, "run"), subcommand(t, "find")}, cli.OnJob: {subcommand(t, "submit"), subcommand(t, "schedule", "add"), subcommand(t, "schedule", "edit")},
		cli.ByItself: {subcommand(t, "run")},
	}
	a := newCommandLine(&runtime.Process{Env: func(string) (string, bool) { return "", false }})
	for place, commands := range places {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		a.AddRunOptions(flags, &runtime.Job{}, &unattended.Options{}, place)
		flags.VisitAll(func(f *pflag.Flag) {
			for _, cmd := range commands {
				flag := cmd.Flags().Lookup(f.Name)
				switch {
				case flag == nil:
					t.Errorf("%s has no --%s", cmd.CommandPath(), f.Name)
				case flag.Usage != f.Usage && cmd.Name() != "test" && cmd.Name() != "find":
					t.Errorf("%s: --%s is %q", cmd.CommandPath(), f.Name, flag.Usage)
				}
			}
		})
	}
	accepted, carried := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	a.AddRunOptions(accepted, &runtime.Job{}, &unattended.Options{}, cli.OnJob)
	a.AddRunOptions(carried, &runtime.Job{}, &unattended.Options{}, cli.Travels)
	carried.VisitAll(func(f *pflag.Flag) {
		if accepted.Lookup(f.Name) == nil {
			t.Errorf("--%s travels with jobs, but no command that makes one has it", f.Name)
		}
	})
}

// A setting of a job is a flag of each command that makes or changes one.
func TestEachSettingOfAJobAppearsWhereItApplies(t *testing.T) {
	var s setting.Settings
	for _, d := range s.List() {
		for _, cmd := range []*cobra.Command{subcommand(t, "submit"), subcommand(t, "schedule", "add"), subcommand(t, "schedule", "edit")} {
			flag := cmd.Flags().Lookup(d.Name)
			if flag == nil || !strings.HasPrefix(flag.Usage, d.Doc) || d.Env != "" && !strings.HasSuffix(flag.Usage, "[$"+d.Env+"]") {
				t.Errorf("%s: --%s is %v", cmd.CommandPath(), d.Name, flag)
			}
		}
	}
}

// What is given to submit travels in one encoding; what a variable says does not.
func TestJobsCarryTheFlagsThatWereGiven(t *testing.T) {
	cmd := subcommand(t, "submit")
	err := cmd.ParseFlags([]string{"--rate", "5", "--deny=read=/a", "-n", "--deny", "read=/b", "--path=lib", "--timeout=3h", "--key", "k", "survey.lua", "--trace"})
	if got := cli.Carried(cmd.Flags()); err != nil || !slices.Equal(got, []string{"--rate=5", "--dry-run=true", "--deny=read=/a", "--deny=read=/b"}) {
		t.Errorf("%q, %v", got, err)
	}
}
