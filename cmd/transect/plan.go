package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/runtime"
	"transect/runtime/plan"
	"transect/runtime/unattended"
	"transect/scripts"
)

func (a *app) plan() *cobra.Command {
	job := &runtime.Job{}
	var options unattended.Options
	o := &options.Planning
	cmd := &cobra.Command{
		Use:   "plan [flags] SCRIPT [ARGS...] [-o FILE] [--json]",
		Short: "Show what a script would write, without writing it",
		Long: `Run a script whose reads are real and whose writes are carried out in memory only,
and print what it would create, change, delete, send and order, with the lines of
the script. -o keeps the plan in a file; transect apply FILE carries it out, and
nothing else. docs/plan.md says what a plan can know.

Everyday commands take --plan: they print the plan, ask, and do exactly that.

Exit codes: 0 when nothing would be written, 8 when something would; the others are
those of transect run.`,
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
			if err := a.complete(cmd.Flags(), job); err != nil {
				return err
			}
			if err := completeUnattended(job, &options); err != nil {
				return err
			}
			job.Script, job.Args = args[0], args[1:]
			o.Only, o.Command = true, a.wordsOf("plan")
			return unattended.Run(cmd.Context(), a.process, *job, options)
		},
	}
	a.addRunOptions(cmd.Flags(), job, &options, onCall|onLua|onRun|byItself)
	addOptions(cmd.Flags(), option{name: "output", short: "o", kind: "FILE", parse: toString(&o.Keep),
		doc: "keep the plan in FILE"}, option{name: "json", kind: "bool", parse: toBool(&o.JSON),
		doc: "print the plan as it is kept: JSON, a line for each write"})
	exclusiveManifest(cmd)
	cmd.Flags().SetInterspersed(false)
	return cmd
}

// planFlags takes the flags of transect plan from the end of the script's arguments,
// where people write them as well: those that do not stand before it.
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

// wordsOf are the words of the command line that carry out what a command plans: those
// of the command without the flags of planning.
func (a *app) wordsOf(command string) []string {
	words := slices.Clone(a.process.Args)
	at := slices.Index(words, command)
	if at < 0 {
		return nil
	}
	before, after, plans := words[:at], words[at+1:], command == "plan"
	if plans {
		command = "run"
	}
	var inFront unattended.Planning
	all := append([]string{command}, before...)
	for i := 0; i < len(after); i++ {
		word := after[i]
		switch {
		case plans && isScript(word): // what follows is the script's
			return append(all, planFlags(after[i:], &inFront)...)
		case word == "--plan" && !plans, strings.HasPrefix(word, "--renew-plan="):
		case word == "--json" && plans:
			inFront.JSON = true
		case (word == "-o" || word == "--output") && plans:
			i, inFront.Keep = i+1, word
		case strings.HasPrefix(word, "--output=") && plans:
			inFront.Keep = word
		default:
			all = append(all, word)
		}
	}
	return all
}

// isScript reports whether a word of a command line names a script.
func isScript(word string) bool { return strings.HasSuffix(word, ".lua") || scripts.IsRef(word) }

func (a *app) apply() *cobra.Command {
	var renew, effects bool
	cmd := &cobra.Command{
		Use:   "apply [flags] FILE",
		Short: "Carry out a plan: what is in it, once, and nothing else",
		Long: `Carry out the plan that transect plan -o has kept. First it is compared with the
platform, the script and the files: when something has changed, nothing is sent
(exit code 9). Then the script runs; a write that is not in the plan is refused
before it is sent. Interrupted or killed, transect apply FILE goes on where it
stopped. In the end it names what was planned and is not done (exit code 3).`,
		Example: `  transect apply survey.plan
  transect apply --refresh survey.plan`,
		Args: exactArgs(1, "FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			kept, err := plan.Load(a.process.Path(args[0]))
			if err != nil {
				return err
			}
			file, err := filepath.Abs(a.process.Path(args[0]))
			if err != nil {
				return err
			}
			if len(kept.Command) == 0 {
				return fault.Of(&fault.UsageError{}, "%s does not say which command it is of", args[0])
			}
			flag := "--apply="
			if renew {
				flag = "--renew-plan="
			}
			words := append([]string{kept.Command[0], flag + file}, kept.Command[1:]...)
			if effects {
				words = slices.Insert(words, 1, "--allow-effects")
			}
			return a.startAgain(words, kept.Folder)
		},
	}
	cmd.Flags().BoolVar(&renew, "refresh", false, "plan anew, keep that plan, and show what is different in it")
	cmd.Flags().BoolVar(&effects, "allow-effects", false,
		"let happen what the plan lists outside of the platform: programs, requests, mails")
	return cmd
}
