// Package reconcile decides what to do with a local file, given the datasets
// that exist on the platform: create a dataset, resume or skip it, replace a
// previous version, or give way to a duplicate.
//
// Decide is a pure function. It performs no I/O: where it lacks information
// that is expensive to get (content samples, checksums, datasets stored under
// another path) its decision says what to fetch, and the caller calls it again.
// A run calls Decide three times for a file: before anything is sent, after it
// has created a dataset (another run may have created one as well) and after
// the upload.
//
// The caller is client/ingest, which keeps the list of datasets, reads files
// and carries decisions out. Begin at Decide; the table in its test names every
// case.
package reconcile

import (
	"fmt"
	"path"
	"strings"
)

// File is a local file, or several that form one dataset, as far as it has been
// examined.
type File struct {
	Kind       string // type of dataset: image, raster, vector, mesh, pcl or file
	Name       string // path within the source, with slashes
	Size       int64  // bytes of all components
	Modified   int64  // of the main file, milliseconds since 1970
	Components []Component

	Key       string // content key; "" until the content was sampled
	EditedKey string // key for an edit that the samples do not show; set with the checksums
	Taken     int64  // when an image was taken, milliseconds since 1970; 0 when unknown

	Run      string // the current run
	Created  string // dataset this run has created for the file, or ""
	Uploaded bool   // the file is complete in Created
}

// Dataset is a dataset on the platform, as much of it as a decision needs.
type Dataset struct {
	ID         string      `json:"id"`
	Key        string      `json:"key,omitempty"`      // content key; "" when it was not created by an ingest
	Run        string      `json:"run,omitempty"`      // that created it
	Replaces   string      `json:"replaces,omitempty"` // dataset of the previous version that it is to replace
	Name       string      `json:"name"`               // path within the source it came from; its own name without a key
	Size       int64       `json:"size,omitempty"`     // bytes of all components; 0 when unknown
	Modified   int64       `json:"modified,omitempty"`
	Taken      int64       `json:"taken,omitempty"`
	Components []Component `json:"components,omitempty"`
}

// Component is one file of a dataset.
type Component struct {
	Name     string `json:"name"`
	MD5      string `json:"md5,omitempty"` // hexadecimal; "" when unknown
	Size     int64  `json:"size,omitempty"`
	Uploaded bool   `json:"uploaded,omitempty"` // of a dataset: the platform has the file
}

// Complete reports whether all components are uploaded.
func (d Dataset) Complete() bool { return d.uploaded() == len(d.Components) }

// Empty reports whether no component is uploaded.
func (d Dataset) Empty() bool { return d.uploaded() == 0 }

func (d Dataset) uploaded() int {
	n := 0
	for _, c := range d.Components {
		if c.Uploaded {
			n++
		}
	}
	return n
}

// Component returns the component of that name.
func (d Dataset) Component(name string) (Component, bool) {
	for _, c := range d.Components {
		if c.Name == name {
			return c, true
		}
	}
	return Component{}, false
}

// md5 is the checksum of a dataset of one file, "" otherwise.
func (d Dataset) md5() string {
	if len(d.Components) != 1 {
		return ""
	}
	return d.Components[0].MD5
}

// State is what Decide is asked about.
type State struct {
	File
	Replace bool // delete the dataset of a previous version of the file
	// Datasets have the file's kind and name, in order of ID. Images are named
	// by their base name. After the file was created: those with its key, except
	// Created.
	Datasets []Dataset
	// Relocated are complete datasets of the same kind, base name and size whose
	// own path is not in the source; nil until they were looked up.
	Relocated []Dataset
}

// Action is what to do with a file.
type Action int

// The actions. The first three ask for information; call Decide again with it.
const (
	Sample        Action = iota + 1 // read key and acquisition time
	Hash                            // compute the checksums of all components
	FindRelocated                   // look up Relocated

	Create // a new dataset
	Resume // upload what is missing of Dataset
	Skip   // Dataset has the file

	Upload        // send the file to the dataset created
	Wait          // another run is uploading the file to Dataset
	Keep          // the dataset created is the one that stays
	CompleteOther // upload the file to Dataset too, which is the one that stays
)

// Decision is what to do, and why.
type Decision struct {
	Action  Action
	Dataset string // to resume, wait for, or that has the file
	Key     string // content key of the file
	// Replaces is the dataset of the previous version: to delete once the file is
	// complete when State.Replace is set, and for information otherwise.
	Replaces string
	// Superseded are empty datasets of previous versions, to delete with Replaces.
	Superseded []string
	// Discard is set when the dataset created is a duplicate to be deleted.
	Discard bool
	// Relocated is set when Dataset holds the file under another path.
	Relocated bool
	Orphans   []Orphan
	Reason    string // for the user, or ""
}

// Orphan is an empty dataset and the one to keep instead. A request whose
// response was lost may reach the platform late, after the run has created the
// same dataset again.
type Orphan struct {
	ID, Survivor string
	Superseded   bool // Survivor holds a newer version of the file, so its key differs
}

// Decide says what to do with a file.
func Decide(s State) Decision {
	switch {
	case s.Created == "":
		return s.beforeCreate()
	case !s.Uploaded:
		return s.afterCreate()
	}
	return s.afterUpload()
}

func (s State) beforeCreate() Decision {
	for _, d := range s.Datasets {
		// The path must be equal as well: two cameras that fly together give
		// images the same names, times and, if uncompressed, sizes.
		if d.Key != "" && d.Complete() && d.Size == s.Size && d.Modified == s.Modified && d.Name == s.Name {
			return s.found(d, d.Key)
		}
	}
	if s.Key == "" {
		return Decision{Action: Sample}
	}
	match, key, hash := s.match()
	switch {
	case hash:
		return Decision{Action: Hash}
	case match != nil:
		return s.found(*match, key)
	}
	if d := s.relocated(key); d != nil {
		return *d
	}
	return s.create(key)
}

// found is the decision for a dataset that was created for the file.
func (s State) found(d Dataset, key string) Decision {
	decision := Decision{Action: Resume, Dataset: d.ID, Key: key, Superseded: s.superseded(d.Run, d.Key, d.Taken)}
	if d.Complete() {
		decision.Action = Skip
	}
	for _, other := range s.Datasets {
		if d.Replaces != "" && other.ID == d.Replaces {
			decision.Replaces = other.ID
		}
	}
	return decision
}

// match finds the dataset that was created for this very file, and the key of
// the file. It asks for the checksum where only that can tell.
func (s State) match() (match *Dataset, key string, hash bool) {
	edited := false
	var begun *Dataset
	for i := range s.Datasets {
		d := &s.Datasets[i]
		if d.Key == "" {
			same, hash := s.sameForeign(d)
			if same || hash {
				return d, s.Key, hash
			}
			continue
		}
		switch {
		case d.Key != s.Key:
		case !d.Complete():
			if begun == nil {
				begun = d
			}
		case d.Modified == s.Modified || d.md5() == "":
			return d, s.Key, false
		case s.Components[0].MD5 == "":
			return nil, "", true
		case d.md5() == s.Components[0].MD5:
			return d, s.Key, false
		default:
			edited = true
		}
	}
	if !edited {
		return begun, s.Key, false
	}
	for i := range s.Datasets {
		if s.Datasets[i].Key == s.EditedKey {
			return &s.Datasets[i], s.EditedKey, false
		}
	}
	return nil, s.EditedKey, false
}

// sameForeign reports whether a dataset that was not created by an ingest holds
// the file. Images are compared by acquisition time, because every memory card
// has a DJI_0001.JPG; other files by checksum.
func (s State) sameForeign(d *Dataset) (same, hash bool) {
	if s.Kind == "image" && d.Taken != 0 {
		return s.Taken == d.Taken && (!d.Complete() || d.Size == 0 || d.Size == s.Size), false
	}
	if !d.Complete() || d.md5() == "" || d.Size != s.Size {
		return false, false
	}
	return d.md5() == s.Components[0].MD5, s.Components[0].MD5 == ""
}

// relocated decides about a file that is stored under another path: it was
// ingested from a folder above or below the present source, so one of the two
// paths ends with the other. All checksums must be equal.
func (s State) relocated(key string) *Decision {
	if s.Kind == "image" {
		return nil // identified by base name already
	}
	if s.Relocated == nil {
		return &Decision{Action: FindRelocated}
	}
	for _, d := range s.Relocated {
		if !strings.HasSuffix(d.Name, "/"+s.Name) && !strings.HasSuffix(s.Name, "/"+d.Name) {
			continue
		}
		if s.Components[0].MD5 == "" {
			return &Decision{Action: Hash}
		}
		if s.sameComponents(d) {
			return &Decision{Action: Skip, Dataset: d.ID, Key: key, Relocated: true,
				Reason: "already uploaded from another folder, as " + d.Name}
		}
	}
	return nil
}

func (s State) sameComponents(d Dataset) bool {
	for _, c := range s.Components {
		if other, ok := d.Component(c.Name); !ok || !other.Uploaded || other.MD5 != c.MD5 {
			return false
		}
	}
	return len(d.Components) == len(s.Components)
}

// create is the decision for a file that the platform does not have, perhaps
// only in a previous version.
func (s State) create(key string) Decision {
	decision := Decision{Action: Create, Key: key}
	var previous *Dataset
	for i := range s.Datasets {
		d := &s.Datasets[i]
		if s.sameSubject(d) && (previous == nil || !d.Empty() || previous.Empty()) {
			previous = d
		}
	}
	if previous != nil {
		decision.Replaces = previous.ID
		decision.Superseded = s.superseded(s.Run, "", previous.Taken)
		decision.Reason = fmt.Sprintf("changed: its earlier state, dataset %s, is kept", previous.ID)
		if previous.Empty() {
			decision.Reason = fmt.Sprintf("changed since dataset %s was created for it, which is kept without a file", previous.ID)
		}
	}
	return decision
}

// sameSubject reports whether a dataset of the file's name holds a version of
// it: for images only the acquisition time can tell.
func (s State) sameSubject(d *Dataset) bool {
	return s.Kind != "image" || d.Taken != 0 && d.Taken == s.Taken
}

// superseded are the empty datasets of previous versions, created by runs
// before the one that created the present dataset.
func (s State) superseded(run, key string, taken int64) (ids []string) {
	for _, d := range s.Datasets {
		if s.Replace && d.Key != "" && d.Key != key && d.Empty() && d.Run < run &&
			(s.Kind != "image" || taken != 0 && d.Taken == taken) {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

// afterCreate chooses between the dataset just created and those that other
// runs have created meanwhile: every run chooses the same, and deletes only its
// own.
func (s State) afterCreate() Decision {
	created := Dataset{ID: s.Created, Components: make([]Component, 1)} // nothing uploaded
	survivor, _ := Survivor(append([]Dataset{created}, s.Datasets...))
	switch {
	case survivor.ID == s.Created:
		return Decision{Action: Upload, Dataset: s.Created, Key: s.Key}
	case survivor.Complete():
		return Decision{Action: Skip, Dataset: survivor.ID, Key: s.Key, Discard: true, Reason: OtherRun}
	}
	return Decision{Action: Wait, Dataset: survivor.ID, Key: s.Key, Discard: true}
}

// OtherRun is the reason of a file that another run has uploaded.
const OtherRun = "uploaded by another run"

// afterUpload makes runs that did not notice each other agree: the dataset with
// the smallest ID stays, unless it is an orphan.
func (s State) afterUpload() Decision {
	decision := Decision{Action: Keep, Dataset: s.Created, Key: s.Key}
	if len(s.Datasets) == 0 {
		return decision
	}
	first := s.Datasets[0]
	for _, d := range s.Datasets {
		if d.ID < first.ID {
			first = d
		}
		if d.Empty() {
			decision.Orphans = append(decision.Orphans, Orphan{ID: d.ID, Survivor: s.Created})
		}
	}
	if s.Created < first.ID || first.Empty() {
		return decision
	}
	decision.Dataset, decision.Discard = first.ID, true
	if !first.Complete() {
		decision.Action = CompleteOther
	}
	return decision
}

// Survivor returns which of several datasets with one key stays: one that is
// complete, else the one with the smallest ID. It is false for an empty list.
func Survivor(list []Dataset) (best Dataset, ok bool) {
	for _, d := range list {
		complete := d.Complete()
		if !ok || complete && !best.Complete() || complete == best.Complete() && d.ID < best.ID {
			best, ok = d, true
		}
	}
	return best, ok
}

// Orphans returns the empty datasets among those of one name that have the key
// of another one.
func Orphans(datasets []Dataset) (orphans []Orphan) {
	for _, d := range datasets {
		if d.Key == "" || !d.Empty() {
			continue
		}
		var same []Dataset
		for _, other := range datasets {
			if other.Key == d.Key {
				same = append(same, other)
			}
		}
		if survivor, _ := Survivor(same); survivor.ID != d.ID {
			orphans = append(orphans, Orphan{ID: d.ID, Survivor: survivor.ID})
		}
	}
	return orphans
}

// Confirmed reports whether an orphan can be deleted, by the present state of
// both datasets: it is still empty, and the survivor is complete.
func (o Orphan) Confirmed(orphan, survivor Dataset) bool {
	return orphan.Key != "" && survivor.Key != "" && (orphan.Key == survivor.Key || o.Superseded) &&
		orphan.ID != survivor.ID && orphan.Empty() && survivor.Complete()
}

// Identity is what files and datasets are matched by: kind and path within the
// source. For images it is the base name, because the same photo below another
// folder is the same photo; of anything else equal files in two folders may both
// be meant.
func Identity(kind, name string) string {
	if kind == "image" {
		name = path.Base(name)
	}
	return kind + "\x00" + name
}
