package stdlib

import (
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/module"
)

// pathFunc declares a function from one path to one text.
func pathFunc(name, doc, returns string, f func(string) string) module.Func {
	return module.Func{
		Name: name, Doc: doc, Returns: returns,
		Params: []module.Param{{Name: "path", Type: "string", Doc: "a path"}},
		Call:   func(c *module.Call) (any, error) { return f(c.String("path")), nil },
	}
}

var pathModule = &module.Module{
	Name: "path",
	Doc:  "Splits and joins file paths, by the rules of the operating system.",
	Lazy: pathFuncs,
}

func pathFuncs() []module.Func {
	return []module.Func{
		{
			Name: "join", Doc: "Joins parts with the system's separator and cleans the result.",
			Params:  []module.Param{{Name: "...", Type: "string", Doc: "the parts"}},
			Returns: "the path",
			Call: func(c *module.Call) (any, error) {
				var parts []string
				for i, v := range c.Rest() {
					if v.Type() != lua.LTString && v.Type() != lua.LTNumber {
						return nil, fault.Of(&fault.ParameterError{}, "part %d must be a string, got a %s", i+1, v.Type())
					}
					parts = append(parts, v.String())
				}
				return filepath.Join(parts...), nil
			},
		},
		pathFunc("base", "The last element of a path.", "the name", filepath.Base),
		pathFunc("dir", "All but the last element of a path.", "the folder", filepath.Dir),
		pathFunc("ext", "The file name's extension with its dot, or an empty text.", "the extension", filepath.Ext),
		pathFunc("stem", "The file name without its extension.", "the name", func(p string) string {
			base := filepath.Base(p)
			return base[:len(base)-len(filepath.Ext(base))]
		}),
		pathFunc("clean", "The shortest equivalent path.", "the path", filepath.Clean),
		{
			Name: "abs", Doc: "The path from the root; relative ones start where scripts' paths do.",
			Params:  []module.Param{{Name: "path", Type: "string", Doc: "a path"}},
			Returns: "the path",
			Call:    func(c *module.Call) (any, error) { return filepath.Abs(c.In.Path(c.String("path"))) },
		},
		{
			Name: "relative",
			Doc:  "The relative path from a folder to a path; a ValueError when there is none, such as between two drives.",
			Params: []module.Param{{Name: "path", Type: "string", Doc: "where to"},
				{Name: "base", Type: "string", Doc: "the folder from which", Default: "."}},
			Returns: "the path from there",
			Call: func(c *module.Call) (any, error) {
				from, err := filepath.Abs(c.In.Path(c.String("base")))
				c.Must(err)
				to, err := filepath.Abs(c.In.Path(c.String("path")))
				c.Must(err)
				way, err := filepath.Rel(from, to)
				if err != nil {
					return nil, fault.Of(&fault.ValueError{}, "there is no relative path from %s to %s", c.String("base"),
						c.String("path"))
				}
				return way, nil
			},
		},
		{
			Name: "parts", Doc: "The elements of a path, the root as its first.",
			Params: []module.Param{{Name: "path", Type: "string", Doc: "a path"}}, Returns: "a list of names",
			Call: func(c *module.Call) (any, error) {
				clean := filepath.Clean(c.String("path"))
				root := filepath.VolumeName(clean)
				rest := clean[len(root):]
				if filepath.IsAbs(clean) {
					root, rest = root+string(filepath.Separator), strings.TrimLeft(rest, string(filepath.Separator))
				}
				parts := []string{}
				if root != "" {
					parts = append(parts, root)
				}
				if rest != "" {
					parts = append(parts, strings.Split(rest, string(filepath.Separator))...)
				}
				return parts, nil
			},
		},
		{
			Name: "with_ext", Doc: "Replaces the extension of a path.",
			Params: []module.Param{{Name: "path", Type: "string", Doc: "a path"},
				{Name: "ext", Type: "string", Doc: "such as .tif, with or without its dot; empty for none"}},
			Returns: "the path",
			Call: func(c *module.Call) (any, error) {
				name, ext := c.String("path"), c.String("ext")
				if ext != "" && !strings.HasPrefix(ext, ".") {
					ext = "." + ext
				}
				if strings.ContainsAny(ext, `/\`) {
					return nil, fault.Of(&fault.ParameterError{}, "argument ext must be an extension such as .tif, got %q",
						c.String("ext"))
				}
				return strings.TrimSuffix(name, filepath.Ext(name)) + ext, nil
			},
		},
		{
			Name: "is_abs", Doc: "Reports whether a path is absolute.",
			Params: []module.Param{{Name: "path", Type: "string", Doc: "a path"}}, Returns: "true or false",
			Call: func(c *module.Call) (any, error) { return filepath.IsAbs(c.String("path")), nil },
		},
		{
			Name: "match", Doc: "Reports whether a path matches a pattern of fs.glob; no file is accessed.",
			Params: []module.Param{{Name: "pattern", Type: "string", Doc: "such as **/*.{jpg,JPG}"},
				{Name: "path", Type: "string", Doc: "a path"}},
			Returns: "true or false",
			Call: func(c *module.Call) (any, error) {
				pattern := filepath.ToSlash(c.String("pattern"))
				if !doublestar.ValidatePattern(pattern) {
					return nil, fault.Of(&fault.ParameterError{}, "%q is not a pattern", c.String("pattern"))
				}
				return doublestar.MatchUnvalidated(pattern, filepath.ToSlash(c.String("path"))), nil
			},
		},
	}
}
