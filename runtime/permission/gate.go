package permission

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"transect/client/declare"
	"transect/client/fault"
	"transect/runtime/vm"
)

// ManifestEnding is what the name of a script's manifest ends with, in place of
// .lua.
const ManifestEnding = ".allow.json"

// Gate decides for one run. Any goroutine may use it.
type Gate struct {
	rules       Rules
	allow, deny compiled
	manifest    string // the file rules come from or go to, as people name it; "" when there is none
	protected   string // its true path

	mu      sync.Mutex
	used    spent
	reached map[vm.Access]map[string]bool // when it is learned
}

// New makes the gate of a run. manifest is the file some of the rules come
// from, or "". learn has it let everything pass that is not denied, and note it.
func New(rules Rules, manifest string, learn bool) *Gate {
	g := &Gate{rules: rules, manifest: manifest, allow: compile(rules.Allow), deny: compile(rules.Deny)}
	if manifest != "" {
		g.protected = vm.Canonical(manifest)
	}
	if learn {
		g.reached = map[vm.Access]map[string]bool{}
	}
	return g
}

// Permit says whether the script may reach something: nil, or the error to
// raise. Paths are true paths.
func (g *Gate) Permit(kind vm.Access, what string) error {
	if err := g.Denied(kind, what); err != nil {
		return err
	}
	if g.reached != nil {
		g.note(kind, what)
		return nil
	}
	if _, closed := g.rules.Allow[kind]; !closed && !g.rules.Sandbox {
		return nil
	}
	if _, ok := g.allow.find(kind, what); ok {
		return nil
	}
	hint := fmt.Sprintf("allow it with --allow %s=%s", kind, what)
	if kind == vm.Exec {
		hint += ", which lets it run any program"
	}
	if g.manifest != "" {
		hint += ", or in " + g.manifest
	}
	return fault.Hinted(fault.Of(&fault.PermissionError{}, "the script may not %s", deed(kind, what)), "%s", hint)
}

// Denied is Permit for what the person who started the run named: it is open
// unless it is denied.
func (g *Gate) Denied(kind vm.Access, what string) error {
	if kind == vm.Write && (strings.HasSuffix(what, ManifestEnding) || what == g.protected) {
		return fault.Hinted(fault.Of(&fault.PermissionError{}, "the script may not write %s", what),
			"permissions are not for scripts to give: no rule allows it to write a file named *%s", ManifestEnding)
	}
	if r, ok := g.deny.find(kind, what); ok {
		source := "the rule --deny " + string(kind) + "=" + r.text + " forbids it"
		if g.manifest != "" {
			source += ", from the command line or from " + g.manifest
		}
		return fault.Hinted(fault.Of(&fault.PermissionError{}, "the script may not %s", deed(kind, what)), "%s", source)
	}
	return nil
}

func deed(kind vm.Access, what string) string {
	switch kind {
	case vm.Net:
		return "connect to " + what
	case vm.Env:
		return "use the environment variable " + what
	case vm.Exec:
		return "run programs (" + what + ")"
	case vm.Op:
		return "call " + what
	}
	return string(kind) + " " + what
}

type withinKey struct{}

// Link asks about every operation: whether it may be called, about the files
// among its arguments, and about the budget. What an allowed operation is made
// of needs no leave of its own, but may be denied.
func (g *Gate) Link(ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
	ask := g.Permit
	if ctx.Value(withinKey{}) != nil {
		ask = g.Denied
	}
	if err := ask(vm.Op, call.Spec.FullName()); err != nil {
		return declare.Value{}, err
	}
	if err := g.files(call); err != nil {
		return declare.Value{}, err
	}
	ctx, err := g.charge(ctx, call)
	if err != nil {
		return declare.Value{}, err
	}
	return next(context.WithValue(ctx, withinKey{}, true), call)
}

// files asks about the local files an operation reads and writes.
func (g *Gate) files(call *declare.Call) error {
	for i := range call.Spec.Params {
		p := &call.Spec.Params[i]
		if !strings.HasPrefix(p.Name, "target_path") && !strings.HasPrefix(p.Name, "file_path") {
			continue
		}
		kind := vm.Read
		if p.Name == "target_path" {
			kind = vm.Write
		}
		for _, path := range paths(call.Args.Values[p.Name], kind) {
			if name := call.Args.Text("target_name"); kind == vm.Write && name != "" {
				path = filepath.Join(path, name)
			}
			if err := g.Permit(kind, vm.Canonical(path)); err != nil {
				return err
			}
		}
	}
	return nil
}

func paths(value any, kind vm.Access) []string {
	switch v := value.(type) {
	case nil:
		if kind == vm.Write {
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
