package preflight

import (
	"fmt"
	"path/filepath"
	"testing"
	"unsafe"
)

func TestRecordsAreSmall(t *testing.T) {
	if n := unsafe.Sizeof(photoRecord{}) + unsafe.Sizeof(fileRecord{}); n > 80 {
		t.Errorf("an image takes %d bytes, documented are 80", n)
	}
}

func TestNamesComeBack(t *testing.T) {
	var n names
	type both struct{ path, name string }
	kept := map[nameRef]both{}
	for i := range 70_000 {
		b := both{filepath.FromSlash(fmt.Sprintf("/photos/of/%d/DCIM/DJI_%05d.JPG", i/10*10, i)), fmt.Sprintf("DCIM/DJI_%05d.JPG", i)}
		if i%3 == 0 { // every one in a folder of its own: more than can be numbered
			b = both{fmt.Sprintf("/%d/elsewhere", i), "another name"}
		} else if i%3 == 1 {
			b.path = filepath.FromSlash(fmt.Sprintf("/p%d/", i)) + filepath.FromSlash(b.name)
		}
		kept[n.add(b.path, b.name)] = b
	}
	for ref, b := range kept {
		if n.path(ref) != b.path || n.name(ref) != b.name {
			t.Fatalf("got %q, %q of %q, %q", n.path(ref), n.name(ref), b.path, b.name)
		}
	}
}
