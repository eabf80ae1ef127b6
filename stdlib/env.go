package stdlib

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"transect/client/fault"
	"transect/client/schema"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib/internal/dotenv"
)

var envName = module.Param{Name: "name", Type: "string", Doc: "the variable"}

// envFunc declares a function that reads variables of one type; want names the type in errors.
func envFunc(name string, typ schema.Type, doc, want string, read func(text string) (v any, ok bool)) module.Func {
	return module.Func{
		Name: name, Doc: doc + " When it is unset or empty, the default is returned; without a default it is a ConfigError.",
		Params: []module.Param{envName,
			{Name: "default", Type: typ, Doc: "returned when the variable is unset", Optional: true}},
		Returns: "its value",
		Call: func(c *module.Call) (any, error) {
			text := variable(c)
			switch {
			case text == "" && c.Has("default"):
				return c.Value("default"), nil
			case text == "":
				return nil, unset(c)
			}
			v, ok := read(strings.TrimSpace(text))
			if !ok { // the value may be a secret
				return nil, fault.Of(&fault.ConfigError{}, "the environment variable %s must be %s", c.String("name"), want)
			}
			return v, nil
		},
	}
}

var envModule = &module.Module{
	Name: "env",
	Doc:  "Reads environment variables and .env files.",
	Lazy: envFuncs,
}

func envFuncs() []module.Func {
	return []module.Func{
		{
			Name: "get", Doc: "Reads a variable.",
			Params: []module.Param{envName,
				{Name: "default", Type: "any", Doc: "returned when the variable is unset or empty"}},
			Returns: "its text, or the default, or nil",
			Call: func(c *module.Call) (any, error) {
				if text := variable(c); text != "" {
					return text, nil
				}
				return c.Value("default"), nil
			},
		},
		{
			Name: "require", Doc: "Reads a required variable; a missing one is a ConfigError.",
			Params: []module.Param{envName}, Returns: "its text",
			Call: func(c *module.Call) (any, error) {
				text := variable(c)
				if text == "" {
					return nil, unset(c)
				}
				return text, nil
			},
		},
		envFunc("number", "number", "Reads a variable that holds a number.", "a number", func(text string) (any, bool) {
			n, err := strconv.ParseFloat(text, 64)
			return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
		}),
		envFunc("integer", "integer", "Reads a variable that holds a whole number.", "a whole number",
			func(text string) (any, bool) {
				n, err := strconv.ParseInt(text, 10, 64)
				return n, err == nil && n <= vm.MaxExact && n >= -vm.MaxExact
			}),
		envFunc("boolean", "boolean", "Reads a variable that is a switch: true, yes, on, 1, or false, no, off, 0.",
			"true or false", func(text string) (any, bool) {
				yes := slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(text))
				return yes, yes || slices.Contains([]string{"false", "no", "off", "0"}, strings.ToLower(text))
			}),
		{
			Name: "load", Doc: "Reads a file of NAME=value lines, such as .env, and adds its variables to the environment of " +
				"this run; those set already win. " +
				"Programs started by the script do not see them. Values may be quoted: 'literally' or \"with \\n and \\t\"; # " +
				"begins a comment; $ has no special meaning.",
			Params:  []module.Param{{Name: "path", Type: "string", Doc: "the file", Default: ".env"}},
			Returns: "a table of the file's variables",
			Call: func(c *module.Call) (any, error) {
				data := atPath(c, c.In.ReadFile)
				values, line, why := dotenv.Parse(string(data))
				if why != "" {
					return nil, fault.Hinted(fault.Of(&fault.FileError{}, "%s, line %d: %s", c.String("path"), line, why),
						"write NAME=value")
				}
				visible := make(map[string]any, len(values))
				for name, value := range values {
					c.In.AddEnv(name, value)
					visible[name] = value
				}
				return visible, nil
			},
		},
	}
}

// variable returns the text of the variable named by the argument name.
func variable(c *module.Call) string {
	text, _, err := c.In.Env(c.String("name"))
	c.Must(err)
	return text
}

func unset(c *module.Call) error {
	return fault.Hinted(fault.Of(&fault.ConfigError{}, "the environment variable %s is not set", c.String("name")),
		"set it, or load a .env file that does")
}
