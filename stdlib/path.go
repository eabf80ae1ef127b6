package stdlib

import (
	"path/filepath"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/vm"
)

// pathFunc declares a function from one path to one text.
func pathFunc(name, doc, returns, example string, f func(string) string) vm.Func {
	return vm.Func{
		Name: name, Doc: doc, Returns: returns, Example: example,
		Params: []vm.Param{{Name: "path", Type: "string", Doc: "a path"}},
		Call:   func(c *vm.Call) (any, error) { return f(c.String("path")), nil },
	}
}

var pathModule = &vm.Module{
	Name: "path",
	Doc:  "Takes file paths apart and joins them, by the rules of the system it runs on.",
	Funcs: []vm.Func{
		{
			Name: "join", Doc: "Joins parts with the system's separator and cleans the result.",
			Params:  []vm.Param{{Name: "...", Type: "string", Doc: "the parts"}},
			Returns: "the path",
			Example: `local path = require("path")
assert(path.base(path.join("out", "a", "b.tif")) == "b.tif")`,
			Call: func(c *vm.Call) (any, error) {
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
		pathFunc("base", "The last element of a path.", "the name",
			`assert(require("path").base("flight/DJI_0001.JPG") == "DJI_0001.JPG")`, filepath.Base),
		pathFunc("dir", "All but the last element of a path.", "the folder",
			`assert(require("path").dir("flight/DJI_0001.JPG") == "flight")`, filepath.Dir),
		pathFunc("ext", "The file name's extension with its dot, or an empty text.", "the extension",
			`assert(require("path").ext("ortho.tif") == ".tif")`, filepath.Ext),
		pathFunc("stem", "The file name without its extension.", "the name",
			`assert(require("path").stem("maps/ortho.tif") == "ortho")`, func(p string) string {
				base := filepath.Base(p)
				return base[:len(base)-len(filepath.Ext(base))]
			}),
		pathFunc("clean", "The shortest path that means the same.", "the path",
			`assert(require("path").clean("a/../b") == "b")`, filepath.Clean),
		{
			Name: "abs", Doc: "The path from the root; relative ones start where scripts' paths do.",
			Params:  []vm.Param{{Name: "path", Type: "string", Doc: "a path"}},
			Returns: "the path",
			Example: `assert(require("path").base(require("path").abs("x")) == "x")`,
			Call:    func(c *vm.Call) (any, error) { return filepath.Abs(c.In.Path(c.String("path"))) },
		},
	},
}
