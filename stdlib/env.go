package stdlib

import (
	"context"
	"math"
	"strconv"
	"strings"

	"transect/client/fault"
	"transect/runtime/vm"
)

var envName = vm.Param{Name: "name", Type: "string", Doc: "the variable"}

// envFunc declares a reader of variables of one type.
func envFunc(name, typ, doc, example string, read func(text string) (any, string)) vm.Func {
	return vm.Func{
		Name: name, Doc: doc + " One that is not set, or empty, gives the default; without a default a ConfigError says so.",
		Params:  []vm.Param{envName, {Name: "default", Type: typ, Doc: "what to give when the variable is not set", Optional: true}},
		Returns: "its value", Example: example,
		Call: func(c *vm.Call) (any, error) {
			text, err := lookEnv(c)
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

var envModule = &vm.Module{
	Name: "env",
	Doc:  "Reads environment variables and .env files.",
	Funcs: []vm.Func{
		{
			Name: "get", Doc: "Reads a variable.",
			Params:  []vm.Param{envName, {Name: "default", Type: "any", Doc: "what to give when the variable is not set, or empty"}},
			Returns: "its text, or the default, or nil",
			Example: `assert(require("env").get("NO_SUCH_VARIABLE", "none") == "none")`,
			Call: func(c *vm.Call) (any, error) {
				text, err := lookEnv(c)
				if err != nil || text != "" {
					return text, err
				}
				return c.Value("default"), nil
			},
		},
		{
			Name: "require", Doc: "Reads a variable that must be set: a ConfigError says which one is not.",
			Params: []vm.Param{envName}, Returns: "its text",
			Example: `local _, err = try(require("env").require, "NO_SUCH_VARIABLE")
assert(err.name == "ConfigError")`,
			Call: func(c *vm.Call) (any, error) {
				text, err := lookEnv(c)
				if err == nil && text == "" {
					err = unset(c.String("name"))
				}
				return text, err
			},
		},
		envFunc("number", "number", "Reads a variable that holds a number.",
			`assert(require("env").number("NO_SUCH_VARIABLE", 2.5) == 2.5)`, func(text string) (any, string) {
				n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
				if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
					return nil, "a number"
				}
				return n, ""
			}),
		envFunc("integer", "integer", "Reads a variable that holds a whole number.",
			`assert(require("env").integer("NO_SUCH_VARIABLE", 8) == 8)`, func(text string) (any, string) {
				n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
				if err != nil || n > 1<<53 || n < -1<<53 {
					return nil, "a whole number"
				}
				return n, ""
			}),
		envFunc("boolean", "boolean", "Reads a variable that is a switch: true, yes, on, 1, or false, no, off, 0.",
			`assert(require("env").boolean("NO_SUCH_VARIABLE", false) == false)`, func(text string) (any, string) {
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
			Params:  []vm.Param{{Name: "path", Type: "string", Doc: "the file", Default: ".env"}},
			Returns: "a table of what the file says",
			Example: `local env = require("env")
require("fs").write(".env", "SEASON=2024  # this one\nexport GREETING='hello # world'\n")
assert(env.load().GREETING == "hello # world" and env.integer("SEASON") == 2024)`,
			Call: func(c *vm.Call) (any, error) {
				path := c.In.Path(c.String("path"))
				var data []byte
				err := c.Blocking(func(context.Context) (err error) { data, err = c.In.ReadFile(path); return err })
				if err != nil {
					return nil, fileError(c, "path", err)
				}
				values, line, why := parseDotEnv(string(data))
				if why != "" {
					return nil, fault.Hinted(fault.Of(&fault.FileError{}, "%s, line %d: %s", c.String("path"), line, why), "write NAME=value")
				}
				for name, value := range values {
					c.In.AddEnv(name, value.(string))
				}
				return values, nil
			},
		},
	},
}

func lookEnv(c *vm.Call) (string, error) {
	name := c.String("name")
	text, _, err := c.In.Env(name)
	return text, err
}

func unset(name string) error {
	return fault.Hinted(fault.Of(&fault.ConfigError{}, "the environment variable %s is not set", name), "set it, or load a .env file that does")
}

// parseDotEnv reads NAME=value lines, or says in which line what is wrong,
// without the value: it may be a secret.
func parseDotEnv(text string) (values map[string]any, line int, why string) {
	values = map[string]any{}
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	for line = 1; text != ""; {
		head, _, _ := strings.Cut(text, "\n")
		if trimmed := strings.TrimSpace(head); trimmed == "" || trimmed[0] == '#' {
			text = strings.TrimPrefix(text[len(head):], "\n")
			line++
			continue
		}
		name, _, ok := strings.Cut(head, "=")
		if !ok {
			return nil, line, "there is no = in it"
		}
		rest := strings.TrimLeft(text[len(name)+1:], " \t")
		name = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(name), "export "))
		if !isVariable(name) {
			return nil, line, "before = there is no name of a variable"
		}
		value, after, why := dotEnvValue(rest)
		if why != "" {
			return nil, line, why
		}
		values[name] = value
		line += strings.Count(text[:len(text)-len(after)], "\n")
		text = after
	}
	return values, line, ""
}

// dotEnvValue takes a value off the start of text, and the rest of its line.
func dotEnvValue(text string) (value, after, why string) {
	if text == "" || text[0] != '"' && text[0] != '\'' {
		value, after, _ = strings.Cut(text, "\n")
		if strings.HasPrefix(value, "#") {
			value = ""
		}
		for _, comment := range []string{" #", "\t#"} {
			value, _, _ = strings.Cut(value, comment)
		}
		return strings.TrimSpace(value), after, ""
	}
	var b strings.Builder
	quote, escapes := text[0], map[byte]byte{'n': '\n', 't': '\t', 'r': '\r'}
	for i := 1; i < len(text); i++ {
		switch ch := text[i]; {
		case ch == quote:
			rest, after, _ := strings.Cut(text[i+1:], "\n")
			if rest = strings.TrimSpace(rest); rest != "" && rest[0] != '#' {
				return "", "", "something follows the closing quote"
			}
			return b.String(), after, ""
		case ch == '\\' && quote == '"' && i+1 < len(text):
			i++
			if e, ok := escapes[text[i]]; ok {
				b.WriteByte(e)
			} else {
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(ch)
		}
	}
	return "", "", "the closing quote is missing"
}

func isVariable(name string) bool {
	for i, r := range name {
		if r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (i == 0 || (r < '0' || r > '9') && r != '.' && r != '-') {
			return false
		}
	}
	return name != ""
}
