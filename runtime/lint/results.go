package lint

import (
	"reflect"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"transect/client"
	"transect/client/declare"
	"transect/runtime/module"
	"transect/runtime/vm/mistake"
)

// answer returns the result of an operation.
func (w *walk) answer(s *declare.Spec, args []argument) fact {
	switch s.Shape {
	case declare.ShapeNone:
		return fact{noValue: true, name: s.FullName()}
	case declare.ShapeResource:
		return fact{resource: true, records: s.Manager, name: s.FullName()}
	case declare.ShapeSome:
		if w.forOne(s, args) {
			return fact{resource: true, records: s.Manager, name: s.FullName()}
		}
	case declare.ShapeGo, declare.ShapeObject: // the first value of several may be a record
		if t := s.Out; t.Kind() == reflect.Struct && t.NumField() > 0 {
			if records := client.ManagerOf(t.Field(0).Type); records != "" && t.Implements(several) {
				return fact{resource: true, records: records, name: s.FullName()}
			}
		}
		return fact{name: s.FullName()}
	case declare.ShapeResources:
		return fact{kind: "table", list: true, records: s.Manager, name: s.FullName()}
	case declare.ShapeIterator:
		return fact{kind: "function", each: 1, records: s.Manager, name: s.FullName()}
	case declare.ShapePage:
		list := fact{kind: "table", list: true, records: s.Manager, name: s.FullName()}
		if len(args) == 0 {
			return list
		}
		if t := args[len(args)-1].table; t != nil {
			if given, complete := w.fields(t); complete && given["return_total"].expr == nil {
				return list
			}
		}
	}
	return fact{}
}

// several is the type of results with more than one value.
var several = reflect.TypeFor[interface{ Values() []any }]()

// forOne reports whether a call that takes one id or a list has one id.
func (w *walk) forOne(s *declare.Spec, args []argument) bool {
	if len(args) == 0 {
		return false
	}
	given := args[0]
	if given.table != nil {
		named, _ := w.fields(given.table)
		given = named[s.Params[0].Name]
	}
	return given.kind == "string" || given.resource
}

// result returns the result of a module's function, derived from the first words of its documentation.
func (w *walk) result(callee fact, args []argument) fact {
	f := callee.function
	words, known := f.Returns, fact{name: callee.name}
	switch {
	case f == function(w.env.sdk.Funcs, "connect"):
		return fact{kind: "table", sdk: true}
	case callee.name == "script.args":
		known.kind, known.names = "table", w.declared(args)
	case words == "":
		known.noValue = true
	case strings.Contains(words, " nil"):
	case strings.HasPrefix(words, "an iterator"):
		known.kind, known.each = "function", -1
	case words == "true or false":
		known.kind = "boolean"
	case slices.Contains([]string{"the text", "its bytes", "its text", "the path", "its path"}, words):
		known.kind = "string"
	case strings.HasPrefix(words, "a list of "), strings.HasPrefix(words, "a sorted list of "):
		known.kind, known.list = "table", true
	default:
		// "a response", "the task", "a logger, with …"
		words, _, _ = strings.Cut(words, ",")
		if article, name, _ := strings.Cut(strings.TrimSuffix(words, " object"), " "); article == "a" || article == "an" ||
			article == "the" {
			known.object = w.env.types[name]
		}
	}
	return known
}

// declared lists the arguments that a script declares, or nil when not all are known.
func (w *walk) declared(args []argument) []string {
	if len(args) != 1 || args[0].table == nil {
		return nil
	}
	var names []string
	for _, f := range args[0].table.Fields {
		name, ok := f.Key.(*ast.StringExpr)
		if f.Key == nil {
			name, ok = f.Value.(*ast.StringExpr)
		}
		if !ok {
			return nil
		}
		if name.Value != "_doc" && !slices.Contains(names, name.Value) {
			names = append(names, name.Value)
		}
	}
	return names
}

// methodOf returns the method of a value of a known type.
func (w *walk) methodOf(receiver fact, name string, at position) (fact, bool) {
	switch {
	case receiver.object != nil:
		if f := function(receiver.object.Methods, name); f != nil {
			return fact{kind: "function", function: f, name: receiver.object.Name + ":" + name,
				full: receiver.object.Name + ":" + name}, true
		}
		methods := functions(receiver.object.Methods)
		w.among(methods, name, at, UnknownFunction, "a "+receiver.object.Name+" has no method "+name,
			"it has "+strings.Join(methods, ", "))
		return fact{}, true
	case receiver.kind == "string":
		w.among(w.env.libraries["string"], name, at, UnknownFunction, "a string has no method "+name, mistake.Member(name))
		return fact{standard: "string." + name, bound: name, name: "string." + name, constant: receiver.constant}, true
	case receiver.noValue:
		w.empty(receiver, at)
	case receiver.kind == "number", receiver.kind == "boolean", receiver.kind == "function":
		w.report(at, WrongCall, "a "+receiver.kind+" has no method "+name, "")
		return fact{}, true
	}
	return fact{}, false
}

// scripted checks a call of a function of the script.
func (w *walk) scripted(callee fact, args []argument, at position) fact {
	most := len(callee.script.ParList.Names)
	if !callee.script.ParList.HasVargs && len(args) > most && !(len(args) == most+1 && openEnded(args)) {
		w.report(args[most].at, TooManyArguments, callee.name+" takes "+module.AtMost(most)+", not "+
			lua.LNumber(len(args)).String(), "")
	}
	if !w.partial && !returns(callee.script.Stmts) {
		return fact{noValue: true, name: callee.name}
	}
	return fact{}
}

// firstOfTwo reports a local named like a mission that takes the first result of a call, which is the flight.
func (w *walk) firstOfTwo(s *ast.LocalAssignStmt, facts []fact, positions []position) {
	if len(s.Names) == 1 && len(facts) == 1 && facts[0].name == "missions.create" &&
		strings.HasPrefix(s.Names[0], "m") {
		w.report(positions[0], WrongValue, "missions.create returns the flight, and then the mission",
			"write local flight, "+s.Names[0]+" = …")
	}
}
