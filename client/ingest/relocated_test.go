package ingest

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"transect/client/scan"
)

// shapefile writes the files of a shapefile.
func shapefile(t testing.TB, stem string) {
	t.Helper()
	head := make([]byte, 100)
	binary.BigEndian.PutUint32(head, 9994)
	binary.BigEndian.PutUint32(head[24:], 50)
	binary.LittleEndian.PutUint32(head[28:], 1000)
	write(t, stem+".shp", head)
	write(t, stem+".shx", head)
	write(t, stem+".dbf", append([]byte("\x03\x10\x01\x01\x00\x00\x00\x00\x21\x00\x01\x00"), make([]byte, 40)...))
	write(t, stem+".prj", []byte(`GEOGCS["WGS 84"]`))
}

func TestRelocatedFiles(t *testing.T) {
	w := newWorld(t, nil)
	card := filepath.Join(t.TempDir(), "card")
	shapefile(t, filepath.Join(card, "survey", "area"))
	write(t, filepath.Join(card, "survey", "notes.txt"), []byte("the wind was strong"))
	write(t, filepath.Join(card, "survey", "logs", "flight.bin"), []byte(strings.Repeat("log", 100_000)))
	w.expect(w.run(card), 3, 0, 0)

	copied := t.TempDir() // to another disk, below another folder, without the times
	if err := os.CopyFS(filepath.Join(copied, "backup"), os.DirFS(card)); err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]scan.Source{
		"from the folder below":     {Root: filepath.Join(card, "survey")},
		"from the folder above":     {Root: filepath.Dir(card)},
		"of a copy":                 {Root: copied},
		"of a copy, by its folder":  {Root: filepath.Join(copied, "backup", "survey")},
		"of a copy, file by file":   {Paths: []string{filepath.Join(copied, "backup/survey/area.shp"), filepath.Join(copied, "backup/survey/notes.txt"), filepath.Join(copied, "backup/survey/logs/flight.bin")}},
		"of a copy, with a pattern": {Paths: []string{filepath.Join(copied, "**", "*.*")}},
	} {
		t.Run(name, func(t *testing.T) {
			w.expect(w.run("", func(o *Options) { o.Source = source }), 0, 3, 0)
			v, err := Verify(t.Context(), w.c, Options{Source: source, Target: w.target}, nil)
			if err != nil || v.AlreadyThere != 3 || v.Missing+v.Extra+v.Different != 0 {
				t.Errorf("%+v %v", v, err)
			}
		})
	}

	// If one part of a set differs, it is another set.
	write(t, filepath.Join(copied, "backup", "survey", "area.prj"), []byte(`GEOGCS["WGS 72"]`))
	w.expect(w.run(copied), 1, 2, 0)
	w.expect(w.run(copied), 0, 3, 0)
}

// TestEqualFilesInTwoFolders uploads both, whatever exists already.
func TestEqualFilesInTwoFolders(t *testing.T) {
	content := []byte("read me first")
	folder := t.TempDir()
	for _, name := range []string{"read.me", "a/read.me", "b/a/read.me", "c/read.me"} {
		write(t, filepath.Join(folder, filepath.FromSlash(name)), content)
	}
	for _, first := range []string{"read.me", "a/read.me", "b/a/read.me"} {
		t.Run(first, func(t *testing.T) {
			w := newWorld(t, nil)
			before := t.TempDir()
			write(t, filepath.Join(before, filepath.FromSlash(first)), content)
			w.expect(w.run(before), 1, 0, 0)
			w.expect(w.run(folder), 3, 1, 0)
			w.allHere(4)
			w.expect(w.run(folder), 0, 4, 0)
		})
	}
}
