package transfer

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"transect/client/files"
)

// TestHashingStaysFailed: a read that ends after the hashing has failed does not leave the parts waiting.
func TestHashingStaysFailed(t *testing.T) {
	r := &hashRun{}
	r.advanced = sync.NewCond(&r.mu)
	r.advance(-1)
	r.advance(1000)
	if r.wait(2000) {
		t.Error("it is not failed")
	}
}

// TestSumBeforeUpload: a sum computed before the upload is not computed again, unless the file has
// changed since.
func TestSumBeforeUpload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("content")
	s := New(nil, Options{})
	u := Upload{Path: path, Multipart: true}
	sum, err := s.Sum(t.Context(), u)
	if err != nil || sum != "9a0364b9e99bb480dd25e1f0284c8555" {
		t.Fatal(sum, err)
	}
	known := func() bool {
		src, err := openSource(path, files.Tree{})
		if err != nil {
			t.Fatal(err)
		}
		defer src.close()
		p, err := planFor(src.info.Size(), u, false)
		if err != nil {
			t.Fatal(err)
		}
		_, ok := s.summed.Load(summedKey{src.state(), p.chunk})
		return ok
	}
	if !known() {
		t.Error("the sum is forgotten")
	}
	if write("contents"); known() {
		t.Error("the sum of another content is used")
	}
}
