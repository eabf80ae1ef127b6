package sandbox

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"sync"

	"transect/client/declare"
	"transect/client/fault"
)

// Policy decides about the access of one run. It is safe for concurrent use.
type Policy struct {
	rules       Rules
	within      *Policy // of the worker that runs the job; nil without one
	allow, deny map[Access][]rule
	manifest    string          // as shown to users, "" for none
	protected   []string        // files and folders no script may write, whatever the rules
	onTheWay    map[string]bool // names that lead to them: folders and links

	mu      sync.Mutex
	used    map[string]int64           // by the name of the budget
	planned int64                      // bytes of uploads that have begun
	reached map[Access]map[string]bool // for --learn, else nil
}

// NewPolicy returns the policy of a run. manifest is the file that holds some of the rules, or "". With learn
// everything that is not denied is allowed and recorded.
func NewPolicy(rules Rules, manifest string, learn bool) *Policy {
	p := &Policy{rules: rules, manifest: manifest, allow: compile(rules.Allow), deny: compile(rules.Deny),
		used: map[string]int64{}, onTheWay: map[string]bool{}}
	if manifest != "" {
		p.Protect(manifest)
	}
	if learn {
		p.reached = map[Access]map[string]bool{}
	}
	return p
}

// Within restricts the policy by a worker's: what the worker's does not permit is forbidden, and the smaller
// budget counts. Call it before the run.
func (p *Policy) Within(worker Rules) {
	p.within = NewPolicy(worker, worker.File, false)
	p.rules.Budget = maps.Clone(p.rules.Budget)
	for name, n := range worker.Budget {
		if own, limited := p.rules.Budget[name]; limited {
			n = min(n, own)
		} else if p.rules.Budget == nil {
			p.rules.Budget = Budget{}
		}
		p.rules.Budget[name] = n
	}
}

// Protect makes a file or folder, and every name that leads to it, read-only. Call it before the run.
func (p *Policy) Protect(path string) {
	p.protected = append(p.protected, folded(Canonical(path)))
	for _, name := range trail(path) {
		p.onTheWay[folded(name)] = true
	}
}

// Sandboxed reports whether everything is denied that is not allowed.
func (p *Policy) Sandboxed() bool { return p.rules.Sandbox }

// byWorker is the hint for access denied by a worker's policy.
const byWorker = "the worker of the job forbids it; its operator can permit it by the file of transect worker --policy"

// target is the target of an access; op is the operation of a call, else nil.
type target struct {
	kind Access
	what string
	op   *declare.Spec
}

func operation(s *declare.Spec) target { return target{Op, s.FullName(), s} }

// Permit checks an access of the script. Paths are canonical.
func (p *Policy) Permit(kind Access, what string) error { return p.permit(target{kind, what, nil}) }

// Denied is like Permit for targets named by the person who started the run: allowed unless a rule denies
// them.
func (p *Policy) Denied(kind Access, what string) error { return p.denied(target{kind, what, nil}) }

// PermitOperation checks whether the script may call an operation. Rules match it by name, or by its effect
// and records.
func (p *Policy) PermitOperation(s *declare.Spec) error { return p.permit(operation(s)) }

func (p *Policy) permit(t target) error {
	kind, what := t.kind, t.what
	if p.within != nil {
		if err := p.within.permit(t); err != nil {
			fault.Find(err).Facts().Hint = byWorker
			return err
		}
	}
	if kind == replace {
		if p.onTheWay[folded(what)] {
			return forbidden(Write, what, "it leads to a file of permissions, which no script may remove, move or replace; "+
				"use another folder")
		}
		return nil
	}
	if err := p.denied(t); err != nil {
		return err
	}
	if p.reached != nil {
		p.record(kind, what)
		return nil
	}
	if _, closed := p.rules.Allow[kind]; !closed && !p.rules.Sandbox || t.find(p.allow[kind],
		(*declare.Spec).AllowedBy) != nil {
		return nil
	}
	hint := fmt.Sprintf("allow it with --allow %s=%s%s", kind, what, p.orManifest())
	switch kind {
	case Exec:
		hint += "; the script can then run any program"
	case Notify:
		hint = byWorker
	}
	return forbidden(kind, what, hint)
}

func (p *Policy) denied(t target) error {
	kind, what := t.kind, t.what
	if p.within != nil {
		if err := p.within.denied(t); err != nil {
			fault.Find(err).Facts().Hint = byWorker
			return err
		}
	}
	if kind == Write && (isManifest(what) || Below(folded(what), p.protected...)) {
		return forbidden(kind, what, "it holds permissions, as do all files named *"+ManifestSuffix+
			", and no rule allows a script to write them; write to another file")
	}
	r := t.find(p.deny[kind], (*declare.Spec).DeniedBy)
	if r == nil {
		return nil
	}
	hint := "--deny " + string(kind) + "=" + r.text + " forbids it; to allow it, remove the rule from the command line"
	if p.manifest != "" {
		hint += " or from " + p.manifest
	}
	if t.op != nil && r.text != what {
		hint += "; transect doc permissions lists what it covers"
	}
	return forbidden(kind, what, hint)
}

func (p *Policy) orManifest() string {
	if p.manifest == "" {
		return ""
	}
	return " or in " + p.manifest
}

func forbidden(kind Access, what, hint string) error {
	action := map[Access]string{
		Read:   "read %s",
		Write:  "write %s",
		Net:    "connect to %s",
		Env:    "use the environment variable %s",
		Exec:   "run programs (%s)",
		Op:     "call %s",
		Notify: "notify %s",
	}[kind]
	return fault.Hinted(fault.Of(&fault.PermissionError{}, "the script may not "+action,
		strings.TrimPrefix(what, "//")), "%s", hint)
}

type nestedKey struct{}

// Intercept checks each operation and the files among its arguments. The steps
// of an allowed operation need no rule of their own, but may be denied.
func (p *Policy) Intercept(ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
	check := p.permit
	if ctx.Value(nestedKey{}) != nil {
		check = p.denied
	}
	if err := check(operation(call.Spec)); err != nil {
		return declare.Value{}, err
	}
	if err := p.checkFiles(call); err != nil {
		return declare.Value{}, err
	}
	return next(context.WithValue(ctx, nestedKey{}, true), call)
}

// Charge counts each operation that sends something against the budget.
func (p *Policy) Charge(ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
	if call.Answered {
		return next(ctx, call)
	}
	ctx, err := p.charge(ctx, call)
	if err != nil {
		return declare.Value{}, err
	}
	return next(ctx, call)
}

// checkFiles checks the local files an operation reads and writes.
func (p *Policy) checkFiles(call *declare.Call) error {
	for i := range call.Spec.Params {
		name := call.Spec.Params[i].Name
		var kind Access
		var files []string
		switch {
		case name == "target_path":
			kind, files = Write, paths(call.Args.Values[name])
			if files == nil {
				files = []string{"."}
			}
			for i, path := range files {
				files[i] = filepath.Join(path, call.Args.Text("target_name"))
			}
		case strings.HasPrefix(name, "target_path"), strings.HasPrefix(name, "file_path"):
			kind, files = Read, paths(call.Args.Values[name])
		}
		for _, path := range files {
			if err := p.Permit(kind, Canonical(path)); err != nil {
				return err
			}
		}
	}
	return nil
}

// paths returns the paths in an argument; nil when it was not given.
func paths(value any) (list []string) {
	switch v := value.(type) {
	case nil:
	case []any:
		for _, path := range v {
			list = append(list, fmt.Sprint(path))
		}
	case []string:
		list = append(list, v...)
	default:
		list = append(list, fmt.Sprint(value))
	}
	return list
}
