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
)

// parts of names that belong together, or nearly.
var (
	stems = []string{"a", "A", "b1", "b10", "DJI_0001", "a.tif", "m", "tex/a", "deep/er/a", "deep/m", ".hidden", "é", "a b", "x\xff"}
	kinds = map[string]string{
		".jpg": jpeg, ".JPG": jpeg, ".xmp": "<x/>", ".THM": jpeg, ".tif": geotiff, ".TIF": plain, ".tif.aux.xml": "<x/>",
		".aux.xml": "<x/>", ".tfw": tfw, ".ovr": geotiff, ".shp": shp, ".SHP": shp, ".dbf": dbf, ".DBF": dbf, ".shx": "x", ".prj": prj,
		".PRJ": prj, ".cpg": "UTF-8", ".qml": "<x/>", ".las": las, ".obj": "mtllib m.mtl\nmtllib " + "a.mtl\nv 0 0 0\nf 1 1 1\n",
		".mtl": "map_Kd a.jpg\nmap_Kd tex/a.jpg\nmap_Kd b1.png\n", ".png": png, ".gltf": `{"buffers": [{"uri": "a.bin"}], "images": [{"uri": "tex/a.jpg"}]}`,
		".bin": "x", ".gpkg": gpkg, ".gpkg-wal": "x", ".geojson": geojson, ".zip": zipped("a.shp", "b.shp"), "": "text", ".hdr": "ENVI\n", ".img": "x",
		"Thumbs.db": "x", ".transect-x.part": "x",
	}
	endings = func() (list []string) {
		for ending := range kinds {
			list = append(list, ending)
		}
		slices.Sort(list)
		return list
	}()
)

// randomFolder makes files of all kinds with names that have to do with one another,
// empty files, links and folders.
func randomFolder(t *rapid.T, dir string) {
	for range rapid.IntRange(1, 14).Draw(t, "files") {
		ending := rapid.SampledFrom(endings).Draw(t, "ending")
		path := filepath.Join(dir, filepath.FromSlash(rapid.SampledFrom(stems).Draw(t, "stem")+ending))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		var err error
		switch rapid.IntRange(0, 14).Draw(t, "what") {
		case 0:
			err = os.WriteFile(path, nil, 0o644)
		case 1:
			err = os.Symlink(rapid.SampledFrom([]string{"a.jpg", "nothing", ".", "tex", "../" + filepath.Base(dir)}).Draw(t, "link"), path)
		case 2:
			err = os.Mkdir(path, 0o755)
		default:
			err = os.WriteFile(path, []byte(kinds[ending]), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		if rapid.IntRange(0, 3).Draw(t, "old") == 0 {
			_ = os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)) // a link to nothing, or to itself, has no time
		}
	}
}

// Each file of a folder is a member of an item, or was left out with a reason, whatever
// belongs to whatever and whatever is filtered.
func TestEachFileIsToldOf(t *testing.T) {
	root, n := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		dir := filepath.Join(root, strconv.Itoa(n))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		randomFolder(t, dir)
		s := scan.Source{Root: dir, Kind: rapid.SampledFrom([]string{"", "", "", "file", "image", "raster", "mesh"}).Draw(t, "kind"),
			FollowLinks: rapid.Bool().Draw(t, "follow")}
		patterns := []string{"*.jpg", "*.{tif,obj}", "tex", "deep/**", "a*", "*.xmp"}
		if rapid.Bool().Draw(t, "filtered") {
			s.Include = rapid.SliceOfN(rapid.SampledFrom(patterns), 0, 2).Draw(t, "include")
			s.Exclude = rapid.SliceOfN(rapid.SampledFrom(patterns), 0, 2).Draw(t, "exclude")
			s.MinSize = rapid.SampledFrom([]int64{0, 2, 50}).Draw(t, "min")
			s.NewerThan = rapid.SampledFrom([]time.Time{{}, time.Unix(1.1e9, 0)}).Draw(t, "newer")
		}
		if rapid.Bool().Draw(t, "several") { // sources that overlap
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
