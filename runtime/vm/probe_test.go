package vm_test

import (
	"context"
	"time"

	glua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/module"
	"transect/runtime/vm"
)

// probe is a module that does what the tests need of one.
var probe = &module.Module{
	Name: "probe",
	Funcs: []module.Func{
		{
			Name: "fail", Params: []module.Param{{Name: "how", Type: "string"}},
			Call: func(c *module.Call) (any, error) {
				return nil, fault.Of(&fault.ResponseError{Status: 404, Details: map[string]any{"why": "gone"}}, "no such thing")
			},
		},
		{
			Name: "panic",
			Call: func(c *module.Call) (any, error) {
				var list []int
				return list[len(c.Rest())+3], nil
			},
		},
		{
			Name: "options", Returns: "the options",
			Params: []module.Param{{Name: "text", Type: "string"}, {Name: "options", Fields: []module.Param{
				{Name: "mode", Type: "string", Default: "fast", Choices: []string{"fast", "slow"}},
				{Name: "count", Type: "integer", Default: 3},
			}}},
			Call: func(c *module.Call) (any, error) {
				return map[string]any{"mode": c.String("mode"), "count": c.Int("count")}, nil
			},
		},
		{
			Name: "wait", Params: []module.Param{{Name: "seconds", Type: "number"}},
			Call: func(c *module.Call) (any, error) {
				return nil, c.Blocking(func(ctx context.Context) error {
					select {
					case <-time.After(time.Duration(c.Number("seconds") * float64(time.Second))):
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				})
			},
		},
		{
			Name: "spawn", Returns: "a task", Params: []module.Param{{Name: "f", Type: "function"}, {Name: "...", Type: "any"}},
			Call: func(c *module.Call) (any, error) {
				return module.NewObject(c.L, task, vm.Spawn(c.L, c.Function("f"), c.Rest()...)), nil
			},
		},
		{
			Name: "scope", Returns: "what f returns", Params: []module.Param{{Name: "f", Type: "function"}, {Name: "seconds", Type: "number", Optional: true}},
			Call: func(c *module.Call) (any, error) {
				timeout := time.Duration(c.Number("seconds") * float64(time.Second))
				return values(vm.WithScope(c.L, vm.TimeLimit{After: timeout, By: c.Name}, c.Function("f"))), nil
			},
		},
	},
}

var task = &module.Type{Name: "task", Methods: []module.Func{
	{Name: "await", Call: func(c *module.Call) (any, error) { return values(c.Self.(*vm.Task).Await(c.L)), nil }},
	{Name: "cancel", Call: func(c *module.Call) (any, error) { c.Self.(*vm.Task).Cancel(); return nil, nil }},
	{Name: "status", Returns: "text", Call: func(c *module.Call) (any, error) { return c.Self.(*vm.Task).Status(), nil }},
}}

func values(list []glua.LValue) module.Values {
	all := make(module.Values, len(list))
	for i, v := range list {
		all[i] = v
	}
	return all
}
