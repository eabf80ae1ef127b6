// Package lookup is the Lua module lookup, and lets operations get names of projects and missions in place of ids.
package lookup

import (
	"context"
	"embed"
	"sync"

	lua "github.com/yuin/gopher-lua"

	"transect/bindings"
	"transect/client/fault"
	"transect/client/lookup"
	"transect/runtime/module"
	"transect/runtime/vm"
)

// Examples are the examples of the functions; see package examples.
//
//go:embed examples/*.lua
var Examples embed.FS

var (
	lookupText = module.Param{Name: "text", Type: "string", Doc: "an id, a name, or a path such as PROJECT/MISSION"}
	missingOK  = module.Param{Name: "missing_ok", Type: "boolean",
		Doc: "true returns nil when it does not exist, instead of an error", Default: false}
	lookupOtherwise = module.Param{Name: "otherwise", Type: "string",
		Doc: "hint of the error: what else can be done", Default: ""}
)

func lookupOptions(c *module.Call) lookup.Options {
	return lookup.Options{MissingOK: c.Bool("missing_ok"), Otherwise: c.String("otherwise")}
}

// Module makes the module lookup and has operations of b resolve names.
func Module(b *bindings.Binding) *module.Module {
	b.Around = append(b.Around, new(resolver).resolve)
	return &module.Module{
		Name: "lookup",
		Doc: "Finds records by id, name or a path such as PROJECT/MISSION, as the commands do. " +
			"None or several of that name are a UsageError that lists the candidates.",
		Lazy: func() []module.Func { return lookupFuncs(b) },
	}
}

// Declaration describes the module, for documentation.
func Declaration() *module.Module { return Module(new(bindings.Binding)).Declare() }

// resolver resolves names on the platforms of a script.
type resolver struct{ names sync.Map } // by client

// resolve replaces names in the arguments of an operation by ids, and calls it.
func (r *resolver) resolve(ctx context.Context, call bindings.Call, next func(context.Context) error) error {
	names, ok := r.names.Load(call.Client)
	if !ok {
		names, _ = r.names.LoadOrStore(call.Client, lookup.NewNames(call.Client, call.In.Options().Logger))
	}
	if err := names.(*lookup.Names).Resolve(ctx, call.Spec, call.Args); err != nil {
		return err
	}
	return next(ctx)
}

func lookupFuncs(b *bindings.Binding) []module.Func {
	return []module.Func{
		{
			Name: "project", Doc: "Finds a project.", Returns: "the project; nil when there is none and missing_ok is set",
			Params: []module.Param{lookupText, {Name: "options", Fields: []module.Param{missingOK, lookupOtherwise}}},
			Call: found(b, func(ctx context.Context, f lookup.Finder, c *module.Call) (*lookup.Record, error) {
				return f.Project(ctx, c.String("text"), lookupOptions(c))
			}),
		},
		{
			Name: "mission", Doc: "Finds a mission, of one project or of all.", Returns: "the mission",
			Params: []module.Param{lookupText, {Name: "options", Fields: []module.Param{
				{Name: "project", Type: "any", Doc: "the record of its project", Optional: true}, lookupOtherwise}}},
			Call: found(b, func(ctx context.Context, f lookup.Finder, c *module.Call) (*lookup.Record, error) {
				if !c.Has("project") {
					return f.AnyMission(ctx, c.String("text"))
				}
				project, ok := bindings.RecordOf(c.Value("project"))
				if !ok {
					return nil, fault.In(c.Name, fault.Of(&fault.ParameterError{}, "option project must be a record, got a %s",
						c.Value("project").Type()))
				}
				return f.Mission(ctx, &lookup.Record{Kind: "project", JSON: project.JSON}, c.String("text"), c.String("otherwise"))
			}),
		},
		{
			Name: "place", Doc: "Finds PROJECT or PROJECT/MISSION.",
			Returns: "a table of project and mission; with missing_ok also new_project and new_mission, the names of what " +
				"does not exist yet",
			Params: []module.Param{lookupText, {Name: "options", Fields: []module.Param{
				missingOK, lookupOtherwise}}},
			Call: func(c *module.Call) (any, error) { return findPlace(b, c) },
		},
		{
			Name: "any", Doc: "Finds a project, mission, dataset, product or analytic.", Returns: "the record; its kind",
			Params: []module.Param{lookupText},
			Call: found(b, func(ctx context.Context, f lookup.Finder, c *module.Call) (*lookup.Record, error) {
				return f.Any(ctx, c.String("text"))
			}),
		},
		{
			Name:   "product",
			Doc:    "Finds a product by its id, or the newest one of a project or mission, as in PROJECT/MISSION/ANALYTIC.",
			Params: []module.Param{lookupText}, Returns: "the product",
			Call: found(b, func(ctx context.Context, f lookup.Finder, c *module.Call) (*lookup.Record, error) {
				return f.Product(ctx, c.String("text"))
			}),
		},
	}
}

// found declares a function that returns a record, and its kind if any kind may be found.
func found(b *bindings.Binding, find func(context.Context, lookup.Finder, *module.Call) (*lookup.Record,
	error)) func(*module.Call) (any, error) {
	return func(c *module.Call) (any, error) {
		var r *lookup.Record
		with(b, c, func(ctx context.Context, f lookup.Finder) (err error) {
			r, err = find(ctx, f, c)
			return err
		})
		if r == nil {
			return nil, nil
		}
		if c.Name == "lookup.any" {
			return module.Values{record(c.L, r), r.Kind}, nil
		}
		return record(c.L, r), nil
	}
}

// with calls a finder. Its errors concern what the user typed and do not name this module.
func with(b *bindings.Binding, c *module.Call, find func(context.Context, lookup.Finder) error) {
	finder := lookup.In(b.Command(c.L))
	vm.Must(c.L, c.Blocking(func(ctx context.Context) error { return find(ctx, finder) }))
}

func record(L *lua.LState, r *lookup.Record) lua.LValue {
	if r == nil {
		return lua.LNil
	}
	return bindings.NewRecord(L, r.Kind+"s", r.JSON)
}

func findPlace(b *bindings.Binding, c *module.Call) (any, error) {
	var place lookup.Place
	with(b, c, func(ctx context.Context, f lookup.Finder) (err error) {
		place, err = f.Target(ctx, c.String("text"), lookupOptions(c))
		return err
	})
	t := c.L.NewTable()
	t.RawSetString("project", record(c.L, place.Project))
	t.RawSetString("mission", record(c.L, place.Mission))
	for name, text := range map[string]string{"new_project": place.NewProject, "new_mission": place.NewMission} {
		if text != "" {
			t.RawSetString(name, lua.LString(text))
		}
	}
	return t, nil
}
