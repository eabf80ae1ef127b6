package module_test

import (
	"context"
	"log"
	"os"

	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/vm"
)

// A module is one declaration. Arguments are checked against it before Call sees them.
func Example() {
	area := &module.Module{
		Name: "area",
		Doc:  "Areas of plain shapes.",
		Funcs: []module.Func{{
			Name: "rectangle", Doc: "Computes the area of a rectangle.",
			Params: []module.Param{
				{Name: "width", Type: "number", Doc: "metres"},
				{Name: "height", Type: "number", Doc: "metres; the width when absent", Optional: true},
			},
			Returns: "square metres",
			Call: func(c *module.Call) (any, error) {
				if !c.Has("height") {
					return c.Number("width") * c.Number("width"), nil
				}
				return c.Number("width") * c.Number("height"), nil
			},
		}},
	}

	in := luastd.New(context.Background(), vm.Options{Stdout: os.Stdout})
	defer in.Close()
	module.Preload(in, area)
	_, err := in.RunString("field", `
		local area = require("area")
		print(area.rectangle(20, 5), area.rectangle(20))
		local _, refused = try(area.rectangle, "wide")
		print(refused)`)
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// 100	400
	// area.rectangle: argument width must be a number, got a string
}
