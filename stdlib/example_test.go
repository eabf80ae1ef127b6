package stdlib_test

import (
	"context"
	"log"
	"os"

	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib"
)

// Preload makes the toolbox available to scripts of an interpreter.
func ExampleModules() {
	in := luastd.New(context.Background(), vm.Options{Stdout: os.Stdout})
	defer in.Close()
	module.Preload(in, stdlib.Modules()...)

	_, err := in.RunString("tools", `
		local json, path, semver = require("json"), require("path"), require("semver")
		print(path.join("flight", "DJI_0001.JPG"))
		print(semver.highest({ "1.9.0", "1.10.0", "2.0.0" }, "1.x"))
		print(json.decode('{"photos": [1, 2]}').photos[2])`)
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// flight/DJI_0001.JPG
	// 1.10.0
	// 2
}
