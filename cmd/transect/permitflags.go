package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/runtime"
	"transect/runtime/sandbox"
)

// wallFlags adds the flags that say what a script may reach.
func (a *app) wallFlags(cmd *cobra.Command, job *runtime.Job) {
	flags := cmd.Flags()
	rules := &job.Walls.Rules
	rules.Allow, rules.Deny = sandbox.List{}, sandbox.List{}
	flags.Var(&ruleFlag{a, rules.Allow, nil}, "allow", "let the script reach only `KIND=WHAT` of a kind: read=DIR, write=DIR, net=HOST[:PORT], env=NAME, run=sh, ops=datasets.*; several with commas, may be repeated")
	flags.Var(&ruleFlag{a, rules.Deny, nil}, "deny", "keep the script from `KIND=WHAT`, whatever is allowed")
	flags.BoolVar(&rules.Sandbox, "sandbox", false, "let the script reach nothing but what is allowed")
	flags.Var(&budgetFlag{&rules.Budget, nil}, "budget", "bound the whole run, such as `creates=N,deletes=0,bytes=SIZE`")
}

// manifestFlags adds those about the file of permissions beside a script.
func manifestFlags(cmd *cobra.Command, job *runtime.Job) {
	flags := cmd.Flags()
	flags.BoolVar(&job.Walls.NoManifest, "no-manifest", false, "leave aside what the file *.allow.json beside the script allows and forbids")
	flags.BoolVar(&job.Walls.Learn, "learn", false, "write that file from what the script reaches in this run")
	cmd.MarkFlagsMutuallyExclusive("learn", "sandbox")
	cmd.MarkFlagsMutuallyExclusive("learn", "no-manifest")
}

// told is an error as that of a flag: the hint is part of the text.
func told(err error) error {
	if f := fault.Find(err); f != nil {
		return errors.New(f.Facts().Message + "; " + f.Facts().Hint)
	}
	return err
}

// ruleFlag reads rules into a list.
type ruleFlag struct {
	app   *app
	list  sandbox.List
	given []string
}

func (r *ruleFlag) Set(text string) error {
	r.given = append(r.given, text)
	return told(r.list.Parse(text, r.app.world.Place))
}

func (r *ruleFlag) String() string { return strings.Join(r.given, ",") }
func (r *ruleFlag) Type() string   { return "RULES" }

// budgetFlag reads budgets.
type budgetFlag struct {
	budget *sandbox.Budget
	given  []string
}

func (b *budgetFlag) Set(text string) error {
	b.given = append(b.given, text)
	return told(b.budget.Parse(text))
}

func (b *budgetFlag) String() string { return strings.Join(b.given, ",") }
func (b *budgetFlag) Type() string   { return "BUDGET" }
