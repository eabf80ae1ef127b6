package stdlib

import (
	"math"
	"strconv"
	"strings"

	"transect/client/fault"
	"transect/client/schema"
	"transect/runtime/module"
	"transect/stdlib/dotenv"
)

var envName = module.Param{Name: "name", Type: "string", Doc: "the variable"}

// envFunc declares a reader of variables of one type.
func envFunc(name string, typ schema.Type, doc string, read func(text string) (any, string)) module.Func {
	return module.Func{
		Name: name, Doc: doc + " One that is not set, or empty, gives the default; without a default a ConfigError says so.",
		Params:  []module.Param{envName, {Name: "default", Type: typ, Doc: "returned when the variable is unset", Optional: true}},
		Returns: "its value",
		Call: func(c *module.Call) (any, error) {
			text, err := lookupEnv(c)
			switch {
			case err != nil:
				return nil, err
			case text == "" && c.Has("default"):
				return c.Value("default"), nil
			case text == "":
				return nil, unset(c.String("name"))
			}
			v, want := read(text)
			if want != "" { // the value may be a secret
				return nil, fault.Of(&fault.ConfigError{}, "the environment variable %s must be %s", c.String("name"), want)
			}
			return v, nil
		},
	}
}

var envModule = &module.Module{
	Name: "env",
	Doc:  "Reads environment variables and .env files.",
	Funcs: []module.Func{
		{
			Name: "get", Doc: "Reads a variable.",
			Params:  []module.Param{envName, {Name: "default", Type: "any", Doc: "returned when the variable is unset or empty"}},
			Returns: "its text, or the default, or nil",
			Call: func(c *module.Call) (any, error) {
				text, err := lookupEnv(c)
				if err != nil || text != "" {
					return text, err
				}
				return c.Value("default"), nil
			},
		},
		{
			Name: "require", Doc: "Reads a required variable; a missing one is a ConfigError.",
			Params: []module.Param{envName}, Returns: "its text",
			Call: func(c *module.Call) (any, error) {
				text, err := lookupEnv(c)
				if err == nil && text == "" {
					err = unset(c.String("name"))
				}
				return text, err
			},
		},
		envFunc("number", "number", "Reads a variable that holds a number.", func(text string) (any, string) {
			n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
				return nil, "a number"
			}
			return n, ""
		}),
		envFunc("integer", "integer", "Reads a variable that holds a whole number.", func(text string) (any, string) {
			n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			if err != nil || n > 1<<53 || n < -1<<53 {
				return nil, "a whole number"
			}
			return n, ""
		}),
		envFunc("boolean", "boolean", "Reads a variable that is a switch: true, yes, on, 1, or false, no, off, 0.", func(text string) (any, string) {
			switch strings.ToLower(strings.TrimSpace(text)) {
			case "true", "yes", "on", "1":
				return true, ""
			case "false", "no", "off", "0":
				return false, ""
			}
			return nil, "true or false"
		}),
		{
			Name: "load", Doc: "Reads a file of NAME=value lines, such as .env, and adds its variables to the environment of this run; those set already win. " +
				"Programs started by the script do not see them. Values may be quoted: 'as it stands' or \"with \\n and \\t\"; # begins a comment; $ means nothing.",
			Params:  []module.Param{{Name: "path", Type: "string", Doc: "the file", Default: ".env"}},
			Returns: "a table of the file's variables",
			Call: func(c *module.Call) (any, error) {
				data, err := atPath(c, c.In.ReadFile)
				if err != nil {
					return nil, err
				}
				values, line, why := dotenv.Parse(string(data))
				if why != "" {
					return nil, fault.Hinted(fault.Of(&fault.FileError{}, "%s, line %d: %s", c.String("path"), line, why), "write NAME=value")
				}
				said := make(map[string]any, len(values))
				for name, value := range values {
					c.In.AddEnv(name, value)
					said[name] = value
				}
				return said, nil
			},
		},
	},
}

func lookupEnv(c *module.Call) (string, error) {
	name := c.String("name")
	text, _, err := c.In.Env(name)
	return text, err
}

func unset(name string) error {
	return fault.Hinted(fault.Of(&fault.ConfigError{}, "the environment variable %s is not set", name), "set it, or load a .env file that does")
}
