package bindings_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"transect/bindings"
	"transect/client"
	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib"
	"transect/testdata/floor"
)

// searcher is an interpreter connected to a URL.
func searcher(t testing.TB, s client.Settings) *vm.Interp {
	in := luastd.New(context.Background(), vm.Options{Stdout: io.Discard, Stderr: os.Stderr, Dir: t.TempDir(), Progress: vm.ProgressQuiet})
	t.Cleanup(in.Close)
	module.Preload(in, stdlib.Modules()...)
	bindings.Open(in, func(ctx context.Context, _ *client.Settings) (*client.Client, error) {
		return client.New(ctx, s, client.Options{Env: func(string) (string, bool) { return "", false }})
	})
	return in
}

// throughAll reads the name of each dataset from Lua.
func throughAll(t testing.TB, in *vm.Interp, arguments string, want int) {
	t.Helper()
	code := fmt.Sprintf(`local n = 0
for d in require("sdk").datasets.search_generator{%s} do if #d.name > 0 then n = n + 1 end end
assert(n == %d, n)`, arguments, want)
	if _, err := in.RunString("bench", code); err != nil {
		t.Fatal(vm.Failure(err).Err)
	}
}

// TestMemoryOfALongSearch goes through many records in a process of its own,
// which may not take more memory for that than 128 MiB. A million takes a
// while: TRANSECT_BENCH_RECORDS=1000000 asks for it.
func TestMemoryOfALongSearch(t *testing.T) {
	const maxMiB = 128
	records := 100_000
	if text := os.Getenv("TRANSECT_BENCH_RECORDS"); text != "" {
		var err error
		if records, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	if address := os.Getenv("TRANSECT_SEARCH_URL"); address != "" {
		throughAll(t, searcher(t, client.Settings{URL: address, User: "ann", Password: "secret"}), "", records)
		return
	}
	if testing.Short() {
		t.Skip("left out by -short: it searches a hundred thousand records")
	}
	server := floor.Serve(t, 0)
	server.Records = records
	child := exec.Command(os.Args[0], "-test.run=^TestMemoryOfALongSearch$")
	child.Env = append(os.Environ(), "TRANSECT_SEARCH_URL="+server.URL)
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	peak := peakMemory(child.ProcessState) >> 20
	t.Logf("%d records with %d MiB at most", records, peak)
	if peak > maxMiB {
		t.Errorf("%d MiB were used", peak)
	}
}
