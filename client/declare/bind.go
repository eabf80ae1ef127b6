package declare

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"transect/client/schema"
)

// Manager is the group of operations on one kind of resource.
type Manager struct {
	Name    string
	Aliases []string
	Doc     string
	One     string // what one of its resources is called
	Root    string // path its routes start with
	Ops     []*Spec
	Absent  []string // operations that this revision of the interface lacks

	Secret   string   // the key of its records that holds a secret
	Holds    []string // managers of what is deleted along with one of its resources
	Volatile bool     // what an operation answered cannot be read again

	field []int // of the client
}

// Op finds an operation by its name or an alias, or returns nil.
func (m *Manager) Op(name string) *Spec {
	for _, s := range m.Ops {
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
	names := make([]string, len(m.Ops))
	for i, s := range m.Ops {
		names[i] = s.Name
	}
	return names
}

// Bind completes every operation of every manager of a client, a pointer to a
// struct with one tagged field a manager. A declaration that is wrong is a
// fault of the program: it comes back as an error naming the field.
func Bind(client any, e *Engine) ([]*Manager, error) {
	v := reflect.ValueOf(client).Elem()
	managers := Names(client)
	for _, m := range managers {
		if err := m.bind(v.FieldByIndex(m.field), e); err != nil {
			return nil, err
		}
	}
	return managers, nil
}

// Names lists the managers of a client without their operations.
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

func (m *Manager) bind(v reflect.Value, e *Engine) error {
	for i := 0; i < v.NumField(); i++ {
		field := v.Type().Field(i)
		op, single := v.Field(i).Addr().Interface().(operation)
		both, paired := v.Field(i).Addr().Interface().(pair)
		if paired {
			op, _ = both.both()
		} else if !single {
			continue
		}
		spec, err := m.spec(field, op)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", m.Name, field.Name, err)
		}
		if paired {
			m.Ops = append(m.Ops, bindPair(both, e, spec)...)
			continue
		}
		bind(op, e, spec)
		m.Ops = append(m.Ops, spec)
	}
	return nil
}

// Tags is the closed set of tags of an operation. Wanting another one is a
// sign of logic: write a Go method.
var Tags = []string{"read", "create", "set", "delete", "doc", "alias", "method", "result", "missing", "rename",
	"chunk", "page", "limit", "extra", "composed", "refuse", "filters", "served", "deprecated", "returns", "raises",
	"unknown", "makes", "adds"}

func (m *Manager) spec(field reflect.StructField, op operation) (*Spec, error) {
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
	made, path, _ := strings.Cut(tag["makes"], " ")
	if s.Makes, s.MadeID = cmp.Or(made, m.Name), cmp.Or(path, "_id"); path == "none" {
		s.MadeID = ""
	}
	if err := s.parseUnknown(tag["unknown"]); err != nil {
		return nil, err
	}
	switch {
	case s.Effect == "":
		return nil, fmt.Errorf("no effect: one of the tags read, create, set, delete is needed")
	case len(s.Routes) == 0 && !op.assigned():
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
		if served := tag["served"]; p.Name == "limit" && served != "" {
			p.Doc += "; the platform returns up to " + served + " when absent"
		}
	}
	return s, s.checkPath()
}

// checkPath makes sure every {name} of a route has its argument.
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

// Singular is what one of a manager's resources is called by default.
func Singular(manager string) string {
	if stem, ok := strings.CutSuffix(manager, "ies"); ok {
		return stem + "y"
	}
	return strings.TrimSuffix(manager, "s")
}

// snake turns a Go name into the interface's spelling: UpdateSRS, update_srs.
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
