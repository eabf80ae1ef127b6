package stdlib

import (
	"slices"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/module"
	"transect/stdlib/keyvalue"
)

var (
	stateKey = module.Param{Name: "key", Type: "string", Doc: "the name of the value"}
	stateTTL = module.Param{Name: "options", Fields: []module.Param{
		{Name: "ttl", Type: "number", Doc: "seconds until the value expires; without it, it is kept", Optional: true}}}
)

// stateFuncs are the functions of the module and the methods of a namespace.
var stateFuncs = []module.Func{
	{
		Name: "get", Doc: "Reads a value.", Returns: "the value, or the default, or nil",
		Params: []module.Param{stateKey, {Name: "default", Type: "any", Doc: "returned when there is no value"}},
		Call: func(c *module.Call) (any, error) {
			e, err := readState(c, c.String("key"))
			if err != nil || e == nil {
				return c.Value("default"), err
			}
			return stateValue(c.L, e)
		},
	},
	{
		Name: "set", Doc: "Stores a value: text, number, boolean, or a table of those. nil deletes it.",
		Params: []module.Param{stateKey, {Name: "value", Type: "any", Doc: "the value"}, stateTTL},
		Call: func(c *module.Call) (any, error) {
			ttl, err := stateLimit(c)
			if err != nil {
				return nil, err
			}
			_, err = changeState(c, c.String("key"), func(*keyvalue.Entry) (lua.LValue, *float64, error) { return c.Value("value"), ttl, nil })
			return nil, err
		},
	},
	{
		Name: "delete", Doc: "Deletes a value.", Params: []module.Param{stateKey}, Returns: "whether there was one",
		Call: func(c *module.Call) (any, error) {
			old, err := changeState(c, c.String("key"), func(*keyvalue.Entry) (lua.LValue, *float64, error) { return lua.LNil, nil, nil })
			return old != nil, err
		},
	},
	{
		Name: "keys", Doc: "Lists the keys, sorted.",
		Params:  []module.Param{{Name: "prefix", Type: "string", Doc: "how the keys begin", Default: ""}},
		Returns: "a list of keys",
		Call:    func(c *module.Call) (any, error) { return listState(c, c.String("prefix")) },
	},
	{
		Name: "each", Doc: "Iterates over the values in the order of their keys.",
		Params:  []module.Param{{Name: "prefix", Type: "string", Doc: "how the keys begin", Default: ""}},
		Returns: "an iterator of keys and values",
		Call:    eachState,
	},
	{
		Name: "update", Doc: "Changes a value atomically: the function gets the value (or nil) and returns the new one (nil deletes). " +
			"It is called again when another run changed the value meanwhile, so it must have no side effects. Without ttl the expiry is unchanged.",
		Params:  []module.Param{stateKey, {Name: "f", Type: "function", Doc: "from the old value to the new"}, stateTTL},
		Returns: "the new value",
		Call: func(c *module.Call) (any, error) {
			ttl, err := stateLimit(c)
			if err != nil {
				return nil, err
			}
			var latest lua.LValue
			_, err = changeState(c, c.String("key"), func(old *keyvalue.Entry) (lua.LValue, *float64, error) {
				v, err := stateValue(c.L, old)
				if err != nil {
					return nil, nil, err
				}
				c.L.Push(c.Value("f"))
				c.L.Push(v)
				c.L.Call(1, 1)
				latest = c.L.Get(-1)
				c.L.Pop(1)
				return latest, old.Keep(ttl), nil
			})
			return latest, err
		},
	},
	{
		Name: "increment", Doc: "Adds to a number atomically; a missing one counts as 0.",
		Params: []module.Param{stateKey, {Name: "by", Type: "number", Doc: "how much", Default: 1}}, Returns: "the new number",
		Call: func(c *module.Call) (any, error) {
			var sum lua.LNumber
			_, err := changeState(c, c.String("key"), func(old *keyvalue.Entry) (lua.LValue, *float64, error) {
				v, err := stateValue(c.L, old)
				n, isNumber := v.(lua.LNumber)
				if err == nil && v != lua.LNil && !isNumber {
					err = fault.Of(&fault.TypeError{}, "the value of %q is a %s, not a number", c.String("key"), v.Type())
				}
				sum = n + lua.LNumber(c.Number("by"))
				return sum, old.Keep(nil), err
			})
			return sum, err
		},
	},
	{
		Name: "expire", Doc: "Sets the expiry of a value.",
		Params:  []module.Param{stateKey, {Name: "ttl", Type: "number", Doc: "seconds from now; left out, the value is kept", Optional: true}},
		Returns: "whether there is such a value",
		Call: func(c *module.Call) (any, error) {
			ttl, err := stateLimit(c)
			if err != nil {
				return nil, err
			}
			old, err := changeState(c, c.String("key"), func(old *keyvalue.Entry) (lua.LValue, *float64, error) {
				v, err := stateValue(c.L, old)
				return v, ttl, err
			})
			return old != nil, err
		},
	},
	{
		Name: "clear", Doc: "Deletes all values whose key begins with a prefix.",
		Params:  []module.Param{{Name: "prefix", Type: "string", Doc: "how the keys begin; left out, all", Default: ""}},
		Returns: "how many there were",
		Call:    func(c *module.Call) (any, error) { return clearState(c, c.String("prefix")) },
	},
}

// namespace is whose values they are.
type namespace string

var namespaceType = &module.Type{
	Name: "namespace", Doc: "Values under a name, shared by the scripts that open it.",
	Methods: stateFuncs,
	Text:    func(self any) string { return "namespace (" + string(self.(namespace)) + ")" },
}

var stateModule = &module.Module{
	Name: "state",
	Doc: "Stores values between runs on this machine, in a database in the state folder. Each script has its own, by the path of its file; " +
		"scripts share those of a name they open. Every operation is atomic, also between concurrent runs. Do not store passwords there.",
	Types: []*module.Type{namespaceType},
	Funcs: append(slices.Clip(stateFuncs), module.Func{
		Name: "open", Doc: "Opens the values of a name, which several scripts may share.",
		Params:  []module.Param{{Name: "name", Type: "string", Doc: "such as the season's"}},
		Returns: "a namespace, with the functions of this module as methods",
		Call: func(c *module.Call) (any, error) {
			if c.String("name") == "" {
				return nil, fault.Of(&fault.ParameterError{}, "argument name must not be empty")
			}
			return module.NewObject(c.L, namespaceType, namespace("name:"+c.String("name"))), nil
		},
	}),
}
