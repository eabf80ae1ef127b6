package bindings

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	lua "github.com/yuin/gopher-lua"

	"transect/client"
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/schema"
	"transect/runtime/vm"
)

// Call is the call of an operation by a script. Its arguments can be replaced.
type Call struct {
	In     *vm.Interp
	Client *client.Client
	Spec   *declare.Spec
	Args   map[string]any
}

// operation adapts one operation to Lua.
func (b *Binding) operation(c *client.Client, s *declare.Spec) lua.LGFunction {
	return func(L *lua.LState) int {
		args, err := arguments(L, s)
		vm.Must(L, err)
		doubt, err := checkSearch(L, s, args)
		if err == nil {
			err = cmp.Or(checkKinds(s, args), checkDoubts(s, args))
		}
		vm.Must(L, err)
		in := vm.Of(L)
		task := uint64(0)
		if s.Effect != declare.Read {
			task = vm.TaskPath(L)
			doubtNil(L, s)
		}
		resolvePaths(in, s, &args)
		var value declare.Value
		invoke := func(ctx context.Context) (err error) {
			value, err = s.Invoke(ctx, args)
			return err
		}
		for _, around := range slices.Backward(b.Around) {
			next := invoke
			invoke = func(ctx context.Context) error { return around(ctx, Call{in, c, s, args.Values}, next) }
		}
		run := func(ctx context.Context) error {
			moved := client.TransferOptions{Progress: in.Transferred}
			return invoke(client.WithTransfers(declare.InTask(ctx, task), moved))
		}
		var calls *Callbacks
		for name, v := range args.Values {
			if f, ok := v.(*lua.LFunction); ok {
				if calls == nil {
					calls = NewCallbacks(L, s.FullName())
				}
				args.Values[name] = calls.callback(s, f)
			}
		}
		if calls != nil {
			err = calls.Serve(run)
		} else {
			err = vm.BlockingFor(L, platform(s.FullName()), run)
		}
		if err != nil {
			if calls == nil && in.Context().Err() == nil { // otherwise it may be the error of another call, or of all
				err = fault.Called(s.FullName(), err)
			}
			vm.Raise(L, fault.In(s.FullName(), err))
		}
		for _, text := range s.Unnamed(args.Values) {
			warnOnce(L, text+" (extra = { … } marks it as intended)")
		}
		return push(L, s, args, value, doubt)
	}
}

// platform describes waiting for an operation.
func platform(operation string) vm.Waiting {
	return vm.Waiting{Name: operation, Kind: vm.ForPlatform}
}

// push pushes a result to Lua, according to its shape.
func push(L *lua.LState, s *declare.Spec, args declare.Args, v declare.Value, doubt *string) int {
	switch v.Shape {
	case declare.ShapeNone:
		return 0
	case declare.ShapeResource:
		L.Push(NewRecord(L, kindOf(s, s.Out), v.JSON))
	case declare.ShapeResources:
		L.Push(resources(L, s, args, v.Items, doubt))
	case declare.ShapePage:
		if args.Values["return_total"] != true {
			L.Push(resources(L, s, args, v.Items, doubt))
			break
		}
		page := L.NewTable()
		page.RawSetString("total", lua.LNumber(v.Total))
		page.RawSetString("results", resources(L, s, args, v.Items, doubt))
		vm.Declared(L, page, s.FullName()+" with return_total", func() []string { return []string{"total", "results"} })
		L.Push(page)
	case declare.ShapeIterator:
		L.Push(iterator(L, s, args, v.Stream, doubt))
	case declare.ShapeObject:
		L.Push(declaredTable(L, s, s.Out, rawJSON(v.JSON)))
	default:
		return pushGo(L, s, v.Go)
	}
	return 1
}

// pushGo pushes the result of a Go method.
func pushGo(L *lua.LState, s *declare.Spec, v any) int {
	switch v := v.(type) {
	case interface{ Values() []any }:
		for _, one := range v.Values() {
			pushGo(L, s, one)
		}
		return len(v.Values())
	case interface{ JSON() []byte }:
		L.Push(NewRecord(L, kindOf(s, reflect.TypeOf(v)), v.JSON()))
	default:
		L.Push(declaredTable(L, s, reflect.TypeOf(v), v))
	}
	return 1
}

// declaredTable converts a result. Reading a field that its type does not have is doubtful.
func declaredTable(L *lua.LState, s *declare.Spec, out reflect.Type, v any) lua.LValue {
	value := vm.ToLua(L, v)
	t, ok := value.(*lua.LTable)
	if !ok || out == nil || out.Kind() != reflect.Struct || out.NumField() == 0 || t.Metatable != lua.LNil {
		return value
	}
	vm.Declared(L, t, "the result of "+s.FullName(), func() (names []string) {
		for _, f := range client.FieldsOf(out) {
			names = append(names, f.Name)
		}
		return names
	})
	return value
}

// kindOf returns the manager of the records that an operation returns: an order returns a product, not an
// analytic.
func kindOf(s *declare.Spec, record reflect.Type) string {
	if s.Shape == declare.ShapeSome {
		return s.Manager
	}
	return cmp.Or(client.ManagerOf(record), s.Manager)
}

func resources(L *lua.LState, s *declare.Spec, args declare.Args, items [][]byte, doubt *string) *lua.LTable {
	meta := metaOf(L)
	t := L.CreateTable(len(items), 0)
	for i, raw := range items {
		t.RawSetInt(i+1, resourceWith(L, meta, s.Manager, raw, doubt))
	}
	if len(items) == s.Served && s.Served > 0 && cutShort(args) {
		warnOnce(L, fmt.Sprintf("%s returned %d, as many as it does without a limit: there may be more "+
			"(search_generator goes through all, limit = %d marks that number as intended)", s.FullName(), s.Served, s.Served))
	}
	if len(items) == 0 {
		vm.NothingFound(L, t, s.FullName())
		warnOfNothing(L, s, args)
	}
	return t
}

// cutShort reports whether a search may have matched more than it returned: it has no limit, does not request the
// total, and does not select by id.
func cutShort(args declare.Args) bool {
	for _, name := range []string{"limit", "page", "return_total"} {
		if args.Values[name] != nil {
			return false
		}
	}
	filter, _ := schema.AsObject(args.Values["filter"])
	return filter["_id"] == nil && filter["id"] == nil
}

// iterator makes a function for a for loop. After an error, calling it again
// retries the same page. A record that is buffered is returned without releasing
// the interpreter lock.
func iterator(L *lua.LState, s *declare.Spec, args declare.Args, stream *declare.Stream, doubt *string) *lua.LFunction {
	meta, found := metaOf(L), false
	return L.NewClosure(func(L *lua.LState) int {
		if vm.Stopping(L) {
			vm.Checkpoint(L)
		}
		var err error
		record, ok := stream.TryNext()
		if !ok {
			err = vm.BlockingFor(L, platform(s.FullName()), func(ctx context.Context) (err error) {
				record, ok, err = stream.Next(ctx)
				return err
			})
		}
		switch {
		case err != nil:
			vm.Raise(L, fault.In(s.FullName(), err))
		case !ok:
			if !found {
				warnOfNothing(L, s, args)
			}
			L.Push(lua.LNil)
		case s.Records:
			L.Push(resourceWith(L, meta, s.Manager, record, doubt))
		default:
			L.Push(vm.ToLua(L, rawJSON(record)))
		}
		found = found || ok
		return 1
	}, &lua.LUserData{Value: iterates(s.FullName())})
}
