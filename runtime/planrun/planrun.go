// Package planrun plans the writes of a run instead of sending them, and restricts a run to the writes of a
// plan. Both are parts of a run: Rehearsal and Carrying. Package plan holds the plan itself.
package planrun

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	"transect/runtime"
	"transect/runtime/plan"
	"transect/runtime/runledger"
	"transect/runtime/sandbox"
	"transect/runtime/shadow"
	"transect/runtime/vm"
	"transect/scripts"
)

// A method whose signature is another would not be called.
var (
	_ interface {
		runtime.Preparer
		runtime.Maker
		runtime.Linker
		runtime.Checker
		io.Closer
		runtime.Ender
	} = (*Rehearsal)(nil)
	_ interface {
		runtime.Preparer
		runtime.Maker
		runtime.Beginner
		runtime.Linker
		runtime.Checker
		runtime.Finisher
	} = (*Carrying)(nil)
)

// logins are the platforms and users that a plan is for, each looked up once.
type logins struct {
	mu   sync.Mutex
	seen map[string]bool // by address
}

// once calls f with the login of a connection, unless it succeeded before for the address.
func (l *logins) once(ctx context.Context, c *client.Client, address string, f func(plan.Login) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen[address] {
		return nil
	}
	user, err := c.Users.Describe(ctx, client.UserRef{})
	if err != nil && fault.Status(err) == 0 {
		return err
	}
	if err := f(plan.Login{URL: address, User: user.ID}); err != nil {
		return err
	}
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	l.seen[address] = true
	return nil
}

// Rehearsal plans the writes of a dry run: it notes them, and carries them out in memory.
type Rehearsal struct {
	recorder *plan.Recorder
	prints   bool // the plan, at the end of the run
	x        *runtime.Execution
	logins   logins

	mu       sync.Mutex
	overlays map[string]*platform.Overlay // by address
}

// Record turns a job into its dry run. The recorder has the plan.
func Record(job runtime.Job) (runtime.Job, *plan.Recorder) {
	job = Unplanned(job)
	job.DryRun = true
	r := &Rehearsal{recorder: plan.NewRecorder()}
	return job.With(r), r.recorder
}

// DryRun returns the part of a dry run whose plan is printed at its end.
func DryRun() *Rehearsal { return &Rehearsal{recorder: plan.NewRecorder(), prints: true} }

// Unplanned turns a job into one whose writes are sent.
func Unplanned(job runtime.Job) runtime.Job {
	job.DryRun = false
	return runtime.Without[*Carrying](runtime.Without[*Rehearsal](job))
}

// Prepare passes the recorder the code that runs, and the side effects, which stay in a copy of the file system.
func (r *Rehearsal) Prepare(o *vm.Options) {
	o.Located, o.Code = declare.At, r.recorder.Ran
	o.Effects = &sandbox.Effects{Happens: r.recorder.Effect, None: true, Shadow: shadow.New()}
}

// Made passes the recorder the files as seen by the script.
func (r *Rehearsal) Made(x *runtime.Execution) {
	r.x, r.recorder.Private = x, x.Interp.IsPrivate
	r.recorder.Tree, r.recorder.Folder = files.Tree{View: x.Interp}, sandbox.Canonical(x.Process().AbsPath("."))
}

// Link lays an overlay over the platform, which answers the writes.
func (r *Rehearsal) Link(address string, o *client.Options) {
	o.Links = append(o.Links, client.At(client.PlacePlan, r.recorder.Link(address, r.upload(address))))
	o.Over = func(base string, below http.RoundTripper) (http.RoundTripper, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if laid := r.overlays[address]; laid != nil {
			return laid, nil
		}
		laid, err := platform.NewOverlay(below, base)
		if err != nil {
			return nil, err
		}
		if r.overlays == nil {
			r.overlays = map[string]*platform.Overlay{}
		}
		r.overlays[address] = laid
		return laid, nil
	}
}

// upload passes a file to the overlay of a platform.
func (r *Rehearsal) upload(address string) plan.Upload {
	return func(ctx context.Context, dataset, component, path, sum string, size int64) error {
		r.mu.Lock()
		laid := r.overlays[address]
		r.mu.Unlock()
		return laid.Upload(ctx, dataset, component, path, sum, size)
	}
}

// Check notes the platform and the user of the plan.
func (r *Rehearsal) Check(ctx context.Context, c *client.Client, address string) error {
	return r.logins.once(ctx, c, address, func(login plan.Login) error {
		r.recorder.On(login, c)
		return nil
	})
}

// Close drops the overlays.
func (r *Rehearsal) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.overlays {
		o.Close()
	}
	return nil
}

// End prints what the run would have written, unless its caller does.
func (r *Rehearsal) End(err error) error {
	p, out := r.recorder.Plan(), r.x.Interp.Options()
	// A run that did nothing has only its error.
	if _, exit := errors.AsType[*vm.Exit](err); !r.prints || err != nil && !exit && p.Empty() {
		return err
	}
	if r.x.Job().Output.JSON {
		for _, w := range p.Writes {
			out.Logger.Info(fmt.Sprintf("dry run: write %d", w.Number), "operation", w.Operation, "arguments", w.Arguments)
		}
		out.Logger.Info("dry run: nothing was sent", "totals", p.Totals)
		return err
	}
	fmt.Fprintln(out.Stderr, "dry run, nothing was sent:")
	if r.x.Job().Output.Verbose {
		for _, w := range p.Writes {
			fmt.Fprintf(out.Stderr, "write %d: %s %s\n", w.Number, w.Operation, human.Visible(string(w.Arguments)))
		}
	}
	p.Print(out.Stderr)
	return err
}

// Carrying carries out a plan: what is not in it is not sent.
type Carrying struct {
	Gate   *plan.Gate
	x      *runtime.Execution
	first  bool // the plan was not begun before
	logins logins
}

// CarryOut turns a job into one that carries out a plan.
func CarryOut(job runtime.Job, g *plan.Gate) runtime.Job {
	return Unplanned(job).With(&Carrying{Gate: g})
}

// Prepare lets the gate decide about side effects.
func (c *Carrying) Prepare(o *vm.Options) {
	o.Agreed, o.Located = true, declare.At
	o.Effects = &sandbox.Effects{Happens: c.Gate.Effect, None: !c.Gate.Allow, Shadow: shadow.New()}
	o.Command = "" // printed at the end
}

// Made passes the gate the files as seen by the script.
func (c *Carrying) Made(x *runtime.Execution) {
	c.x, c.Gate.Tree, c.Gate.Private = x, files.Tree{View: x.Interp}, x.Interp.IsPrivate
}

// Begin compares the script and the files yet to be sent with the plan. done reports that an earlier start
// has carried out all of it successfully.
func (c *Carrying) Begin(context.Context) (done bool, err error) {
	notes, err := runledger.Of(c.x).Open()
	if err != nil {
		return false, err
	}
	if c.first, err = c.Gate.Open(notes); err != nil {
		return false, err
	}
	at, ended := notes.Ended()
	say := func(text string) {
		c.x.Interp.Options().Logger.Info(fmt.Sprintf(text, at.Local().Format(time.DateTime)))
	}
	if c.Gate.Complete() {
		say("the plan was carried out before (started %s): nothing is sent again")
		return true, nil
	}
	if ended {
		say("an earlier start of the plan ended well (started %s); what is missing is sent")
	}
	return false, c.Gate.CheckFiles(c.code)
}

// code reads a script or a module, from a file or from the program.
func (c *Carrying) code(name string) ([]byte, error) {
	if code := scripts.Source(name); code != nil {
		return code, nil
	}
	return c.x.Process().ScriptCode(name)
}

// Link lets only planned writes pass.
func (c *Carrying) Link(address string, o *client.Options) {
	o.Links = append(o.Links, client.At(client.PlacePlan, c.Gate.Link(address)))
}

// Check verifies that the plan still holds on a platform.
func (c *Carrying) Check(ctx context.Context, connection *client.Client, address string) error {
	return c.logins.once(ctx, connection, address, func(login plan.Login) error {
		if !slices.Contains(c.Gate.Plan.Platforms, login) {
			return c.Gate.Refuse(fault.Hinted(fault.Of(&fault.PlanError{},
				"the plan was not made for the platform %s as the user that is logged in now", login.URL),
				"log in as the user it was made for, or plan again"))
		}
		if !c.first { // its own changes are not drift
			return nil
		}
		if err := c.Gate.Plan.Check(ctx, connection, login.URL); err != nil {
			if drift, ok := errors.AsType[*plan.Drift](err); ok {
				return c.Gate.Refuse(drift)
			}
			return err
		}
		return c.Gate.Begin()
	})
}

// Finish reports planned writes that the script did not request.
func (c *Carrying) Finish(_ context.Context, err error) error {
	if err != nil {
		return err
	}
	return c.Gate.End()
}
