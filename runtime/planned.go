package runtime

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"transect/client"
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/files"
	"transect/client/human"
	"transect/platform"
	"transect/runtime/plan"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
	"transect/scripts"
)

// planned is what a run knows of the platforms whose writes it plans, or carries out by
// a plan.
type planned struct {
	mu       sync.Mutex
	overlays map[string]*platform.Overlay // of a dry run, by address
	checked  map[string]bool              // platforms on which the plan holds
	first    bool                         // the plan was not begun before
}

func (p *planned) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.overlays {
		o.Close()
	}
}

// printPlan shows what a dry run would have written, unless its caller does.
func (x *Execution) printPlan(err error) {
	p, out := x.job.Recorder.Plan(), x.Interp.Options()
	// An error says enough of a run that did nothing.
	if !x.job.printsPlan || err != nil && !is[*vm.Exit](err) && p.Empty() {
		return
	}
	if x.job.Output.JSON {
		for _, w := range p.Writes {
			out.Logger.Info(fmt.Sprintf("dry run: write %d", w.Number), "operation", w.Operation, "arguments", w.Arguments)
		}
		out.Logger.Info("dry run: nothing was sent", "totals", p.Totals)
		return
	}
	fmt.Fprintln(out.Stderr, "dry run, nothing was sent:")
	if x.job.Output.Verbose {
		for _, w := range p.Writes {
			fmt.Fprintf(out.Stderr, "write %d: %s %s\n", w.Number, w.Operation, human.Visible(string(w.Arguments)))
		}
	}
	p.Print(out.Stderr)
}

// planning prepares the interpreter of a run that plans, or carries out a plan.
func planning(job *Job, opt *vm.Options) {
	switch {
	case job.DryRun:
		if job.Recorder == nil {
			job.Recorder, job.printsPlan = plan.NewRecorder(), true
		}
		opt.Located, opt.Code, opt.Effects, opt.Sealed = declare.At, job.Recorder.Ran, job.Recorder.Effect, true
	case job.Gate != nil:
		opt.Agreed, opt.Located, opt.Effects, opt.Sealed = true, declare.At, job.Gate.Effect, !job.Gate.Allow
		opt.Command = "" // its end says what to do next
	}
}

// see shows the plan that is made, or carried out, the files as the script sees them.
func (x *Execution) see() {
	tree := files.Tree{View: x.Interp}
	switch {
	case x.job.DryRun:
		x.job.Recorder.Private = x.Interp.IsPrivate
		x.job.Recorder.Tree, x.job.Recorder.Folder = tree, sandbox.Canonical(x.process.AbsPath("."))
	case x.job.Gate != nil:
		x.job.Gate.Tree, x.job.Gate.Private = tree, x.Interp.IsPrivate
	}
}

// openGate compares script and files that are yet to be sent with those of the plan that the run carries out.
// done reports that an earlier start has carried out all of it, and ended well.
func (x *Execution) openGate() (done bool, err error) {
	g := x.job.Gate
	if g == nil {
		return false, nil
	}
	notes, err := x.connector.ledger.open()
	if err != nil {
		return false, err
	}
	if x.connector.planned.first, err = g.Open(notes); err != nil {
		return false, err
	}
	at, ended := notes.Ended()
	say := func(text string) { x.connector.ledger.log.Info(fmt.Sprintf(text, at.Local().Format(time.DateTime))) }
	if g.Complete() {
		say("the plan was carried out before (started %s): nothing is sent again")
		return true, nil
	}
	if ended {
		say("an earlier start of the plan ended well (started %s); what is missing is sent")
	}
	return false, g.CheckFiles(x.process.moduleCode)
}

// moduleCode reads a script or a module, of a file or of the program.
func (p *Process) moduleCode(name string) ([]byte, error) {
	if code := scripts.Source(name); code != nil {
		return code, nil
	}
	return p.scriptCode(name)
}

// lay puts a plan between a connection and its platform.
func (c *connector) lay(address string, o *client.Options) {
	defer c.measure(o)
	switch {
	case c.job.DryRun:
		o.Last = c.job.Recorder.Link(address, c.upload(address))
		o.Over = func(base string, below http.RoundTripper) (http.RoundTripper, error) {
			c.planned.mu.Lock()
			defer c.planned.mu.Unlock()
			if laid := c.planned.overlays[address]; laid != nil {
				return laid, nil
			}
			laid, err := platform.NewOverlay(below, base)
			if err != nil {
				return nil, err
			}
			if c.planned.overlays == nil {
				c.planned.overlays = map[string]*platform.Overlay{}
			}
			c.planned.overlays[address] = laid
			return laid, nil
		}
	case c.job.Gate != nil:
		o.Last = c.job.Gate.Link(address)
	}
}

// upload gives a file to the overlay of a platform.
func (c *connector) upload(address string) plan.Upload {
	return func(ctx context.Context, dataset, component, path, sum string, size int64) error {
		c.planned.mu.Lock()
		laid := c.planned.overlays[address]
		c.planned.mu.Unlock()
		return laid.Upload(ctx, dataset, component, path, sum, size)
	}
}

// checked notes a platform in the plan that is made; of one that is carried out it
// finds whether it still holds there.
func (c *connector) checked(ctx context.Context, connection *client.Client, platform string) error {
	if !c.job.DryRun && c.job.Gate == nil {
		return nil
	}
	c.planned.mu.Lock()
	defer c.planned.mu.Unlock()
	if c.planned.checked[platform] {
		return nil
	}
	user, err := connection.Users.Describe(ctx, client.UserRef{})
	if err != nil && fault.Status(err) == 0 {
		return err
	}
	login := plan.Login{URL: platform, User: user.ID}
	if c.job.DryRun {
		c.job.Recorder.On(login, connection)
	} else if err := c.holds(ctx, connection, login); err != nil {
		return err
	}
	if c.planned.checked == nil {
		c.planned.checked = map[string]bool{}
	}
	c.planned.checked[platform] = true
	return nil
}

// holds reports whether a plan still holds on a platform.
func (c *connector) holds(ctx context.Context, connection *client.Client, login plan.Login) error {
	g := c.job.Gate
	if !slices.Contains(g.Plan.Platforms, login) {
		return g.Refuse(fault.Hinted(fault.Of(&fault.PlanError{},
			"the plan was not made for the platform %s as the user that is logged in now", login.URL),
			"log in as the user it was made for, or plan again"))
	}
	if !c.planned.first { // what it has done itself is no drift
		return nil
	}
	if err := g.Plan.Check(ctx, connection, login.URL); err != nil {
		if drift, ok := errors.AsType[*plan.Drift](err); ok {
			return g.Refuse(drift)
		}
		return err
	}
	return g.Begin()
}
