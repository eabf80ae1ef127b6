package reconcile

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// dataset returns a dataset of one component in short form.
func dataset(id, key string, change ...func(*Dataset)) Dataset {
	d := Dataset{ID: id, Key: key, Run: "run1", Name: "a.txt", Size: 10, Modified: 100,
		Components: []Component{{Name: "file", MD5: "m1", Size: 10, Uploaded: true}}}
	if key != "k" {
		d.Modified = 50
	}
	for _, f := range change {
		f(&d)
	}
	return d
}

func empty(d *Dataset)                 { d.Components = []Component{{Name: "file"}} }
func foreign(d *Dataset)               { d.Key, d.Run, d.Modified = "", "", 0 }
func named(name string) func(*Dataset) { return func(d *Dataset) { d.Name = name } }
func taken(t int64) func(*Dataset)     { return func(d *Dataset) { d.Taken = t } }
func size(n int64) func(*Dataset)      { return func(d *Dataset) { d.Size = n } }
func md5(sum string) func(*Dataset)    { return func(d *Dataset) { d.Components[0].MD5 = sum } }
func run(id string) func(*Dataset)     { return func(d *Dataset) { d.Run = id } }
func replaces(id string) func(*Dataset) {
	return func(d *Dataset) { d.Replaces = id }
}
func modified(at int64) func(*Dataset) { return func(d *Dataset) { d.Modified = at } }
func set(d *Dataset) {
	d.Components = []Component{{Name: "vector", MD5: "m1", Uploaded: true}, {Name: "index", MD5: "m2", Uploaded: true}}
}

// file returns a local file that has been sampled.
func file(change ...func(*File)) File {
	f := File{Kind: "file", Name: "a.txt", Size: 10, Modified: 100, Key: "k", Run: "run5", Components: []Component{{Name: "file", Size: 10}}}
	for _, c := range change {
		c(&f)
	}
	return f
}

func image(f *File)   { f.Kind, f.Taken = "image", 7 }
func undated(f *File) { f.Taken = 0 }
func unread(f *File)  { f.Key, f.Taken = "", 0 }
func touched(f *File) { f.Modified = 200 }
func hashed(sum string) func(*File) {
	return func(f *File) { f.Components[0].MD5, f.EditedKey = sum, "k+"+sum }
}
func at(name string) func(*File) { return func(f *File) { f.Name = name } }
func several(f *File) {
	f.Components = []Component{{Name: "vector", MD5: "m1"}, {Name: "index", MD5: "m2"}}
}
func created(f *File)  { f.Created = "5" }
func uploaded(f *File) { f.Created, f.Uploaded = "5", true }

func TestDecide(t *testing.T) {
	none := []Dataset{}
	for _, c := range []struct {
		name  string
		state State
		want  Decision
	}{
		// Before sending anything: information is fetched only when needed.
		{"unknown file is sampled", State{File: file(unread)}, Decision{Action: Sample}},
		{"unchanged file is not read", State{File: file(unread), Datasets: []Dataset{dataset("1", "k")}},
			Decision{Action: Skip, Dataset: "1", Key: "k"}},
		{"same name, size and time in another folder is read", State{File: file(image, unread, at("left/a.txt")), Datasets: []Dataset{dataset("1", "k", named("right/a.txt"))}},
			Decision{Action: Sample}},
		{"unchanged file whose dataset is empty is read", State{File: file(unread), Datasets: []Dataset{dataset("1", "k", empty)}},
			Decision{Action: Sample}},
		{"unchanged file of another size is read", State{File: file(unread), Datasets: []Dataset{dataset("1", "k", size(11))}},
			Decision{Action: Sample}},
		{"no dataset: relocated ones are looked up", State{File: file()}, Decision{Action: FindRelocated}},
		{"new file", State{File: file(), Relocated: none}, Decision{Action: Create, Key: "k"}},
		{"new image is never relocated", State{File: file(image)}, Decision{Action: Create, Key: "k"}},

		// The dataset of the same file.
		{"resumed", State{File: file(), Datasets: []Dataset{dataset("1", "k", empty)}}, Decision{Action: Resume, Dataset: "1", Key: "k"}},
		{"resumed: the first of two", State{File: file(), Datasets: []Dataset{dataset("1", "k", empty), dataset("2", "k", empty)}},
			Decision{Action: Resume, Dataset: "1", Key: "k"}},
		{"complete before incomplete", State{File: file(), Datasets: []Dataset{dataset("1", "k", empty), dataset("2", "k", named("b/a.txt"))}},
			Decision{Action: Skip, Dataset: "2", Key: "k"}},
		{"copy without its time is hashed", State{File: file(touched), Datasets: []Dataset{dataset("1", "k")}}, Decision{Action: Hash}},
		{"copy without its time", State{File: file(touched, hashed("m1")), Datasets: []Dataset{dataset("1", "k")}},
			Decision{Action: Skip, Dataset: "1", Key: "k"}},
		{"copy of a set without its time", State{File: file(touched, several), Datasets: []Dataset{dataset("1", "k", set)}},
			Decision{Action: Skip, Dataset: "1", Key: "k"}},
		{"edit that samples do not show", State{File: file(touched, hashed("m2")), Datasets: []Dataset{dataset("1", "k")}, Relocated: none},
			Decision{Action: Create, Key: "k+m2", Replaces: "1", Reason: "changed: its earlier state, dataset 1, is kept"}},
		{"that edit, resumed", State{File: file(touched, hashed("m2")), Datasets: []Dataset{dataset("1", "k"), dataset("2", "k+m2", empty)}},
			Decision{Action: Resume, Dataset: "2", Key: "k+m2"}},
		{"that edit, uploaded", State{File: file(touched, hashed("m2")), Datasets: []Dataset{dataset("1", "k"), dataset("2", "k+m2", md5("m2"), modified(300))}},
			Decision{Action: Skip, Dataset: "2", Key: "k+m2"}},
		{"checksum of the platform unknown", State{File: file(touched), Datasets: []Dataset{dataset("1", "k", md5(""))}},
			Decision{Action: Skip, Dataset: "1", Key: "k"}},

		// Datasets not created by an ingest.
		{"foreign image of the same moment", State{File: file(image), Datasets: []Dataset{dataset("1", "", foreign, taken(7))}},
			Decision{Action: Skip, Dataset: "1", Key: "k"}},
		{"foreign image of the same moment, of another size", State{File: file(image), Datasets: []Dataset{dataset("1", "", foreign, taken(7), size(11))}},
			Decision{Action: Create, Key: "k", Replaces: "1", Reason: "changed: its earlier state, dataset 1, is kept"}},
		{"foreign image of the same moment, size unknown", State{File: file(image), Datasets: []Dataset{dataset("1", "", foreign, taken(7), size(0))}},
			Decision{Action: Skip, Dataset: "1", Key: "k"}},
		{"foreign image without its file", State{File: file(image), Datasets: []Dataset{dataset("1", "", foreign, taken(7), empty)}},
			Decision{Action: Resume, Dataset: "1", Key: "k"}},
		{"foreign image of another card", State{File: file(image), Datasets: []Dataset{dataset("1", "", foreign, taken(8))}},
			Decision{Action: Create, Key: "k"}},
		{"foreign image without a date is hashed", State{File: file(image), Datasets: []Dataset{dataset("1", "", foreign)}}, Decision{Action: Hash}},
		{"image without a date", State{File: file(image, undated), Datasets: []Dataset{dataset("1", "", foreign, taken(7))}},
			Decision{Action: Create, Key: "k"}},
		{"foreign file is hashed", State{File: file(), Datasets: []Dataset{dataset("1", "", foreign)}}, Decision{Action: Hash}},
		{"foreign file of the same bytes", State{File: file(hashed("m1")), Datasets: []Dataset{dataset("1", "", foreign)}},
			Decision{Action: Skip, Dataset: "1", Key: "k"}},
		{"foreign file of other bytes", State{File: file(hashed("m2")), Datasets: []Dataset{dataset("1", "", foreign)}, Relocated: none},
			Decision{Action: Create, Key: "k", Replaces: "1", Reason: "changed: its earlier state, dataset 1, is kept"}},

		// Previous versions.
		{"changed file", State{File: file(), Datasets: []Dataset{dataset("1", "old")}, Relocated: none},
			Decision{Action: Create, Key: "k", Replaces: "1", Reason: "changed: its earlier state, dataset 1, is kept"}},
		{"changed image", State{File: file(image), Datasets: []Dataset{dataset("1", "old", taken(7))}},
			Decision{Action: Create, Key: "k", Replaces: "1", Reason: "changed: its earlier state, dataset 1, is kept"}},
		{"another image of that name", State{File: file(image), Datasets: []Dataset{dataset("1", "old", taken(8))}}, Decision{Action: Create, Key: "k"}},
		{"previous version with its file before one without", State{File: file(), Relocated: none,
			Datasets: []Dataset{dataset("1", "old"), dataset("2", "older", empty)}},
			Decision{Action: Create, Key: "k", Replaces: "1", Reason: "changed: its earlier state, dataset 1, is kept"}},
		{"changed before its file was sent", State{File: file(), Datasets: []Dataset{dataset("1", "old", empty)}, Relocated: none},
			Decision{Action: Create, Key: "k", Replaces: "1", Reason: "changed since dataset 1 was created for it, which is kept without a file"}},
		{"replaced: empty versions go as well", State{File: file(), Replace: true, Relocated: none,
			Datasets: []Dataset{dataset("1", "old"), dataset("2", "older", empty)}},
			Decision{Action: Create, Key: "k", Replaces: "1", Superseded: []string{"2"}, Reason: "changed: its earlier state, dataset 1, is kept"}},
		{"replaced: an empty version of a later run stays", State{File: file(), Replace: true, Relocated: none,
			Datasets: []Dataset{dataset("1", "old"), dataset("2", "newer", empty, run("run6"))}},
			Decision{Action: Create, Key: "k", Replaces: "1", Reason: "changed: its earlier state, dataset 1, is kept"}},
		{"replacing image: empty datasets of other images stay", State{File: file(image), Replace: true,
			Datasets: []Dataset{dataset("1", "old", taken(7)), dataset("2", "older", empty, taken(8)), dataset("3", "older", empty, taken(7))}},
			Decision{Action: Create, Key: "k", Replaces: "1", Superseded: []string{"3"}, Reason: "changed: its earlier state, dataset 1, is kept"}},
		{"stopped before the previous version was deleted", State{File: file(), Replace: true,
			Datasets: []Dataset{dataset("1", "old"), dataset("2", "k", replaces("1"))}},
			Decision{Action: Skip, Dataset: "2", Key: "k", Replaces: "1"}},
		{"previous version gone already", State{File: file(), Replace: true, Datasets: []Dataset{dataset("2", "k", replaces("1"))}},
			Decision{Action: Skip, Dataset: "2", Key: "k"}},
		{"stopped before the new version was sent", State{File: file(), Replace: true,
			Datasets: []Dataset{dataset("1", "old"), dataset("2", "k", replaces("1"), empty)}},
			Decision{Action: Resume, Dataset: "2", Key: "k", Replaces: "1"}},

		// Relocated files.
		{"relocated file is hashed", State{File: file(), Relocated: []Dataset{dataset("1", "old", named("card/a.txt"))}}, Decision{Action: Hash}},
		{"relocated below", State{File: file(hashed("m1")), Relocated: []Dataset{dataset("1", "old", named("card/a.txt"))}},
			Decision{Action: Skip, Dataset: "1", Key: "k", Relocated: true, Reason: "already uploaded from another folder, as card/a.txt"}},
		{"relocated above", State{File: file(hashed("m1"), at("card/a.txt")), Relocated: []Dataset{dataset("1", "old")}},
			Decision{Action: Skip, Dataset: "1", Key: "k", Relocated: true, Reason: "already uploaded from another folder, as a.txt"}},
		{"relocated set", State{File: file(several), Relocated: []Dataset{dataset("1", "old", set, named("card/a.txt"))}},
			Decision{Action: Skip, Dataset: "1", Key: "k", Relocated: true, Reason: "already uploaded from another folder, as card/a.txt"}},
		{"set with fewer files", State{File: file(hashed("m1")), Relocated: []Dataset{dataset("1", "old", set, named("card/a.txt"))}},
			Decision{Action: Create, Key: "k"}},
		{"other bytes", State{File: file(hashed("m2")), Relocated: []Dataset{dataset("1", "old", named("card/a.txt"))}},
			Decision{Action: Create, Key: "k"}},
		{"paths that differ from the end on", State{File: file(hashed("m1"), at("b/a.txt")), Relocated: []Dataset{dataset("1", "old", named("c/a.txt"))}},
			Decision{Action: Create, Key: "k"}},

		// After the creation: runs on other machines.
		{"created alone", State{File: file(created)}, Decision{Action: Upload, Dataset: "5", Key: "k"}},
		{"another run was first", State{File: file(created), Datasets: []Dataset{dataset("4", "k", empty)}},
			Decision{Action: Wait, Dataset: "4", Key: "k", Discard: true}},
		{"another run was later", State{File: file(created), Datasets: []Dataset{dataset("6", "k", empty)}},
			Decision{Action: Upload, Dataset: "5", Key: "k"}},
		{"another run has the file", State{File: file(created), Datasets: []Dataset{dataset("6", "k")}},
			Decision{Action: Skip, Dataset: "6", Key: "k", Discard: true, Reason: OtherRun}},

		// After the upload.
		{"uploaded alone", State{File: file(uploaded)}, Decision{Action: Keep, Dataset: "5", Key: "k"}},
		{"orphan of an earlier creation", State{File: file(uploaded), Datasets: []Dataset{dataset("4", "k", empty)}},
			Decision{Action: Keep, Dataset: "5", Key: "k", Orphans: []Orphan{{ID: "4", Survivor: "5"}}}},
		{"duplicate with the smaller ID", State{File: file(uploaded), Datasets: []Dataset{dataset("4", "k")}},
			Decision{Action: Keep, Dataset: "4", Key: "k", Discard: true}},
		{"duplicate with the larger ID", State{File: file(uploaded), Datasets: []Dataset{dataset("6", "k")}},
			Decision{Action: Keep, Dataset: "5", Key: "k"}},
		{"duplicate begun by another run", State{File: file(uploaded),
			Datasets: []Dataset{dataset("4", "k", set, func(d *Dataset) { d.Components[1].Uploaded = false })}},
			Decision{Action: CompleteOther, Dataset: "4", Key: "k", Discard: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Decide(c.state)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOrphans(t *testing.T) {
	for name, c := range map[string]struct {
		datasets []Dataset
		want     []Orphan
	}{
		"alone":                    {[]Dataset{dataset("1", "k", empty)}, nil},
		"of other keys":            {[]Dataset{dataset("1", "k", empty), dataset("2", "l")}, nil},
		"beside a complete one":    {[]Dataset{dataset("1", "k", empty), dataset("2", "k")}, []Orphan{{ID: "1", Survivor: "2"}}},
		"two empty ones":           {[]Dataset{dataset("1", "k", empty), dataset("2", "k", empty)}, []Orphan{{ID: "2", Survivor: "1"}}},
		"two complete ones":        {[]Dataset{dataset("1", "k"), dataset("2", "k")}, nil},
		"not created by an ingest": {[]Dataset{dataset("1", "", empty), dataset("2", "", foreign)}, nil},
	} {
		if diff := cmp.Diff(c.want, Orphans(c.datasets)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestConfirmed(t *testing.T) {
	orphan, survivor := dataset("1", "k", empty), dataset("2", "k")
	for name, c := range map[string]struct {
		o        Orphan
		orphan   Dataset
		survivor Dataset
		want     bool
	}{
		"still":               {Orphan{}, orphan, survivor, true},
		"filled meanwhile":    {Orphan{}, dataset("1", "k"), survivor, false},
		"deleted meanwhile":   {Orphan{}, Dataset{}, survivor, false},
		"survivor is empty":   {Orphan{}, orphan, dataset("2", "k", empty), false},
		"survivor is gone":    {Orphan{}, orphan, Dataset{}, false},
		"keys differ":         {Orphan{}, orphan, dataset("2", "l"), false},
		"superseded":          {Orphan{Superseded: true}, orphan, dataset("2", "l"), true},
		"the survivor itself": {Orphan{}, orphan, orphan, false},
	} {
		if got := c.o.Confirmed(c.orphan, c.survivor); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
