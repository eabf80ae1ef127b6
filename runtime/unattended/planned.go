package unattended

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"transect/client/fault"
	"transect/client/human"
	"transect/client/ledger"
	"transect/runtime"
	"transect/runtime/plan"
	"transect/runtime/planrun"
	"transect/runtime/runledger"
	"transect/runtime/vm"
	"transect/scripts"
)

// Planning defines the use of plans in a run.
type Planning struct {
	Only    bool     // plan the run without carrying it out
	Ask     bool     // carry it out after confirmation at the terminal
	Keep    string   // file to write the plan to; "" for none
	JSON    bool     // print the plan as stored
	Options []string // options of the run to record in the plan, --name=value
	By      string   // author of the plan

	Apply   Agreed // plan that the run applies
	Renew   Agreed // plan to make again, to see the difference
	Effects bool   // carry out the plan's side effects outside of the platform

	ID    string // id of the plan whose rest is planned
	Stage int    // stage of the rest
}

// Agreed is the file of a plan, with the checksum of the approved plan.
type Agreed struct{ File, Sum string }

// load reads the plan if it is still the approved one.
func (a Agreed) load(p *runtime.Process) (*plan.Plan, error) {
	key, err := ledger.FindKey(runledger.Folder(p))
	if err != nil {
		return nil, err
	}
	kept, err := plan.Load(p.Path(a.File), key)
	if err == nil && kept.Sum != a.Sum {
		err = fault.Hinted(fault.Of(&fault.PlanError{}, "the plan %s was changed since it was agreed to: nothing was sent",
			human.Line(a.File)), "review it, and apply it again: transect plan show %s", human.Line(a.File))
	}
	return kept, err
}

// planned plans a job, and shows what it would write.
func planned(ctx context.Context, p *runtime.Process, job runtime.Job, options Options) error {
	o := options.Planning
	options.Planning = Planning{}
	inner := *p
	rehearsal, recorder := planrun.Record(job)
	if o.ID != "" { // its ledger supplies the responses of earlier stages
		rehearsal.Run = runtime.RunID{ID: o.ID, Known: true}
	}
	inner.Stdout = p.Stderr // stdout is for the plan
	failed := Run(ctx, &inner, rehearsal, options)
	switch runtime.ExitCode(failed) {
	case runtime.ExitOK:
		failed = nil
	case runtime.ExitPartial: // the feasible part is planned
	default:
		fmt.Fprintln(p.Stderr, "transect: no plan was made")
		return failed
	}
	draft := recorder.Plan()
	if err := complete(draft, p, job, o); err != nil {
		return err
	}
	if err := show(draft, p, o); err != nil {
		return err
	}
	switch {
	case draft.Empty():
		return failed
	case o.Ask && !p.IsTerminal(p.Stdin):
		fmt.Fprintf(p.Stderr, "transect: nothing was sent: there is no terminal to confirm the plan\n"+
			"  hint: transect plan %s … -o FILE keeps the plan, transect apply FILE carries it out\n", job.Script)
	case o.Ask:
		if yes, err := agreed(ctx, p); err != nil {
			return err
		} else if yes {
			options.Planning.By = o.By
			return apply(ctx, p, job, options, draft, o)
		}
	case o.ID != "":
		fmt.Fprintf(p.Stderr, "transect: the rest is planned in %s\n  hint: transect apply %s carries it out\n",
			o.Keep, o.Keep)
	}
	return &runtime.Reported{Err: &vm.Exit{Code: runtime.ExitPlanned}}
}

// complete sets the header of a plan.
func complete(draft *plan.Plan, p *runtime.Process, job runtime.Job, o Planning) error {
	var random [3]byte
	rand.Read(random[:])
	now := p.Now()
	folder, err := filepath.Abs(p.Path("."))
	if err != nil {
		return err
	}
	draft.ID = cmp.Or(o.ID, "plan-"+now.UTC().Format("20060102-150405-")+hex.EncodeToString(random[:]))
	draft.Made, draft.Version, draft.Folder, draft.By = now.Truncate(time.Second), job.Version, folder, o.By
	draft.Script, draft.Arguments, draft.Options, draft.Stage = job.Script, job.Args, o.Options, o.Stage
	if o.Keep != "" && job.Script == "-" {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "the plan of a script from standard input cannot be kept"),
			"name the script's file")
	}
	return nil
}

// show prints a plan and stores it.
func show(draft *plan.Plan, p *runtime.Process, o Planning) error {
	key, err := ledger.Key(runledger.Folder(p))
	if err != nil && (o.JSON || o.Keep+o.Renew.File != "") {
		return err
	}
	switch {
	case o.Renew.File != "":
		earlier, err := o.Renew.load(p)
		if err != nil {
			return err
		}
		draft.PrintDifference(p.Stdout, earlier)
		o.Keep = o.Renew.File
	case o.JSON:
		if err := draft.Write(p.Stdout, key); err != nil {
			return err
		}
	default:
		draft.Print(p.Stdout)
	}
	if o.Keep == "" {
		_ = draft.Write(io.Discard, key) // for its checksum; one too large to be kept has none
		return nil
	}
	return draft.Save(p.Path(o.Keep), key)
}

// agreed prompts for confirmation of a plan; a signal ends the prompt.
func agreed(ctx context.Context, p *runtime.Process) (bool, error) {
	ctx, release := p.CancelOnSignal(ctx)
	defer release()
	return p.Confirm(ctx, "Carry this out?")
}

// applied applies the plan in a file.
func applied(ctx context.Context, p *runtime.Process, job runtime.Job, options Options) error {
	o := options.Planning
	options.Planning = Planning{By: o.By}
	kept, err := o.Apply.load(p)
	if err != nil {
		return err
	}
	return apply(ctx, p, job, options, kept, o)
}

// apply applies a plan: writes that are not in it are not sent.
func apply(ctx context.Context, p *runtime.Process, job runtime.Job, options Options, agreed *plan.Plan,
	o Planning) error {
	// The effects of ready scripts are harmless.
	gate := &plan.Gate{Plan: agreed, File: o.Apply.File, Allow: o.Effects || scripts.IsRef(agreed.Script)}
	job = planrun.CarryOut(job, gate)
	supervised := runtime.PartOf[Supervisor](job.Parts) != nil
	if !supervised { // a job has its own run
		job.Run = runtime.RunID{ID: agreed.ID, Known: true}
	}
	err := Run(ctx, p, job, options)
	if !gate.Rest() || supervised {
		return err
	}
	if agreed.Stage > 0 && gate.Result().Done == 0 {
		return fault.Hinted(fault.Of(&fault.PlanError{},
			"the rest cannot be planned: it depends on what a program or a request answers, "+
				"which is not known before it ran"), "keep the answer with run.once, or run the script without a plan")
	}
	// The rest is a plan of the same run: its ledger supplies the responses of completed writes.
	fmt.Fprintln(p.Stderr, "transect: what comes next depends on what the plan could not know: planning the rest")
	o.Stage, o.ID, o.Keep = agreed.Stage+1, agreed.ID, restOf(cmp.Or(o.Apply.File, o.Keep), agreed.Stage+1)
	o.Options = agreed.Options
	o.Ask, o.Only, o.Apply, o.Renew = p.IsTerminal(p.Stdin), false, Agreed{}, Agreed{}
	options.Planning = o
	return planned(ctx, p, planrun.Unplanned(job), options)
}

// restOf returns the file for the rest of a plan.
func restOf(file string, stage int) string {
	if file == "" {
		return ""
	}
	ending := filepath.Ext(file)
	name := strings.TrimSuffix(file, ending)
	if stage > 1 {
		name = strings.TrimSuffix(name, fmt.Sprintf("-%d", stage))
	}
	return fmt.Sprintf("%s-%d%s", name, stage+1, ending)
}

// gate returns the gate of a run that carries out a plan, else nil.
func (r *run) gate() *plan.Gate {
	if c := runtime.PartOf[*planrun.Carrying](r.job.Parts); c != nil {
		return c.Gate
	}
	return nil
}

// gated returns the error of a run that applied a plan: a refusal counts even if the script caught it, as do
// planned writes that were not done.
func (r *run) gated(err error) error {
	g := r.gate()
	if g == nil {
		return err
	}
	refused := g.Refused()
	drift, drifted := errors.AsType[*plan.Drift](cmp.Or(refused, err))
	if drifted {
		err = drift
	} else if refused != nil && err == nil {
		err = refused
	}
	result := g.Result()
	if drifted && result.Done+len(result.Lost) == 0 || !g.Opened() {
		return err // it is complete
	}
	if result.Before {
		return err // a previous application was reported already
	}
	r.announce(result.Text(), "")
	switch {
	case result.Rest && r.supervisor() == nil:
		return &runtime.Reported{Err: &vm.Exit{Code: runtime.ExitPlanned}}
	case err == nil && len(result.Missing)+len(result.Undone) > 0:
		return &vm.Exit{Code: runtime.ExitPartial}
	}
	return err
}

// announce prints a line about the run after a prefix, and writes it to the log.
func (r *run) announce(text, prefix string) {
	r.note(text)
	var out io.Writer = r.process.Stderr
	if r.buffer != nil {
		out = r.buffer.Stream(1)
	}
	fmt.Fprintln(out, prefix+r.redact.all(text))
}
