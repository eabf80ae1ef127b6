package vm_test

import (
	"testing"

	"transect/runtime/vm"
)

// Items that failed make exit code 3, and 5 when time may cure all of them.
func TestExitCodeOfFailedItems(t *testing.T) {
	in := vm.New(t.Context(), vm.Options{})
	defer in.Close()
	in.CountTemporary(2)
	for failed, want := range map[int64]int{1: 3, 2: 5, 3: 3} {
		if got := in.FailedItems(failed).Code; got != want {
			t.Errorf("%d failed: exit code %d, want %d", failed, got, want)
		}
	}
}
