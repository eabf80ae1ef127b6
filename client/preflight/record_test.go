package preflight

import (
	"fmt"
	"testing"
	"unsafe"

	"transect/client/scan"
)

func TestRecordsAreSmall(t *testing.T) {
	if n := unsafe.Sizeof(photoRecord{}) + unsafe.Sizeof(fileRecord{}); n > 80 {
		t.Errorf("an image takes %d bytes, documented are 80", n)
	}
}

func TestNamesComeBack(t *testing.T) {
	c := New(Options{Dir: t.TempDir()})
	defer c.Close()
	var files []scan.File
	for i := range 20_000 {
		files = append(files, scan.File{Path: fmt.Sprintf("/photos/of/%d/DCIM/DJI_%05d.JPG", i/10*10, i), Name: fmt.Sprintf("DCIM/DJI_%05d.JPG", i)})
		c.addFile("image", files[i], i%2 > 0)
	}
	for i := range c.files.Len() {
		if name, path, _ := c.file(i); name != files[i].Name || path != files[i].Path {
			t.Fatalf("got %q, %q of %+v", name, path, files[i])
		}
	}
}
