package transfer

import (
	"sync"
	"testing"
)

// A read that ends after the hashing has failed does not make the parts wait for
// what will never come.
func TestHashingStaysFailed(t *testing.T) {
	r := &hashRun{}
	r.advanced = sync.NewCond(&r.mu)
	r.advance(-1)
	r.advance(1000)
	if r.wait(2000) {
		t.Error("it is not failed")
	}
}
