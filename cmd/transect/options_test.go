package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"transect/runtime"
	"transect/runtime/jobs/setting"
	"transect/runtime/unattended"
)

// subcommand finds a subcommand with its flags.
func subcommand(t *testing.T, words ...string) *cobra.Command {
	t.Helper()
	p := &runtime.Process{Env: func(string) (string, bool) { return "", false }, Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}, Args: words}
	cmd, _, err := newApp(p).root(nil).Find(words)
	if err != nil || cmd.Name() != words[len(words)-1] {
		t.Fatal(words, err)
	}
	return cmd
}

// An option of a run is declared once, and is a flag of each command where it applies.
func TestEachOptionOfARunAppearsWhereItApplies(t *testing.T) {
	places := map[where][]*cobra.Command{
		onCall: {subcommand(t, "run"), subcommand(t, "api"), subcommand(t, "find")},
		onLua:  {subcommand(t, "run"), subcommand(t, "eval"), subcommand(t, "test"), subcommand(t, "find")},
		onRun:  {subcommand(t, "run"), subcommand(t, "find")}, onJob: {subcommand(t, "submit"), subcommand(t, "schedule", "add"), subcommand(t, "schedule", "edit")},
		byItself: {subcommand(t, "run")},
	}
	a := newApp(&runtime.Process{Env: func(string) (string, bool) { return "", false }})
	for _, o := range a.runOptions(&runtime.Job{}, &unattended.Options{}) {
		for place, commands := range places {
			for _, cmd := range commands {
				flag := cmd.Flags().Lookup(o.name)
				switch {
				case o.where&place == 0:
				case flag == nil:
					t.Errorf("%s has no --%s", cmd.CommandPath(), o.name)
				case !strings.HasPrefix(flag.Usage, o.doc) && cmd.Name() != "test" && cmd.Name() != "find":
					t.Errorf("%s: --%s is %q", cmd.CommandPath(), o.name, flag.Usage)
				}
			}
		}
		if o.where&travels != 0 && o.where&onJob == 0 {
			t.Errorf("--%s travels with jobs, but no command that makes one has it", o.name)
		}
	}
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
	if got := carried(cmd.Flags()); err != nil || !slices.Equal(got, []string{"--rate=5", "--dry-run=true", "--deny=read=/a", "--deny=read=/b"}) {
		t.Errorf("%q, %v", got, err)
	}
}
