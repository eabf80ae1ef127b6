package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/client/fault"
	"transect/client/human"
	"transect/client/ledger"
	"transect/runtime"
	"transect/runtime/plan"
	"transect/runtime/runledger"
	"transect/runtime/unattended"
	"transect/runtime/unattended/cron"
)

func (a *App) plan() *cobra.Command {
	job := &runtime.Job{}
	var options unattended.Options
	o := &options.Planning
	cmd := &cobra.Command{
		Use:   "plan [flags] SCRIPT [ARGS...] [-o FILE] [--json]",
		Short: "Show what a script would write, without writing it",
		Long: `Run a script whose reads are real and whose writes are carried out in memory only,
and print what it would create, change, delete, send and order, with the lines of
the script. -o saves the plan in a file; transect plan show FILE prints it again, and
transect apply FILE carries it out, and nothing else. docs/plan.md explains what a
plan can know.

Everyday commands accept --plan: they print the plan, ask, and do exactly that.

Exit codes: 0 when nothing would be written, 8 when something would; otherwise as
for transect run.`,
		Example: `  transect plan --local scripts/survey.lua testdata/flight
  transect plan --local survey.lua flight/ -o survey.plan
  transect plan survey.lua flight/ --json
  transect put card/DCIM 'North quarry' --plan`,
		ValidArgsFunction: a.completeScript(job),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args = planFlags(args, o); len(args) == 0 {
				return fault.Hinted(fault.Of(&fault.UsageError{}, "no script was named"),
					"such as: transect plan survey.lua flight/")
			}
			if err := a.Complete(cmd.Flags(), job); err != nil {
				return err
			}
			if err := completeUnattended(job, &options); err != nil {
				return err
			}
			job.Script, job.Args = args[0], args[1:]
			o.Only, o.Options, o.By = true, given(cmd.Flags(), InPlan), a.UserName()
			return unattended.Run(cmd.Context(), a.Process, *job, options)
		},
	}
	a.AddRunOptions(cmd.Flags(), job, &options, OnCall|OnLua|OnRun|ByItself)
	AddOptions(cmd.Flags(), Option{Name: "output", Short: "o", Kind: "FILE", Parse: ToString(&o.Keep),
		Doc: "save the plan in FILE"}, Option{Name: "json", Kind: "bool", Parse: toBool(&o.JSON),
		Doc: "print the plan as it is saved: JSON, one line per write"})
	exclusiveManifest(cmd)
	cmd.Args = cobra.ArbitraryArgs
	cmd.Flags().SetInterspersed(false)
	cmd.AddCommand(a.showPlan())
	return cmd
}

// planFlags takes the flags of transect plan from the end of the script's arguments, where people also write
// them.
func planFlags(args []string, o *unattended.Planning) []string {
	for n := len(args); ; n = len(args) {
		switch {
		case o.Keep == "" && n > 2 && (args[n-2] == "-o" || args[n-2] == "--output"):
			o.Keep, args = args[n-1], args[:n-2]
		case o.Keep == "" && n > 1 && strings.HasPrefix(args[n-1], "--output="):
			o.Keep, args = strings.TrimPrefix(args[n-1], "--output="), args[:n-1]
		case !o.JSON && n > 1 && args[n-1] == "--json":
			o.JSON, args = true, args[:n-1]
		default:
			return args
		}
	}
}

func (a *App) apply() *cobra.Command {
	job := &runtime.Job{}
	var options unattended.Options
	var renew, trust bool
	cmd := &cobra.Command{
		Use:   "apply [flags] FILE",
		Short: "Carry out a plan: what is in it, once, and nothing else",
		Long: `Carry out a plan that transect plan -o has saved. First it is compared with the
platform, the script and the files: when something has changed, nothing is sent
(exit code 9). Then the script runs; a write that is not in the plan is refused
before it is sent. After an interruption, transect apply FILE continues where it
stopped. At the end it lists what was planned and not done (exit code 3).

A plan holds the script, its arguments, the platform, limits and permissions. Logging
and the login are given here, as for transect run. What is given here overrides the
plan.

A plan that was made by another user, on another machine, or was changed since, is
only printed; --trust carries it out, with the script that it names.`,
		Example: `  transect apply survey.plan
  transect apply --refresh survey.plan
  transect apply --log-file survey.log --report report.json survey.plan
  transect plan show theirs.plan
  transect apply --trust theirs.plan`,
		Args: ExactArgs(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			agreed, err := a.AgreedPlan(args[0], trust)
			if err != nil {
				return err
			}
			carried, err := a.OptionsOfPlan(cmd.Flags(), job, agreed)
			if err != nil {
				return err
			}
			flag := "--apply="
			if renew {
				flag = "--renew-plan="
			}
			words := slices.Concat([]string{"run"}, a.outputFlags(), carried, a.Typed(cmd.Flags()),
				[]string{flag + agreed.Sum + ":" + a.Process.AbsPath(args[0]), "--", agreed.Script}, agreed.Arguments)
			return a.StartAgain(words, agreed.Folder)
		},
	}
	cmd.Flags().BoolVar(&renew, "refresh", false, "plan again, save that plan, and show the differences")
	cmd.Flags().BoolVar(&trust, "trust", false, "carry out a plan that was not made by you on this machine")
	a.AddRunOptions(cmd.Flags(), job, &options, OnCall|OnLua|OnRun|ByItself)
	optionsOf(cmd.Flags(), func(f *pflag.Flag, v *OptionValue) {
		if v.Where&Looking != 0 {
			v.Parse = func(string) error {
				return fmt.Errorf("transect apply has no --%s, transect plan has", v.Name)
			}
			f.Hidden = true
		} else if v.Name == "allow-effects" {
			f.Hidden = false
		}
	})
	exclusiveManifest(cmd)
	return cmd
}

// Typed returns the run options given on the command line, with absolute paths.
func (a *App) Typed(flags *pflag.FlagSet) (words []string) {
	optionsOf(flags, func(f *pflag.Flag, v *OptionValue) {
		for _, text := range v.given {
			if v.Kind == "FILE" || v.Kind == "DIR" {
				text = a.Process.AbsPath(text)
			}
			if f.Changed && v.Where != 0 && v.Where&Looking == 0 {
				words = append(words, "--"+v.Name+"="+text)
			}
		}
	})
	return words
}

// outputFlags returns the global flags given to this command.
func (a *App) outputFlags() (words []string) {
	if a.Output.Quiet {
		words = append(words, "--quiet")
	}
	if a.Output.Verbose {
		words = append(words, "--verbose")
	}
	if a.Output.JSON {
		words = append(words, "--log-format=json")
	}
	return words
}

// loadPlan reads a plan of any origin. It accepts only options that a plan can have, with valid values.
func (a *App) loadPlan(file string) (*plan.Plan, error) {
	key, err := ledger.FindKey(runledger.Folder(a.Process))
	if err != nil {
		return nil, err
	}
	p, err := plan.Load(a.Process.Path(file), key)
	if err != nil {
		return nil, err
	}
	flags := pflag.NewFlagSet("plan", pflag.ContinueOnError)
	a.AddRunOptions(flags, &runtime.Job{}, &unattended.Options{}, InPlan)
	for _, word := range p.Options {
		name, value := SplitOption(word)
		err := fmt.Errorf("a plan has no option --%s", name)
		if f := flags.Lookup(name); f != nil {
			err = f.Value.Set(value)
		}
		if err != nil {
			return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "%s cannot be used: %s: %s", human.Line(file),
				human.Line(word), human.Line(err.Error())), "plan again")
		}
	}
	return p, nil
}

// SplitOption splits --name=value.
func SplitOption(word string) (name, value string) {
	name, value, _ = strings.Cut(strings.TrimPrefix(word, "--"), "=")
	return name, value
}

// AgreedPlan reads a plan that may be carried out: the user's own, or one trusted with --trust.
func (a *App) AgreedPlan(file string, trust bool) (*plan.Plan, error) {
	p, err := a.loadPlan(file)
	if err != nil || p.Own {
		return p, err
	}
	printPlan(a.Process.Stderr, p)
	if trust {
		return p, nil
	}
	return nil, fault.Hinted(fault.Of(&fault.UsageError{},
		"%s was not made by you on this machine, or was changed since: nothing was sent", human.Line(file)),
		"review it: transect plan show %[1]s; if you trust it, carry it out: transect apply --trust %[1]s",
		human.Line(file))
}

// insteadOf maps options of a plan to the given options that replace them. Other given options are added, or
// override.
var insteadOf = map[string][]string{"local": namingPlatform, "url": namingPlatform, "profile": platformOptions,
	"allow": {"allow", "sandbox"}}

var namingPlatform = append([]string{"config"}, platformOptions...)

// OptionsOfPlan returns the options of a plan that the given ones do not replace. A given login is not used
// for a platform that only the plan names.
func (a *App) OptionsOfPlan(given *pflag.FlagSet, job *runtime.Job, p *plan.Plan) (words []string, err error) {
	for _, word := range p.Options {
		name, value := SplitOption(word)
		if slices.ContainsFunc(insteadOf[name], func(other string) bool {
			f := given.Lookup(other)
			return f != nil && f.Changed
		}) {
			continue
		}
		if name == "url" {
			if err := runtime.CheckPlanned(a.Process, job.Connection, value); err != nil {
				return nil, err
			}
		}
		words = append(words, word)
	}
	return words, nil
}

// toAgreed parses a plan file and the checksum of its approved content.
func toAgreed(to *unattended.Agreed) func(string) error {
	return func(text string) error {
		var found bool
		if to.Sum, to.File, found = strings.Cut(text, ":"); !found || to.File == "" {
			return fmt.Errorf("write SHA256:FILE")
		}
		return nil
	}
}

// shownPlan is a plan as --json prints it.
type shownPlan struct {
	Own bool `json:"own"`
	plan.Head
	Code    []plan.Code   `json:"code"`
	Files   []plan.File   `json:"files"`
	Reads   []*plan.Read  `json:"reads"`
	Effects []plan.Effect `json:"effects"`
	Writes  []*plan.Write `json:"writes"`
}

func (a *App) showPlan() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show FILE [--json]",
		Short: "Print a saved plan, without contacting a platform",
		Long: `Print a plan saved in a file: whether it was made by you on this machine, the script
with its arguments, options and platforms, and what it would do. No platform is
contacted. For a plan that is not yours, what it would send is printed as well.`,
		Example: `  transect plan show survey.plan
  transect plan show --json survey.plan`,
		Args: ExactArgs(1, "FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := a.loadPlan(args[0])
			if err != nil {
				return err
			}
			if !asJSON {
				printPlan(a.Stdout, p)
				return nil
			}
			return a.PrintJSON(shownPlan{p.Own, p.Head, p.Code, p.Files, p.Reads, p.Effects, p.Writes}, "  ")
		},
	}
	JSONFlag[shownPlan](cmd, &asJSON, "print a JSON object")
	return cmd
}

// printPlan prints a plan with its head.
func printPlan(out io.Writer, p *plan.Plan) {
	fact := func(name, text string) {
		if text != "" {
			fmt.Fprintf(out, "%-10s %s\n", name, human.Line(text))
		}
	}
	who := "you, on this machine"
	if !p.Own {
		who = "not you on this machine, or changed since"
		if p.By != "" {
			who += "; it says: " + p.By
		}
	}
	fact("made by", who)
	fact("made", p.Made.Local().Format(time.DateTime)+" with transect "+p.Version)
	fact("command", cron.Join(p.Words("run")))
	fact("folder", p.Folder)
	for _, login := range p.Platforms {
		text := login.URL
		if login.User != "" {
			text += " as user " + login.User
		}
		fact("platform", text)
	}
	for _, c := range p.Code {
		fact("code", c.File)
	}
	if !p.Own {
		for _, w := range p.Writes {
			fact("sends", fmt.Sprintf("%d: %s %s on %s", w.Number, w.Operation, w.Arguments, w.Platform))
		}
	}
	fmt.Fprintln(out)
	p.Print(out)
}
