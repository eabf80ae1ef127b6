package vm_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"transect/runtime/luastd"
	"transect/runtime/vm"
)

// RunString runs a chunk and returns its values.
func ExampleInterp_RunString() {
	in := luastd.New(context.Background(), vm.Options{Stdout: os.Stdout})
	defer in.Close()

	values, err := in.RunString("sum", `
		local n = 0
		for i = 1, 4 do n = n + i end
		print("ready")
		return n`)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(values[0])
	// Output:
	// ready
	// 10
}

// A script that does not end is stopped by its limits. Failure tells where it was.
func ExampleLimits() {
	in := luastd.New(context.Background(), vm.Options{Limits: vm.Limits{Instructions: 100_000}})
	defer in.Close()

	_, err := in.RunString("endless", "while true do end")
	fmt.Println(vm.Failure(err).Err)
	// Output: the script ran more than 100000 instructions
}
