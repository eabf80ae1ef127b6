package stdlib

import (
	"strings"

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

// stateFuncs are the operations on a namespace; in an example, $ stands for
// what they are called on.
var stateFuncs = []module.Func{
	{
		Name: "get", Doc: "Reads a value.", Returns: "the value, or the default, or nil",
		Params:  []module.Param{stateKey, {Name: "default", Type: "any", Doc: "returned when there is no value"}},
		Example: `assert($get("last run", "never") == "never")`,
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
		Example: `$set("survey", { mission = "m1", photos = 120 })
assert($get("survey").photos == 120)`,
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
		Example: `$set("old", 1)
assert($delete("old") and not $delete("old"))`,
		Call: func(c *module.Call) (any, error) {
			old, err := changeState(c, c.String("key"), func(*keyvalue.Entry) (lua.LValue, *float64, error) { return lua.LNil, nil, nil })
			return old != nil, err
		},
	},
	{
		Name: "keys", Doc: "Lists the keys, sorted.",
		Params:  []module.Param{{Name: "prefix", Type: "string", Doc: "how the keys begin", Default: ""}},
		Returns: "a list of keys",
		Example: `$set("done/a", true)
$set("done/b", true)
assert(#$keys("done/") == 2)`,
		Call: func(c *module.Call) (any, error) { return listState(c, c.String("prefix")) },
	},
	{
		Name: "each", Doc: "Iterates over the values in the order of their keys.",
		Params:  []module.Param{{Name: "prefix", Type: "string", Doc: "how the keys begin", Default: ""}},
		Returns: "an iterator of keys and values",
		Example: `$set("n/1", 10)
$set("n/2", 20)
local sum = 0
for key, n in $each("n/") do sum = sum + n end
assert(sum == 30)`,
		Call: eachState,
	},
	{
		Name: "update", Doc: "Changes a value atomically: the function gets the value (or nil) and returns the new one (nil deletes). " +
			"It is called again when another run changed the value meanwhile, so it must have no side effects. Without ttl the expiry is unchanged.",
		Params:  []module.Param{stateKey, {Name: "f", Type: "function", Doc: "from the old value to the new"}, stateTTL},
		Returns: "the new value",
		Example: `$update("seen", function(list)
  list = list or {}
  list[#list + 1] = "DJI_0001.JPG"
  return list
end)
assert($get("seen")[1] == "DJI_0001.JPG")`,
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
		Example: `assert($increment("runs") == 1 and $increment("runs", 5) == 6)`,
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
		Example: `$set("token", "x")
assert($expire("token", 3600) and not $expire("other", 1))`,
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
		Example: `$set("tmp/a", 1)
assert($clear("tmp/") == 1)`,
		Call: func(c *module.Call) (any, error) { return clearState(c, c.String("prefix")) },
	},
}

// stateCalls makes the operations those of a module or of an object.
func stateCalls(before, on string) []module.Func {
	out := make([]module.Func, len(stateFuncs))
	for i, f := range stateFuncs {
		f.Example = before + "\n" + strings.ReplaceAll(f.Example, "$", on)
		out[i] = f
	}
	return out
}

// namespace is whose values they are.
type namespace string

var namespaceType = &module.Type{
	Name: "namespace", Doc: "Values under a name, shared by the scripts that open it.",
	Methods: stateCalls(`local s = require("state").open("survey")`, "s:"),
	Text:    func(self any) string { return "namespace (" + string(self.(namespace)) + ")" },
}

var stateModule = &module.Module{
	Name: "state",
	Doc: "Stores values between runs on this machine, in a database in the state folder. Each script has its own, by the path of its file; " +
		"scripts share those of a name they open. Every operation is atomic, also between concurrent runs. Do not store passwords there.",
	Types: []*module.Type{namespaceType},
	Funcs: append(stateCalls(`local state = require("state")`, "state."), module.Func{
		Name: "open", Doc: "Opens the values of a name, which several scripts may share.",
		Params:  []module.Param{{Name: "name", Type: "string", Doc: "such as the season's"}},
		Returns: "a namespace, with the functions of this module as methods",
		Example: `local season = require("state").open("season 2024")
season:set("fields", { "n1", "n2" })
assert(season:get("fields")[2] == "n2" and require("state").get("fields") == nil)`,
		Call: func(c *module.Call) (any, error) {
			if c.String("name") == "" {
				return nil, fault.Of(&fault.ParameterError{}, "argument name must not be empty")
			}
			return module.NewObject(c.L, namespaceType, namespace("name:"+c.String("name"))), nil
		},
	}),
}
