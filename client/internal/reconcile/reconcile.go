// Package reconcile decides what to do with a local file, given the datasets that exist on the
// platform: create a dataset, resume or skip it, replace a previous version, or yield to a
// duplicate.
//
// Decide is a pure function. It performs no I/O: when it lacks information that is expensive to get
// (content samples, checksums, datasets stored under another path) its decision requests it, and
// the caller calls it again. A run calls Decide three times for a file: before sending anything,
// after creating a dataset (another run may have created one as well) and after the upload.
//
// The caller is client/ingest, which keeps the list of datasets, reads files and executes
// decisions. Begin at Decide in decide.go; the table in its test lists every case.
package reconcile

import (
	"path"
	"slices"

	"transect/client/verdict"
)

// File is a local file, or several that form one dataset, with the results of its examination so far.
type File struct {
	Kind       string // type of dataset: image, raster, vector, mesh, pcl or file
	Name       string // path within the source, with slashes
	Size       int64  // bytes of all components
	Modified   int64  // of the main file, milliseconds since 1970
	Components []Component

	Key       string // content key; "" until the content was sampled
	Content   string // hash of kind and samples, without the name; set with the key, "" when duplicates are sent
	EditedKey string // key for an edit not visible in the samples; set with the checksums
	Taken     int64  // when an image was taken, to the second, in milliseconds since 1970; 0 when unknown

	Run      string // the current run
	Created  string // dataset that this run created for the file, or ""
	Uploaded bool   // the file is complete in Created
}

// Dataset is a dataset on the platform, with the fields that a decision needs.
type Dataset struct {
	ID         string      `json:"id"`
	Key        string      `json:"key,omitempty"`      // content key; "" when it was not created by an ingest
	Run        string      `json:"run,omitempty"`      // run that created it
	Replaces   string      `json:"replaces,omitempty"` // dataset of the previous version that it will replace
	Name       string      `json:"name"`               // path within its source; its own name without a key
	Size       int64       `json:"size,omitempty"`     // bytes of all components; 0 when unknown
	Modified   int64       `json:"modified,omitempty"`
	Taken      int64       `json:"taken,omitempty"`
	Components []Component `json:"components,omitempty"`

	Content string `json:"content,omitempty"` // as in a file
	// Verdict is a known problem of the dataset: the check of its files found something before they
	// were sent, or the platform could not read them.
	Verdict verdict.Verdict `json:"verdict,omitempty"`
	Cause   string          `json:"cause,omitempty"`
	Hint    string          `json:"hint,omitempty"`
	Pending bool            `json:"pending,omitempty"` // the platform has not read it yet
}

// Component is one file of a dataset.
type Component struct {
	Name     string `json:"name"`
	MD5      string `json:"md5,omitempty"` // hexadecimal; "" when unknown
	Size     int64  `json:"size,omitempty"`
	Uploaded bool   `json:"uploaded,omitempty"` // of a dataset: the platform has the file
}

// Complete reports whether all components are uploaded.
func (d Dataset) Complete() bool {
	return !slices.ContainsFunc(d.Components, func(c Component) bool { return !c.Uploaded })
}

// Empty reports whether no component is uploaded.
func (d Dataset) Empty() bool {
	return !slices.ContainsFunc(d.Components, func(c Component) bool { return c.Uploaded })
}

// Component returns the component with a name.
func (d Dataset) Component(name string) (Component, bool) {
	for _, c := range d.Components {
		if c.Name == name {
			return c, true
		}
	}
	return Component{}, false
}

// md5 returns the checksum of a dataset of one file, "" otherwise.
func (d Dataset) md5() string {
	if len(d.Components) != 1 {
		return ""
	}
	return d.Components[0].MD5
}

// State is the input of Decide.
type State struct {
	File
	Replace bool // delete the dataset of a previous version of the file
	// Datasets have the file's kind and name, in order of ID. Images are named by their base name.
	// After creation: those with the file's key, except Created.
	Datasets []Dataset
	// Relocated are complete datasets of the same kind, base name and size whose own path is not in
	// the source; nil before the lookup.
	Relocated []Dataset
	// Same are complete datasets with the Content of the file; nil before the lookup.
	Same []Dataset
}

// Action is the action to take for a file.
type Action int

// The actions. The first four request information; call Decide again with it.
const (
	Sample        Action = iota + 1 // read key and acquisition time
	Hash                            // compute the checksums of all components
	FindRelocated                   // look up Relocated
	FindSame                        // look up Same

	Create // a new dataset
	Resume // upload the missing files of Dataset
	Skip   // Dataset has the file

	Upload        // send the file to the dataset created
	Wait          // another run is uploading the file to Dataset
	Keep          // the dataset created survives
	CompleteOther // upload the file to Dataset too, which is the one that survives
)

// Decision is an action with its reason.
type Decision struct {
	Action  Action
	Dataset string // to resume, to wait for, or holding the file
	Key     string // content key of the file
	// Replaces is the dataset of the previous version: to be deleted after the upload if
	// State.Replace is set, informational otherwise.
	Replaces string
	// Superseded are empty datasets of previous versions, to be deleted with Replaces.
	Superseded []string
	// Discard is set when the dataset created is a duplicate to be deleted.
	Discard bool
	// Relocated is set when Dataset holds the file under another path.
	Relocated bool
	// Same is set when Dataset holds the same bytes as a file of another name.
	Same    bool
	Orphans []Orphan
	Reason  string // for the user, or ""
}

// Orphan is an empty dataset and the one to keep instead. A request whose
// response was lost may reach the platform late, after the run has created the
// same dataset again.
type Orphan struct {
	ID, Survivor string
	Superseded   bool // Survivor holds a newer version of the file, so its key differs
}

// Survivor returns which of several datasets with one key stays: a complete one, else the one with
// the smallest ID; ok is false for an empty list.
func Survivor(list []Dataset) (best Dataset, ok bool) {
	for _, d := range list {
		complete := d.Complete()
		if !ok || complete && !best.Complete() || complete == best.Complete() && d.ID < best.ID {
			best, ok = d, true
		}
	}
	return best, ok
}

// Orphans returns the empty datasets of one name that share their key with another one.
func Orphans(datasets []Dataset) (orphans []Orphan) {
	for _, d := range datasets {
		if d.Key == "" || !d.Empty() {
			continue
		}
		same := slices.DeleteFunc(slices.Clone(datasets), func(other Dataset) bool { return other.Key != d.Key })
		if survivor, _ := Survivor(same); survivor.ID != d.ID {
			orphans = append(orphans, Orphan{ID: d.ID, Survivor: survivor.ID})
		}
	}
	return orphans
}

// Confirmed reports whether an orphan can be deleted, given the current state of both datasets: it
// is still empty, and the survivor is complete.
func (o Orphan) Confirmed(orphan, survivor Dataset) bool {
	return orphan.Key != "" && survivor.Key != "" && (orphan.Key == survivor.Key || o.Superseded) &&
		orphan.ID != survivor.ID && orphan.Empty() && survivor.Complete()
}

// Identity returns the key for matching files and datasets: kind and path within the source. For
// images it is the base name, because the same photo below another folder is the same photo; of
// other kinds equal files in two folders may both be meant.
func Identity(kind, name string) string {
	if kind == "image" {
		name = path.Base(name)
	}
	return kind + "\x00" + name
}
