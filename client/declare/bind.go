package declare

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"transect/client/schema"
)

// Manager groups the operations on one kind of resource.
type Manager struct {
	Name    string
	Aliases []string
	Doc     string
	One     string   // singular name of a resource
	Root    string   // prefix of its routes' paths
	Absent  []string // operations that this revision of the interface lacks

	Secret   string   // the key of its records that is a secret
	Holds    []string // managers of resources deleted along with one of its own
	Volatile bool     // the answer of an operation cannot be read again

	field   []int // of the client
	all     []*Manager
	prepare func()  // builds the specs, once
	ops     []*Spec // as declared
	revised []*Spec // those visible to callers
}

// Ops lists the operations in declared order. They are built from their declarations on first use,
// because most programs use few managers.
func (m *Manager) Ops() []*Spec {
	if m.prepare != nil {
		m.prepare()
	}
	return m.revised
}

// Op finds an operation by its name or an alias, or returns nil.
func (m *Manager) Op(name string) *Spec {
	for _, s := range m.Ops() {
		if s.Name == name {
			return s
		}
		for _, a := range s.Aliases {
			if a == name {
				return s
			}
		}
	}
	return nil
}

// OpNames lists the operations in declared order.
func (m *Manager) OpNames() []string {
	var names []string
	for _, s := range m.Ops() {
		names = append(names, s.Name)
	}
	return names
}

// Bind completes every operation of every manager of a client, a pointer to a struct with one
// tagged field per manager. revise returns the operations that callers see, and may change them. An
// invalid declaration is a bug: using its manager panics with an error naming the field.
func Bind(client any, e *Engine, revise func(*Manager, []*Spec) []*Spec) []*Manager {
	v := reflect.ValueOf(client).Elem()
	managers := Names(client)
	for _, m := range managers {
		m.all = managers
		m.bind(v.FieldByIndex(m.field), e, revise)
	}
	return managers
}

// Names lists the managers of a client, without their operations.
func Names(client any) []*Manager {
	t := reflect.TypeOf(client).Elem()
	var managers []*Manager
	for i := 0; i < t.NumField(); i++ {
		field := t.Field(i)
		if name, ok := field.Tag.Lookup("manager"); ok {
			tag := schema.ReadTag(field.Tag)
			managers = append(managers, &Manager{
				Name: name, One: cmp.Or(tag["one"], Singular(name)), Doc: tag["doc"], Root: tag["root"],
				Aliases: schema.Words(tag["alias"]), Holds: schema.Words(tag["holds"]),
				Secret: tag["secret"], Volatile: tag["volatile"] == "yes", field: field.Index,
			})
		}
	}
	return managers
}

// bind makes the operations callable; their specs are built on first use.
func (m *Manager) bind(v reflect.Value, e *Engine, revise func(*Manager, []*Spec) []*Spec) {
	var operations []*bound
	add := func(field int, op operation) {
		at := len(operations)
		operations = append(operations, &bound{operation: op, field: field, own: op.method()})
		op.complete(func() *Spec {
			m.prepare()
			return m.ops[at]
		})
	}
	for i := 0; i < v.NumField(); i++ {
		switch field := v.Field(i); {
		case instance(field.Type(), "Search"):
			add(i, operation{field.Field(0)})
			add(i, operation{field.Field(1)})
		case instance(field.Type(), "Op"):
			add(i, operation{field})
		}
	}
	m.prepare = sync.OnceFunc(func() {
		for i, b := range operations {
			field := v.Type().Field(b.field)
			if i > 0 && operations[i-1].field == b.field { // second of a pair
				m.ops = append(m.ops, m.ops[i-1].generator())
				m.ops[i-1].dropParams("generator")
				m.ops[i].dropParams("search")
			} else if spec, err := m.spec(field, b); err != nil {
				panic(fmt.Errorf("%s.%s: %w", m.Name, field.Name, err))
			} else {
				m.ops = append(m.ops, spec)
			}
		}
		for i, b := range operations {
			b.bind(e, m.ops[i])
		}
		m.revised = revise(m, slices.Clone(m.ops))
	})
}

// bound is an operation of a client with the Go method assigned to it.
type bound struct {
	operation
	field int // index within the manager
	own   func(ctx context.Context, in any) (any, error)
}

// Tags is the closed set of an operation's tags. Needing another one is a sign of logic: write a Go method.
var Tags = []string{"read", "create", "set", "delete", "doc", "alias", "method", "result", "missing", "rename",
	"chunk", "page", "limit", "extra", "composed", "refuse", "filters", "served", "deprecated", "returns", "raises",
	"unknown", "makes", "adds", "does"}

func (m *Manager) spec(field reflect.StructField, op *bound) (*Spec, error) {
	tag := schema.ReadTag(field.Tag)
	in, out := op.types()
	s := &Spec{
		manager: m, Manager: m.Name, Name: snake(field.Name), Aliases: schema.Words(tag["alias"]), Doc: tag["doc"],
		Method: cmp.Or(tag["method"], "POST"), ResultKey: tag["result"],
		Missing: cmp.Or(tag["missing"], "QueryError"), Shape: shapeOf(out), Returns: tag["returns"],
		Refused: schema.Words(tag["refuse"]), FilterKeys: schema.Words(tag["filters"]),
		Adds: schema.Words(tag["adds"]), NoExtra: tag["extra"] == "no", ExtraWins: tag["extra"] == "over",
		Composed: tag["composed"] == "yes", Deprecated: tag["deprecated"],
	}
	if old, now, ok := strings.Cut(tag["rename"], ">"); ok {
		s.Rename = [2]string{old, now}
	}
	for _, effect := range []Effect{Read, Create, Set, Delete} {
		routes, ok := tag[string(effect)]
		if !ok {
			continue
		}
		if s.Effect != "" {
			return nil, fmt.Errorf("two effects, %s and %s", s.Effect, effect)
		}
		s.Effect = effect
		for _, route := range schema.Words(routes) {
			if !strings.HasPrefix(route, "/") {
				route = m.Root + "/" + route
			}
			s.Routes = append(s.Routes, route)
		}
	}
	for raise := range strings.SplitSeq(tag["raises"], "; ") {
		if name, when, ok := strings.Cut(raise, ": "); ok {
			s.Raises = append(s.Raises, Raise{name, when})
		}
	}
	resource, path, _ := strings.Cut(tag["makes"], " ")
	if s.Makes, s.MadeID = cmp.Or(resource, m.Name), cmp.Or(path, "_id"); path == "none" {
		s.MadeID = ""
	}
	for _, deed := range schema.Words(tag["does"]) {
		if strings.Contains(deed, ".") {
			s.Also = append(s.Also, deed)
		} else {
			s.verb = Verb(deed)
		}
	}
	if err := s.parseUnknown(tag["unknown"]); err != nil {
		return nil, err
	}
	switch {
	case s.Effect == "":
		return nil, fmt.Errorf("no effect: one of the tags read, create, set, delete is needed")
	case len(s.Routes) == 0 && op.own == nil:
		return nil, fmt.Errorf("neither a route nor Go code")
	case s.Doc == "":
		return nil, fmt.Errorf("no doc")
	}
	var limit int
	var err error
	for key, to := range map[string]*int{"chunk": &s.Chunk, "page": &s.FirstPage, "limit": &limit} {
		if text, ok := tag[key]; ok {
			if *to, err = strconv.Atoi(text); err != nil {
				return nil, fmt.Errorf("tag %s: %w", key, err)
			}
		}
	}
	s.generatorLimit = int64(cmp.Or(limit, 50))
	if s.Params, err = schema.FromStruct(in); err != nil {
		return nil, err
	}
	noun := m.One
	for i := range s.Params {
		p := &s.Params[i]
		if p.Name == "@" {
			p.Name, p.Key, p.KeyMany = noun, noun, strings.ReplaceAll(p.KeyMany, "@", noun)
			p.Doc = strings.ReplaceAll(p.Doc, "@", strings.ReplaceAll(noun, "_", " "))
		}
		if p.Name == "limit" && limit > 0 {
			p.Default = int64(limit)
		}
		if p.Name == "limit" && limit == 0 && s.Shape == ShapePage {
			served := cmp.Or(tag["served"], "50")
			s.Served, _ = strconv.Atoi(served)
			p.Doc += "; the platform returns up to " + served + " when absent"
		}
		if p.Name == "page" {
			p.Doc += fmt.Sprintf("; the first is %d", s.FirstPage)
		}
	}
	return s, s.checkPath()
}

// checkPath checks that every {name} of a route has its argument.
func (s *Spec) checkPath() error {
	for _, route := range s.Routes {
		for rest := route; strings.Contains(rest, "{"); {
			_, after, _ := strings.Cut(rest, "{")
			name, tail, _ := strings.Cut(after, "}")
			if p := s.Param(name); p == nil {
				return fmt.Errorf("route %s has no argument %s", route, name)
			}
			rest = tail
		}
	}
	return nil
}

// Singular returns the default singular name of a manager's resources.
func Singular(manager string) string {
	if stem, ok := strings.CutSuffix(manager, "ies"); ok {
		return stem + "y"
	}
	return strings.TrimSuffix(manager, "s")
}

// snake converts a Go name to the interface's spelling: UpdateSRS, update_srs.
func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
