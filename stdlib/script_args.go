package stdlib

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"transect/client/fault"
	"transect/client/schema"
	"transect/client/suggest"
	"transect/runtime/engine/table"
	"transect/runtime/vm"
	"transect/stdlib/argparse"
)

// computed stands for a value that is not known before the script runs.
var computed lua.LValue = &lua.LUserData{Metatable: lua.LNil}

// DeclaredArgs returns the arguments that a script declares with script.args, without running it: nil when
// there are none, or when their names or types are computed. Other values that are computed are left out: an
// argument that may have a default is optional.
func DeclaredArgs(script string, code []byte) (*argparse.Spec, error) {
	if bytes.HasPrefix(code, []byte("#")) {
		code = append([]byte("--"), code...)
	}
	chunk, err := parse.Parse(bytes.NewReader(code), script)
	if err != nil {
		return nil, err
	}
	modules := map[string]bool{"script": true} // variables that hold the module
	for _, stmt := range chunk {
		var exprs []ast.Expr
		switch s := stmt.(type) {
		case *ast.LocalAssignStmt:
			exprs = s.Exprs
		case *ast.AssignStmt:
			exprs = s.Rhs
		case *ast.FuncCallStmt:
			exprs = []ast.Expr{s.Expr}
		}
		for _, e := range exprs {
			if table := declaration(e, modules); table != nil {
				return readDeclaration(script, table)
			}
		}
		for i, name := range assigned(stmt) {
			modules[name] = i < len(exprs) && isScriptModule(exprs[i], modules)
		}
	}
	return nil, nil
}

// assigned returns the variables that a statement assigns, with "" in the place of fields.
func assigned(stmt ast.Stmt) (names []string) {
	switch s := stmt.(type) {
	case *ast.LocalAssignStmt:
		return s.Names
	case *ast.AssignStmt:
		for _, e := range s.Lhs {
			name, _ := e.(*ast.IdentExpr)
			if name == nil {
				name = &ast.IdentExpr{}
			}
			names = append(names, name.Value)
		}
	}
	return names
}

// isScriptModule reports whether an expression is the module script: a variable that holds it, or its require.
func isScriptModule(e ast.Expr, modules map[string]bool) bool {
	switch e := e.(type) {
	case *ast.IdentExpr:
		return modules[e.Value]
	case *ast.FuncCallExpr:
		if f, ok := e.Func.(*ast.IdentExpr); ok && f.Value == "require" && len(e.Args) == 1 {
			return literal(e.Args[0]) == lua.LString("script")
		}
	}
	return false
}

// declaration returns the argument of a call of script.args, nil for other expressions.
func declaration(e ast.Expr, modules map[string]bool) lua.LValue {
	call, ok := e.(*ast.FuncCallExpr)
	if !ok || len(call.Args) != 1 {
		return nil
	}
	field, ok := call.Func.(*ast.AttrGetExpr)
	if !ok || literal(field.Key) != lua.LString("args") || !isScriptModule(field.Object, modules) {
		return nil
	}
	return literal(call.Args[0])
}

// readDeclaration reads what is known of a declaration.
func readDeclaration(script string, declared lua.LValue) (*argparse.Spec, error) {
	t, ok := declared.(*lua.LTable)
	if !ok {
		return nil, nil
	}
	var open []string // arguments that may be optional
	for _, name := range textKeys(t) {
		value := t.RawGetString(name)
		if value == computed && slices.Contains([]string{"_doc", "_example", "_reads"}, name) {
			t.RawSetString(name, lua.LNil)
		} else if value == computed {
			return nil, nil
		}
		arg, ok := value.(*lua.LTable)
		if !ok {
			continue
		}
		for _, key := range textKeys(arg) {
			if arg.RawGetString(key) != computed {
				continue
			}
			switch key {
			case "short":
				return nil, nil
			case "default", "optional", "env":
				open = append(open, name)
			}
			arg.RawSetString(key, lua.LNil)
		}
	}
	spec, err := readArgSpec(t)
	if err != nil {
		return nil, err
	}
	for _, name := range open {
		spec.Args[name].Optional = true
	}
	spec.Program = program(script)
	return spec, nil
}

// literal returns the value of a literal, computed for other expressions, and for tables with computed
// elements or keys.
func literal(e ast.Expr) lua.LValue {
	switch e := e.(type) {
	case *ast.StringExpr:
		return lua.LString(e.Value)
	case *ast.NilExpr:
		return lua.LNil
	case *ast.TrueExpr:
		return lua.LTrue
	case *ast.FalseExpr:
		return lua.LFalse
	case *ast.NumberExpr:
		if n, err := strconv.ParseFloat(e.Value, 64); err == nil {
			return lua.LNumber(n)
		}
	case *ast.UnaryMinusOpExpr:
		if n, ok := literal(e.Expr).(lua.LNumber); ok {
			return -n
		}
	case *ast.StringConcatOpExpr:
		left, right := literal(e.Lhs), literal(e.Rhs)
		if lua.LVCanConvToString(left) && lua.LVCanConvToString(right) {
			return lua.LString(left.String() + right.String())
		}
	case *ast.TableExpr:
		t := &lua.LTable{Metatable: lua.LNil}
		for _, f := range e.Fields {
			value := literal(f.Value)
			key, named := f.Key.(*ast.StringExpr)
			switch {
			case named:
				t.RawSetString(key.Value, value)
			case f.Key != nil || value == computed:
				return computed
			default:
				t.Append(value)
			}
		}
		return t
	}
	return computed
}

// readArgSpec reads the declaration of a script's arguments. With several mistakes it reports the argument
// that sorts first.
func readArgSpec(t *lua.LTable) (*argparse.Spec, error) {
	s := &argparse.Spec{Args: map[string]*argparse.Arg{}}
	var err error
	for _, name := range textKeys(t) {
		v := t.RawGetString(name)
		switch {
		case err != nil:
		case name == "_doc":
			s.Doc = v.String()
		case name == "_example":
			s.Example = v.String()
		case name == "_reads":
			s.Reads = lua.LVAsBool(v)
		case name == "help":
			err = fault.Of(&fault.ParameterError{}, "argument help: --help is built in")
		default:
			s.Args[name], err = readArg(name, v)
		}
	}
	for i := 1; i <= table.Length(t) && err == nil; i++ {
		name := table.Element(t, i).String()
		if s.Args[name] == nil {
			s.Args[name] = newArg(name)
		}
		s.Positional = append(s.Positional, name)
	}
	if err == nil {
		err = checkPositional(s)
	}
	return s, err
}

// textKeys lists the text keys of a table, sorted: tables are unordered.
func textKeys(t *lua.LTable) (keys []string) {
	t.ForEach(func(k, _ lua.LValue) {
		if name, ok := k.(lua.LString); ok {
			keys = append(keys, string(name))
		}
	})
	slices.Sort(keys)
	return keys
}

// checkPositional refuses a list that is followed by an optional argument: the list would take all values.
func checkPositional(s *argparse.Spec) error {
	list := ""
	for _, name := range s.Positional {
		a := s.Args[name]
		if list != "" && (a.Type == "[]string" || a.Optional || a.Default != nil) {
			return fault.Of(&fault.ParameterError{}, "%s takes all further arguments, %s cannot follow it", list, name)
		}
		if a.Type == "[]string" {
			list = name
		}
	}
	return nil
}

func newArg(name string) *argparse.Arg {
	return &argparse.Arg{Param: schema.Param{Name: name, Type: "string"}}
}

func readArg(name string, v lua.LValue) (*argparse.Arg, error) {
	a := newArg(name)
	t, ok := v.(*lua.LTable)
	if !ok {
		return a, a.SetType(v.String())
	}
	if kind := table.Element(t, 1); kind != lua.LNil {
		if err := a.SetType(kind.String()); err != nil {
			return nil, err
		}
	}
	if table.Length(t) > 1 {
		return nil, fault.Hinted(fault.Of(&fault.ParameterError{}, "argument %s: only the type stands without a key, %s "+
			"follows it", name, table.Element(t, 2)), "write it with its key: doc = …, default = …, choices = …")
	}
	for _, key := range textKeys(t) {
		if err := readArgKey(a, key, t.RawGetString(key)); err != nil {
			return nil, err
		}
	}
	return a, a.Check()
}

func readArgKey(a *argparse.Arg, key string, v lua.LValue) error {
	switch key {
	case "doc":
		a.Doc = v.String()
	case "env":
		a.Env = v.String()
	case "short":
		a.Short = v.String()
	case "value":
		a.Value = v.String()
	case "complete":
		if a.Complete = v.String(); !slices.Contains(argparse.Completions, a.Complete) {
			return fault.Of(&fault.ParameterError{}, "argument %s: complete is one of %s", a.Name,
				strings.Join(argparse.Completions, ", "))
		}
	case "optional":
		a.Optional = lua.LVAsBool(v)
	case "default":
		value, err := vm.FromLua(nil, v)
		if err != nil {
			return fault.Of(&fault.ParameterError{}, "argument %s: the default cannot be used: %w", a.Name, err)
		}
		if _, empty := value.(schema.Empty); empty {
			value = []any{}
		}
		a.Default = value
	case "choices":
		list, ok := v.(*lua.LTable)
		if !ok || table.Length(list) == 0 {
			return fault.Of(&fault.ParameterError{}, "argument %s: choices must be a list, got a %s", a.Name, v.Type())
		}
		for i := 1; i <= table.Length(list); i++ {
			a.Choices = append(a.Choices, table.Element(list, i).String())
		}
	default:
		return fault.Of(&fault.ParameterError{}, "argument %s: unknown key %s%s", a.Name, key,
			suggest.Suffix(key, []string{"doc", "env", "optional", "default", "choices", "short", "value", "complete"}))
	}
	return nil
}
