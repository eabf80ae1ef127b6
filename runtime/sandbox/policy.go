package sandbox

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"transect/client/declare"
	"transect/client/fault"
)

// ManifestEnding is what the name of a script's manifest ends with, in place of
// .lua.
const ManifestEnding = ".allow.json"

// Policy decides for one run. Any goroutine may use it.
type Policy struct {
	rules       Rules
	allow, deny compiled
	manifest    string // the file rules come from or go to, as people name it; "" when there is none
	protected   string // its true path

	mu      sync.Mutex
	used    spent
	reached map[Access]map[string]bool // when it is learned
}

// New makes the gate of a run. manifest is the file some of the rules come
// from, or "". learn has it let everything pass that is not denied, and note it.
func NewPolicy(rules Rules, manifest string, learn bool) *Policy {
	p := &Policy{rules: rules, manifest: manifest, allow: compile(rules.Allow), deny: compile(rules.Deny)}
	if manifest != "" {
		p.protected = Canonical(manifest)
	}
	if learn {
		p.reached = map[Access]map[string]bool{}
	}
	return p
}

// Permit says whether the script may reach something: nil, or the error to
// raise. Paths are true paths.
func (p *Policy) Permit(kind Access, what string) error {
	if err := p.Denied(kind, what); err != nil {
		return err
	}
	if p.reached != nil {
		p.note(kind, what)
		return nil
	}
	if _, closed := p.rules.Allow[kind]; !closed && !p.rules.Sandbox {
		return nil
	}
	if _, ok := p.allow.find(kind, what); ok {
		return nil
	}
	hint := fmt.Sprintf("allow it with --allow %s=%s", kind, what)
	if kind == Exec {
		hint += ", which lets it run any program"
	}
	if p.manifest != "" {
		hint += ", or in " + p.manifest
	}
	return fault.Hinted(fault.Of(&fault.PermissionError{}, "the script may not %s", deed(kind, what)), "%s", hint)
}

// Denied is Permit for what the person who started the run named: it is open
// unless it is denied.
func (p *Policy) Denied(kind Access, what string) error {
	if kind == Write && (strings.HasSuffix(what, ManifestEnding) || what == p.protected) {
		return fault.Hinted(fault.Of(&fault.PermissionError{}, "the script may not write %s", what),
			"permissions are not for scripts to give: no rule allows it to write a file named *%s", ManifestEnding)
	}
	if r, ok := p.deny.find(kind, what); ok {
		source := "the rule --deny " + string(kind) + "=" + r.text + " forbids it"
		if p.manifest != "" {
			source += ", from the command line or from " + p.manifest
		}
		return fault.Hinted(fault.Of(&fault.PermissionError{}, "the script may not %s", deed(kind, what)), "%s", source)
	}
	return nil
}

func deed(kind Access, what string) string {
	switch kind {
	case Net:
		return "connect to " + what
	case Env:
		return "use the environment variable " + what
	case Exec:
		return "run programs (" + what + ")"
	case Op:
		return "call " + what
	}
	return string(kind) + " " + what
}

type withinKey struct{}

// Intercept asks about every operation: whether it may be called, about the files
// among its arguments, and about the budget. What an allowed operation is made
// of needs no leave of its own, but may be denied.
func (p *Policy) Intercept(ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
	ask := p.Permit
	if ctx.Value(withinKey{}) != nil {
		ask = p.Denied
	}
	if err := ask(Op, call.Spec.FullName()); err != nil {
		return declare.Value{}, err
	}
	if err := p.files(call); err != nil {
		return declare.Value{}, err
	}
	ctx, err := p.charge(ctx, call)
	if err != nil {
		return declare.Value{}, err
	}
	return next(context.WithValue(ctx, withinKey{}, true), call)
}

// files asks about the local files an operation reads and writes.
func (p *Policy) files(call *declare.Call) error {
	for i := range call.Spec.Params {
		param := &call.Spec.Params[i]
		if !strings.HasPrefix(param.Name, "target_path") && !strings.HasPrefix(param.Name, "file_path") {
			continue
		}
		kind := Read
		if param.Name == "target_path" {
			kind = Write
		}
		for _, path := range paths(call.Args.Values[param.Name], kind) {
			if name := call.Args.Text("target_name"); kind == Write && name != "" {
				path = filepath.Join(path, name)
			}
			if err := p.Permit(kind, Canonical(path)); err != nil {
				return err
			}
		}
	}
	return nil
}

func paths(value any, kind Access) []string {
	switch v := value.(type) {
	case nil:
		if kind == Write {
			return []string{"."}
		}
		return nil
	case []any:
		var list []string
		for _, one := range v {
			list = append(list, fmt.Sprint(one))
		}
		return list
	case []string:
		return v
	}
	return []string{fmt.Sprint(value)}
}
