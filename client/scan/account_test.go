package scan_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"transect/client/scan"
	"transect/testdata/foldergen"
)

// TestEachFileIsToldOf: each file of a folder is a member of an item, or is left out with a reason,
// for any combination of sidecars and filters.
func TestEachFileIsToldOf(t *testing.T) {
	root, n := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		dir := filepath.Join(root, strconv.Itoa(n))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		if err := foldergen.Make(dir, "", func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "pick") }); err != nil {
			t.Fatal(err)
		}
		s := scan.Source{Root: dir, Kind: rapid.SampledFrom([]string{"", "", "", "file", "image", "raster", "mesh"}).Draw(t, "kind"),
			FollowLinks: rapid.Bool().Draw(t, "follow")}
		patterns := []string{"*.jpg", "*.{tif,obj}", "tex", "deep/**", "a*", "*.xmp"}
		if rapid.Bool().Draw(t, "filtered") {
			s.Include = rapid.SliceOfN(rapid.SampledFrom(patterns), 0, 2).Draw(t, "include")
			s.Exclude = rapid.SliceOfN(rapid.SampledFrom(patterns), 0, 2).Draw(t, "exclude")
			s.MinSize = rapid.SampledFrom([]int64{0, 2, 50}).Draw(t, "min")
			s.NewerThan = rapid.SampledFrom([]time.Time{{}, time.Unix(1.1e9, 0)}).Draw(t, "newer")
		}
		if rapid.Bool().Draw(t, "several") { // overlapping sources
			s.Root, s.Paths = "", []string{filepath.Join(dir, "*.shp"), filepath.Join(dir, "tex"), dir}
			s.Paths = s.Paths[rapid.IntRange(0, 2).Draw(t, "first"):]
			if _, err := os.Stat(filepath.Join(dir, "tex")); err != nil {
				s.Paths = s.Paths[len(s.Paths)-1:]
			}
		}
		told, mains, folders := map[string]bool{}, map[string]bool{}, []string{}
		for item, err := range scan.Items(t.Context(), s) {
			var skipped *scan.Skipped
			switch {
			case errors.As(err, &skipped) && skipped.Folder:
				folders = append(folders, skipped.Path+string(filepath.Separator))
			case errors.As(err, &skipped):
				if told[skipped.Path] {
					t.Fatalf("%s is left out, and was sent or left out before", skipped.Path)
				}
				told[skipped.Path] = true
			case err != nil:
				t.Fatal(err)
			default:
				if mains[item.Members[0].Path] {
					t.Fatalf("%s is sent twice", item.Members[0].Path)
				}
				mains[item.Members[0].Path] = true
				for _, m := range item.Members {
					told[m.Path] = true
				}
			}
		}
		_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			below := slices.ContainsFunc(folders, func(f string) bool { return len(path) >= len(f) && path[:len(f)] == f })
			if err == nil && !e.IsDir() && !told[path] && !below && e.Type().IsRegular() {
				t.Errorf("nothing is said of %s", path)
			}
			return err
		})
	})
}
