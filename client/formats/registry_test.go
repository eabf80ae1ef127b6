package formats

import (
	"bytes"
	"context"
	"testing"
)

// TestDeclarations: names and extensions are unique, and every format can be recognised.
func TestDeclarations(t *testing.T) {
	by := map[string]int{}
	add := func(kind, name string) {
		if by[kind+name]++; by[kind+name] > 1 {
			t.Errorf("two formats have the %s %q", kind, name)
		}
	}
	for i := range registered {
		f := &registered[i]
		if f.name != "" {
			add("name ", f.name)
		}
		for _, ext := range f.extensions {
			add("extension ", ext)
		}
		if f.kind == "" || f.name == "" && f.among == 0 {
			t.Errorf("the format %q %v has no kind, or is named by nothing", f.name, f.extensions)
		}
		if f.title != "" && len(f.extensions) == 0 || f.among != 0 && len(f.extensions) == 0 {
			t.Errorf("the format %q needs an extension", f.name)
		}
		if f.describe == nil && (f.picture != nil || f.features != nil || f.open != nil || f.check != nil) {
			t.Errorf("the format %q is read but not described", f.name)
		}
		for _, suffix := range f.required {
			if f.beside[suffix] == "" {
				t.Errorf("the format %q requires %s, which is no component", f.name, suffix)
			}
		}
	}
}

// TestWorldFilesFollowExtensions: the names of world files are those of the extensions they may accompany.
func TestWorldFilesFollowExtensions(t *testing.T) {
	for _, name := range []string{"a.tfw", "a.tifw", "a.jgw", "a.jpegw", "a.gifw", "a.bmpw", "a.bqw", "a.j2w", "a.sdw", "a.wld"} {
		if stem, ok := SidecarStem(name); stem != "a" || !ok || !NeedsMain(name) {
			t.Errorf("%s is not a file beside %q", name, stem)
		}
	}
	for _, name := range []string{"a.asw", "a.lsw", "a.dgw"} {
		if _, ok := SidecarStem(name); ok {
			t.Errorf("%s is a file beside another", name)
		}
	}
}

// TestVectorIsNoRaster: a GeoPackage without tiles is refused as a raster.
func TestVectorIsNoRaster(t *testing.T) {
	b := sample(t, "vector/nc-counties.gpkg")
	_, _, err := OpenRaster(context.Background(), File{Name: "a.gpkg", Data: bytes.NewReader(b), Size: int64(len(b))})
	if err == nil || err.Error() != "it has no raster" {
		t.Error(err)
	}
}
