package vm

import (
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// Session runs chunks of code one after another in one interpreter, as a
// prompt does. What a chunk declares local at its top level lasts for the
// session: in plain Lua it would be gone with the line that was typed.
type Session struct {
	in  *Interp
	env *lua.LTable // the lasting locals; behind them, the globals

	// Waits is called with the number of tasks a chunk still waits for when its
	// own code is over. Optional; it runs with the lock.
	Waits func(tasks int)
}

// sessionName is the name by which chunks reach their lasting locals; no script can use it.
const sessionName = "(session)"

// NewSession makes a session without any locals yet.
func (in *Interp) NewSession() *Session {
	in.acquire()
	defer in.release()
	s := &Session{in: in, env: in.main.NewTable()}
	in.lasting = s.env
	globals := in.main.G.Global
	behind := in.main.NewTable()
	behind.RawSetString("__index", globals)
	behind.RawSetString("__newindex", globals)
	s.env.Metatable = behind

	// Assigning to a field of this object declares a local, also one of the
	// name of a global.
	declare := in.main.NewTable()
	declare.RawSetString("__newindex", in.main.NewFunction(func(L *lua.LState) int {
		s.env.RawSet(L.Get(2), L.Get(3))
		return 0
	}))
	s.env.RawSetString(sessionName, &lua.LUserData{Env: globals, Metatable: declare})
	return s
}

// Run runs a chunk under a name and returns its values. It counts as an
// Interp's run: Interrupt ends it.
func (s *Session) Run(name, code string) ([]lua.LValue, error) {
	return s.in.perform(func() (*lua.LFunction, error) {
		fn, err := compiled(s.in.main, name, []byte(code), lasting)
		if err == nil {
			fn.Env = s.env
		}
		return fn, err
	}, s.Waits)
}

// Do runs a Go function as Run does a chunk: it may use L, and can be
// interrupted where it calls Lua.
func (s *Session) Do(f func(L *lua.LState) error) error {
	_, err := s.in.perform(func() (*lua.LFunction, error) {
		return s.in.main.NewFunction(func(L *lua.LState) int {
			if err := f(L); err != nil {
				Raise(L, err)
			}
			return 0
		}), nil
	}, nil)
	return err
}

// Set declares a local of the session.
func (s *Session) Set(name string, v lua.LValue) {
	s.Inspect(func(locals, _ *lua.LTable) { locals.RawSetString(name, v) })
}

// Inspect lets f read the locals of the session and the globals, raw: no Lua may
// run in it. Not for code called from Lua, which has the lock already.
func (s *Session) Inspect(f func(locals, globals *lua.LTable)) {
	s.in.acquire()
	defer s.in.release()
	f(s.env, s.in.main.G.Global)
}

// lasting makes the local statements of a chunk's top level declarations of
// the session.
func lasting(chunk []ast.Stmt) {
	for i, stmt := range chunk {
		local, ok := stmt.(*ast.LocalAssignStmt)
		if !ok {
			continue
		}
		declared := &ast.AssignStmt{Rhs: local.Exprs}
		for _, name := range local.Names {
			declared.Lhs = append(declared.Lhs, at(local, &ast.AttrGetExpr{
				Object: at(local, &ast.IdentExpr{Value: sessionName}), Key: at(local, &ast.StringExpr{Value: name})}))
		}
		if len(declared.Rhs) == 0 {
			declared.Rhs = []ast.Expr{at(local, &ast.NilExpr{})}
		}
		chunk[i] = at(local, declared)
	}
}

// at copies the lines of another node to a node.
func at[N ast.PositionHolder](of ast.PositionHolder, n N) N {
	n.SetLine(of.Line())
	n.SetLastLine(max(of.LastLine(), of.Line()))
	return n
}
