package stdlib

import (
	"context"
	"slices"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/module"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
	"transect/stdlib/internal/keyvalue"
)

const longestState = 16 << 20

var (
	stateKey    = module.Param{Name: "key", Type: "string", Doc: "the name of the value"}
	statePrefix = module.Param{Name: "prefix", Type: "string", Doc: "how the keys begin; left out, all", Default: ""}
	stateTTL    = module.Param{Name: "ttl", Type: "number", Doc: "seconds until the value expires; without it, it is kept",
		Optional: true, Min: new(0.001), Max: new(1e10)}
)

// stateFuncs are the functions of the module and the methods of a namespace.
var stateFuncs = []module.Func{
	{
		Name: "get", Doc: "Reads a value.", Returns: "the value, or the default, or nil",
		Params: []module.Param{stateKey, {Name: "default", Type: "any", Doc: "returned when there is no value"}},
		Call: func(c *module.Call) (any, error) {
			if e := readState(c, c.String("key")); e != nil {
				return stateValue(c, e), nil
			}
			return c.Value("default"), nil
		},
	},
	{
		Name: "set", Doc: "Stores a value: text, number, boolean, or a table of those. nil deletes it.",
		Params: []module.Param{stateKey, {Name: "value", Type: "any", Doc: "the value"},
			{Name: "options", Fields: []module.Param{stateTTL}}},
		Call: func(c *module.Call) (any, error) {
			next := stateEntry(c, c.Value("value"), expiry(c, nil))
			changeState(c, func(*keyvalue.Entry) *keyvalue.Entry { return next })
			return nil, nil
		},
	},
	{
		Name: "delete", Doc: "Deletes a value.", Params: []module.Param{stateKey}, Returns: "whether there was one",
		Call: func(c *module.Call) (any, error) {
			return changeState(c, func(*keyvalue.Entry) *keyvalue.Entry { return nil }), nil
		},
	},
	{
		Name: "keys", Doc: "Lists the keys, sorted.", Params: []module.Param{statePrefix}, Returns: "a list of keys",
		Call: func(c *module.Call) (any, error) { return stateKeys(c), nil },
	},
	{
		Name: "each", Doc: "Iterates over the values in the order of their keys.", Params: []module.Param{statePrefix},
		Returns: "an iterator of keys and values",
		Call:    eachState,
	},
	{
		Name: "update", Doc: "Changes a value atomically: the function gets the value (or nil) and returns the new one " +
			"(nil deletes). " +
			"It is called again when another run changed the value meanwhile, so it must have no side effects. Without ttl " +
			"the expiry is unchanged.",
		Params: []module.Param{stateKey, {Name: "f", Type: "function", Doc: "from the old value to the new"},
			{Name: "options", Fields: []module.Param{stateTTL}}},
		Returns: "the new value",
		Call: func(c *module.Call) (any, error) {
			var latest lua.LValue
			changeState(c, func(old *keyvalue.Entry) *keyvalue.Entry {
				latest = vm.Call(c.L, c.Value("f"), stateValue(c, old))
				return stateEntry(c, latest, expiry(c, old))
			})
			return latest, nil
		},
	},
	{
		Name: "increment", Doc: "Adds to a number atomically; a missing one counts as 0.",
		Params: []module.Param{stateKey,
			{Name: "by", Type: "number", Doc: "how much", Default: 1}}, Returns: "the new number",
		Call: func(c *module.Call) (any, error) {
			var sum lua.LNumber
			changeState(c, func(old *keyvalue.Entry) *keyvalue.Entry {
				v := stateValue(c, old)
				n, isNumber := v.(lua.LNumber)
				if v != lua.LNil && !isNumber {
					c.Raise(fault.Of(&fault.TypeError{}, "the value of %q is a %s, not a number", c.String("key"), v.Type()))
				}
				sum = n + lua.LNumber(c.Number("by"))
				return stateEntry(c, sum, expiry(c, old))
			})
			return sum, nil
		},
	},
	{
		Name: "expire", Doc: "Sets the expiry of a value.", Params: []module.Param{stateKey,
			stateTTL}, Returns: "whether there is such a value",
		Call: func(c *module.Call) (any, error) {
			return changeState(c, func(old *keyvalue.Entry) *keyvalue.Entry {
				if old == nil {
					return nil
				}
				return &keyvalue.Entry{Text: old.Text, Expires: expiry(c, nil)}
			}), nil
		},
	},
	{
		Name: "clear", Doc: "Deletes all values whose key begins with a prefix.", Params: []module.Param{statePrefix},
		Returns: "how many there were",
		Call: func(c *module.Call) (any, error) {
			return onState(c, sandbox.Write, func(ctx context.Context, s *keyvalue.Store, name string) (int64, error) {
				return s.Clear(ctx, name, c.String("prefix"), now(c))
			}), nil
		},
	},
}

// namespace is the name of a set of values.
type namespace string

var namespaceType = &module.Type{
	Name: "namespace", Doc: "Values under a name, shared by the scripts that open it.",
	Methods: stateFuncs,
	Text:    func(self any) string { return "namespace (" + string(self.(namespace)) + ")" },
}

var stateModule = &module.Module{
	Name: "state",
	Doc: "Stores values between runs on this machine, in a database in the state folder. Each script has its own, by " +
		"the path of its file; " +
		"scripts that open a name share its values. Every operation is atomic, also between concurrent runs. Do not store " +
		"passwords there.",
	Types: []*module.Type{namespaceType},
	Lazy:  allStateFuncs,
}

func allStateFuncs() []module.Func {
	return append(slices.Clip(stateFuncs), module.Func{
		Name: "open", Doc: "Opens the values of a name, which several scripts may share.",
		Params:  []module.Param{{Name: "name", Type: "string", Doc: "such as the season's"}},
		Returns: "a namespace, with the functions of this module as methods",
		Call: func(c *module.Call) (any, error) {
			if c.String("name") == "" {
				return nil, fault.Of(&fault.ParameterError{}, "argument name must not be empty")
			}
			return module.NewObject(c.L, namespaceType, namespace("name:"+c.String("name"))), nil
		},
	})
}

func now(c *module.Call) float64 { return float64(c.In.Options().Now().UnixMilli()) / 1000 }

// expiry returns when a value expires: by ttl, or as before; 0 is never.
func expiry(c *module.Call, old *keyvalue.Entry) float64 {
	switch {
	case c.Has("ttl"):
		return now(c) + c.Number("ttl")
	case old != nil:
		return old.Expires
	}
	return 0
}

func eachState(c *module.Call) (any, error) {
	keys := stateKeys(c)
	return c.Iterator(func(c *module.Call) (module.Values, error) {
		for len(keys) > 0 {
			key := keys[0]
			keys = keys[1:]
			if e := readState(c, key); e != nil { // otherwise deleted meanwhile
				return module.Values{key, stateValue(c, e)}, nil
			}
		}
		return nil, nil
	}), nil
}
