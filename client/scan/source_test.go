package scan_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"transect/client/fault"
	"transect/client/scan"
)

// names returns the names of main files only.
func names(t testing.TB, s scan.Source) []string {
	t.Helper()
	var all []string
	for item, err := range scan.Items(context.Background(), s) {
		var skip *scan.Skipped
		if err != nil && !errors.As(err, &skip) {
			t.Fatal(err)
		}
		if err == nil {
			all = append(all, item.Name)
		}
	}
	return all
}

func TestSources(t *testing.T) {
	dir := tree(t, map[string]string{
		"a/DCIM/1.jpg": jpeg, "a/DCIM/2.jpg": jpeg, "a/DCIM/deep/3.JPG": jpeg, "a/x.shp": shp, "a/x.dbf": dbf, "a/x.shx": shp,
		"b/DCIM/1.jpg": jpeg, "b/notes.txt": "hello", "b [1]/1.jpg": jpeg,
	})
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	for name, c := range map[string]struct {
		source scan.Source
		want   []string
	}{
		"a folder":                         {scan.Source{Root: at("a")}, []string{"x.shp", "DCIM/1.jpg", "DCIM/2.jpg", "DCIM/deep/3.JPG"}},
		"a folder as a path":               {scan.Source{Paths: []string{at("b")}}, []string{"notes.txt", "DCIM/1.jpg"}},
		"a folder below the root":          {scan.Source{Root: dir, Paths: []string{"b"}}, []string{"b/notes.txt", "b/DCIM/1.jpg"}},
		"folders of one name":              {scan.Source{Paths: []string{at("a", "DCIM"), at("b", "DCIM")}}, []string{"a/DCIM/1.jpg", "a/DCIM/2.jpg", "a/DCIM/deep/3.JPG", "b/DCIM/1.jpg"}},
		"a folder twice, and one in it":    {scan.Source{Paths: []string{at("b"), at("b"), at("b", "DCIM")}}, []string{"b/notes.txt", "b/DCIM/1.jpg"}},
		"a pattern":                        {scan.Source{Paths: []string{at("a", "**", "*.jpg")}}, []string{"DCIM/1.jpg", "DCIM/2.jpg"}},
		"a pattern of one level":           {scan.Source{Paths: []string{at("*", "DCIM", "*.{jpg,JPG}")}}, []string{"a/DCIM/1.jpg", "a/DCIM/2.jpg", "b/DCIM/1.jpg"}},
		"a pattern below the root":         {scan.Source{Root: dir, Paths: []string{"a/DCIM/*"}}, []string{"a/DCIM/1.jpg", "a/DCIM/2.jpg"}},
		"a pattern that takes parts along": {scan.Source{Paths: []string{at("a", "*.shp")}}, []string{"x.shp"}},
		"a name that looks like a pattern": {scan.Source{Paths: []string{at("b [1]")}}, []string{"1.jpg"}},
		"files":                            {scan.Source{Paths: []string{at("b", "notes.txt"), at("a", "x.shp")}}, []string{"notes.txt", "x.shp"}},
		"files of one name":                {scan.Source{Paths: []string{at("b", "DCIM", "1.jpg"), at("a", "DCIM", "1.jpg"), at("a", "DCIM", "2.jpg")}}, []string{"b/DCIM/1.jpg", "a/DCIM/1.jpg", "2.jpg"}},
		"files below the root":             {scan.Source{Root: dir, Paths: []string{"a/DCIM/2.jpg", "b/DCIM/1.jpg"}}, []string{"a/DCIM/2.jpg", "b/DCIM/1.jpg"}},
		"a file twice, and its folder":     {scan.Source{Paths: []string{at("b", "DCIM"), at("b", "DCIM", "1.jpg"), at("b", "DCIM", "1.jpg")}}, []string{"1.jpg"}},
		"a listed file that is missing":    {scan.Source{Paths: []string{at("gone.jpg"), at("b", "notes.txt")}}, []string{"notes.txt"}},
		"a part, listed without its main":  {scan.Source{Paths: []string{at("a", "x.dbf")}}, []string{"x.dbf"}},
		"include":                          {scan.Source{Root: dir, Include: []string{"*.JPG"}, Exclude: []string{"b*/**"}}, []string{"a/DCIM/1.jpg", "a/DCIM/2.jpg", "a/DCIM/deep/3.JPG"}},
		"include takes parts along":        {scan.Source{Root: dir, Include: []string{"a/*.shp"}}, []string{"a/x.shp"}},
		"include a part alone":             {scan.Source{Root: dir, Include: []string{"*.dbf"}}, []string{"a/x.dbf"}},
		"exclude a folder":                 {scan.Source{Root: dir, Exclude: []string{"DCIM", "b*"}}, []string{"a/x.shp"}},
		"smallest":                         {scan.Source{Root: dir, MinSize: 60, Include: []string{"a/*"}}, []string{"a/x.shp"}},
		"largest":                          {scan.Source{Root: dir, MaxSize: 10}, []string{"b/notes.txt"}},
		"every file a file":                {scan.Source{Root: at("a"), Kind: "file", Include: []string{"x.*"}}, []string{"x.dbf", "x.shp", "x.shx"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, names(t, c.source)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestForcedKind(t *testing.T) {
	dir := tree(t, map[string]string{"a.tif": photo, "b.tif": geotiff, "b.tfw": tfw, "c.las": las})
	got, _ := describe(t, scan.Source{Root: dir, Kind: "raster"})
	want := []string{"raster/tiff raster=a.tif", "raster/geotiff raster=b.tif worldfile=b.tfw", "raster/las raster=c.las"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNewerThan(t *testing.T) {
	dir := tree(t, map[string]string{"old.jpg": jpeg, "new.jpg": jpeg, "x.shp": shp, "x.dbf": dbf, "x.shx": shp})
	limit := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, at := range map[string]time.Time{"old.jpg": limit, "new.jpg": limit.Add(time.Second), "x.shp": limit, "x.dbf": limit.Add(time.Hour), "x.shx": limit} {
		if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	got := names(t, scan.Source{Root: dir, NewerThan: limit})
	if diff := cmp.Diff([]string{"new.jpg", "x.shp"}, got); diff != "" {
		t.Error(diff) // the table of x was edited, so it is sent again
	}
}

func TestSkippedFilesAreReported(t *testing.T) {
	dir := tree(t, map[string]string{
		"a.jpg": jpeg, ".DS_Store": "x", "._a.jpg": "x", ".git/config": "x", "Thumbs.db": "x", "empty.jpg": "",
		".transect-a.jpg-12.part": "x", "__MACOSX/a.jpg": jpeg, "x.shp": shp, "x.dbf": "", "x.shx": shp,
	})
	want := []string{
		"__MACOSX: system file", "._a.jpg: hidden", ".DS_Store: system file", ".git: hidden", ".transect-a.jpg-12.part: unfinished",
		"empty.jpg: empty", "Thumbs.db: system file", "x.dbf: empty",
	}
	if runtime.GOOS != "windows" {
		link(t, "nowhere", filepath.Join(dir, "broken.jpg"))
		link(t, "a.jpg", filepath.Join(dir, "linked.jpg"))
		want = append(want, "broken.jpg: link", "linked.jpg: link")
	}
	items, skipped := describe(t, scan.Source{Root: dir})
	slices.Sort(want)
	slices.Sort(skipped)
	if diff := cmp.Diff(want, skipped); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"image/jpeg image=a.jpg", "vector/shapefile vector=x.shp index=x.shx !"}, items); diff != "" {
		t.Error(diff)
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}

func TestUnreadableFilesAreReported(t *testing.T) {
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("this user may read everything: a folder nobody may read cannot be made")
	}
	dir := tree(t, map[string]string{"a.jpg": jpeg, "b.jpg": jpeg, "c/d.jpg": jpeg})
	_ = os.Chmod(filepath.Join(dir, "a.jpg"), 0)
	_ = os.Chmod(filepath.Join(dir, "c"), 0)
	defer os.Chmod(filepath.Join(dir, "c"), 0o755)
	items, skipped := describe(t, scan.Source{Root: dir})
	if diff := cmp.Diff([]string{"a.jpg: unreadable", "c: unreadable"}, skipped); diff != "" || len(items) != 1 {
		t.Error(diff, items)
	}
}

func TestHintsForUnreadableFiles(t *testing.T) {
	for err, want := range map[error]string{
		os.ErrPermission:     "permissions",
		syscall.ENAMETOOLONG: "shorter names",
		syscall.EIO:          "disk or card",
	} {
		s := &scan.Skipped{Name: "a", Reason: scan.Unreadable, Err: &os.PathError{Op: "open", Path: "a", Err: err}}
		if !strings.Contains(s.Hint(), want) || !strings.Contains(s.Why(), err.Error()) {
			t.Errorf("%v: %s; %s", err, s.Why(), s.Hint())
		}
	}
}

func TestLinks(t *testing.T) {
	dir := tree(t, map[string]string{"real/1.jpg": jpeg, "real/deep/2.jpg": jpeg, "else/3.jpg": jpeg})
	link(t, "..", filepath.Join(dir, "real", "deep", "up"))                   // a loop
	link(t, filepath.Join(dir, "else"), filepath.Join(dir, "real", "other"))  // another folder
	link(t, filepath.Join(dir, "else"), filepath.Join(dir, "real", "other2")) // the same again
	link(t, "1.jpg", filepath.Join(dir, "real", "again.jpg"))
	link(t, "gone.jpg", filepath.Join(dir, "real", "broken.jpg"))
	link(t, "real", filepath.Join(dir, "start"))

	items, skipped := describe(t, scan.Source{Root: filepath.Join(dir, "start"), FollowLinks: true})
	if diff := cmp.Diff([]string{
		"image/jpeg image=1.jpg", "image/jpeg image=again.jpg", "image/jpeg image=deep/2.jpg", "image/jpeg image=other/3.jpg",
	}, items); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"broken.jpg: broken link", "deep/up: repeated", "other2: repeated"}, skipped); diff != "" {
		t.Error(diff)
	}
	items, skipped = describe(t, scan.Source{Root: filepath.Join(dir, "start")})
	if len(items) != 2 || len(skipped) != 5 {
		t.Errorf("without following: %v, %v", items, skipped)
	}
}

func TestFatal(t *testing.T) {
	dir := tree(t, map[string]string{"a.jpg": jpeg})
	for name, c := range map[string]struct {
		source scan.Source
		says   string
	}{
		"no path":          {scan.Source{}, "no path"},
		"no folder":        {scan.Source{Root: filepath.Join(dir, "gone")}, "does not exist"},
		"no such file":     {scan.Source{Paths: []string{filepath.Join(dir, "gone.jpg")}}, "does not exist"},
		"one of many":      {scan.Source{Paths: []string{dir, filepath.Join(dir, "gone")}}, "does not exist"},
		"root is a file":   {scan.Source{Root: filepath.Join(dir, "a.jpg")}, "not a folder"},
		"bad pattern":      {scan.Source{Root: dir, Paths: []string{"[a-"}}, "not a pattern"},
		"bad filter":       {scan.Source{Root: dir, Include: []string{"{a"}}, "not a pattern"},
		"pattern, no base": {scan.Source{Paths: []string{filepath.Join(dir, "gone", "*.jpg")}}, "does not exist"},
		"no kind":          {scan.Source{Root: dir, Kind: "photo"}, "not a type"},
	} {
		t.Run(name, func(t *testing.T) {
			count := 0
			for item, err := range scan.Items(context.Background(), c.source) {
				count++
				f := fault.Find(err)
				if f == nil || !strings.Contains(f.Error(), c.says) || f.Facts().Hint == "" {
					t.Errorf("%v, %v", item, err)
				}
			}
			if count != 1 {
				t.Errorf("%d values, want the error alone", count)
			}
		})
	}
}

func TestStop(t *testing.T) {
	dir := tree(t, map[string]string{"a.jpg": jpeg, "b.jpg": jpeg, "c/c.jpg": jpeg})
	for range scan.Items(context.Background(), scan.Source{Root: dir}) {
		break // must not go on, nor panic
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var last error
	count := 0
	for _, err := range scan.Items(ctx, scan.Source{Root: dir}) {
		cancel()
		last = err
		count++
	}
	var cancelled *fault.CancelledError
	if !errors.As(last, &cancelled) || count != 2 {
		t.Errorf("%d values, the last %v", count, last)
	}
}

func TestImagesUnderAnotherExtensionAreDamaged(t *testing.T) {
	dir := tree(t, map[string]string{"a.tif": "\xff\xd8\xff\xe0 and so on", "b.jpg": "\xff\xd8\xff\xe0 and so on",
		"c.tif": geotiff, "d.tiff": bigGeo, "e.tif": plain, "f.tif": floats, "g.dng": dng, "h.tif": photo})
	for item, err := range scan.Items(t.Context(), scan.Source{Root: dir}) {
		want := map[string]string{"a.tif": "it is not a TIFF image but a JPEG image"}[item.Name]
		if err != nil || item.Damage != want {
			t.Errorf("%s: %q %v", item.Name, item.Damage, err)
		}
	}
}
