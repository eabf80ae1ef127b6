package platform

import (
	"maps"
	"slices"
	"strings"

	"transect/client/declare"
	"transect/client/schema"
	"transect/client/suggest"
)

// The contract of the service as the client declares it: the operations, their methods and paths, and the
// arguments of their requests. Every request is checked against its declaration before its handler sees it.
// The reviewed contract in testdata/contract.txt, which the declarations are tested against, keeps the two
// sides from drifting together.

// operation is one method and path of the service.
type operation struct {
	*declare.Spec
	Path string // begins with a slash; {name} is an argument
	args []argument
}

// argument is one argument as sent in a request.
type argument struct {
	schema.Param      // Key is its dotted key in the body or the query
	Required     bool // in every declaration that shares the path
	list         bool // of the identifiers the operation works on
}

// maxRead limits the identifiers in one reading request, where no declaration splits them into chunks.
const maxRead = 1000

// operations lists the operations that the managers declare, each method and path once. Operations that share
// one accept each other's arguments, and require only what all of them require.
func operations(managers []*declare.Manager) []*operation {
	var all []*operation
	byRoute := map[string]*operation{}
	for _, m := range managers {
		for _, s := range m.Ops() {
			if s.Shape == declare.ShapeIterator && s.Name != "search_generator" {
				continue // composed of requests that other operations declare
			}
			for i, path := range s.Routes {
				op := newOperation(s, path, i)
				if first := byRoute[op.Method+" "+path]; first != nil {
					first.merge(op)
					continue
				}
				byRoute[op.Method+" "+path] = op
				all = append(all, op)
			}
		}
	}
	return all
}

// newOperation converts a declaration for one of its paths, which come in pairs: for one identifier and for a
// list.
func newOperation(s *declare.Spec, path string, i int) *operation {
	op := &operation{Spec: s, Path: path}
	for _, p := range s.Params {
		if p.In == schema.NotSent || strings.Contains(p.Key, "$") {
			continue
		}
		switch p.Most = s.Chunk; {
		case s.Chunk > 1:
		case s.Effect == declare.Read:
			p.Most = maxRead
		default:
			p.Most = 0
		}
		a := argument{Required: p.Required(), list: s.Effect == declare.Read && p.Type == "[]id"}
		paired := p.KeyMany != "" && len(s.Routes) > 1
		isID := p.Type == "id|[]id"
		switch {
		case p.In == schema.InPath:
			p.Key = p.Name
		case paired && i%2 == 1:
			p.Key, a.list = p.KeyMany, true
		case p.Wrap: // on the wire it is a list
			_, items, _ := strings.Cut(string(p.Type), "|")
			a.list, p.Type = true, schema.Type(items)
		case isID && (paired || s.Chunk == 1):
			p.Type = "id"
		}
		if a.list && isID {
			p.Type = "[]id"
		}
		if head, _, inList := strings.Cut(p.Key, "["); inList {
			p.Key, p.Type = head, "[]object"
		}
		if a.Param = p; op.arg(p.Key) == nil {
			op.args = append(op.args, a)
		}
	}
	if s.Effect == declare.Read && s.Method == "POST" && op.arg("fields") == nil {
		op.args = append(op.args, argument{Param: schema.Param{Name: "fields", Type: "object",
			Wire: schema.Wire{Key: "fields"}}})
	}
	return op
}

// merge adds the arguments of another declaration of the same method and path.
func (o *operation) merge(other *operation) {
	for i := range o.args {
		p := &o.args[i]
		twin := other.arg(p.Key)
		p.Required = p.Required && twin != nil && twin.Required
		if twin != nil && twin.Type != p.Type {
			p.Type = "any"
		}
	}
	for _, p := range other.args {
		if o.arg(p.Key) == nil {
			p.Required = false
			o.args = append(o.args, p)
		}
	}
}

// Override leaves it to the service to check arguments that are sent in another form than callers pass them,
// or have narrower rules.
func (o *operation) Override(keys []string) {
	for _, key := range keys {
		if p := o.arg(key); p != nil {
			p.Type = "any"
		}
	}
}

// arg returns an argument by its key, or nil.
func (o *operation) arg(key string) *argument {
	for i := range o.args {
		if o.args[i].Key == key {
			return &o.args[i]
		}
	}
	return nil
}

// Creates reports whether the operation creates what an argument called name would identify.
func (o *operation) Creates(name string) bool {
	p := o.arg(name)
	return o.Effect == declare.Create && o.Shape == declare.ShapeResource && (p == nil || p.Type != "id")
}

// List returns the key of the operation's required list of identifiers, or "".
func (o *operation) List() string {
	for _, p := range o.args {
		if p.list && p.Required {
			return p.Key
		}
	}
	return ""
}

// Check checks the arguments of a request.
func (o *operation) Check(args map[string]any) error {
	for i := range o.args {
		p := &o.args[i]
		v, err := lookup(args, p.Key)
		switch {
		case err != nil:
		case v == nil && p.Required:
			err = &schema.JSONError{Key: p.Key, Message: "is required"}
		case v == nil:
		case v == "" && p.Required && p.Type != "any":
			err = &schema.JSONError{Key: p.Key, Message: "must not be empty"}
		default:
			err = p.CheckJSON(p.Key, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CheckKeys refuses keys that look like misspelt arguments. Other unknown keys are accepted: clients may send
// arguments of their own.
func (o *operation) CheckKeys(args map[string]any, more []string) error {
	accepted := slices.Clone(more)
	for _, p := range o.args {
		head, _, _ := strings.Cut(p.Key, ".")
		accepted = append(accepted, head)
	}
	return checkKeys(args, accepted)
}

// Declared returns the arguments of a request that the operation declares.
func (o *operation) Declared(args map[string]any) map[string]any {
	declared := map[string]any{}
	for _, p := range o.args {
		head, _, _ := strings.Cut(p.Key, ".")
		if v, given := args[head]; given {
			declared[head] = v
		}
	}
	return declared
}

// checkKeys refuses keys that are close to a known one.
func checkKeys(args map[string]any, accepted []string) error {
	for _, key := range slices.Sorted(maps.Keys(args)) {
		if slices.Contains(accepted, key) {
			continue
		}
		if hint := suggest.Hint(key, accepted); hint != "" {
			return &schema.JSONError{Key: key, Message: "is not an argument of this request; " + hint}
		}
	}
	return nil
}

// lookup follows a dotted key, whose parents must be objects.
func lookup(args map[string]any, key string) (any, error) {
	path := ""
	for {
		head, rest, nested := strings.Cut(key, ".")
		v := args[head]
		if !nested || v == nil {
			return v, nil
		}
		if err := (&schema.Param{Type: "object"}).CheckJSON(path+head, v); err != nil {
			return nil, err
		}
		object := v.(map[string]any)
		args, key, path = object, rest, path+head+"."
	}
}

// Limit returns the page size that a search declares for requests without one, or 0.
func (o *operation) Limit() int64 {
	if p := o.arg("limit"); p != nil {
		n, _ := p.Default.(int64)
		return n
	}
	return 0
}
