package reconcile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Decide returns what to do with a file.
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
	decision := s.create(key)
	if decision.Replaces == "" { // a changed file is sent in any case: its previous version has other content
		if d := s.duplicate(key); d != nil {
			return *d
		}
	}
	return decision
}

// found returns the decision for a dataset created for the file.
func (s State) found(d Dataset, key string) Decision {
	decision := Decision{Action: Resume, Dataset: d.ID, Key: key, Superseded: s.superseded(d.Run, d.Key, d.Taken)}
	if d.Complete() {
		decision.Action = Skip
	}
	if slices.ContainsFunc(s.Datasets, func(other Dataset) bool { return other.ID == d.Replaces }) {
		decision.Replaces = d.Replaces
	}
	return decision
}

// match finds the dataset created for exactly this file, and the file's key. hash requests the
// checksum if the decision depends on it.
func (s State) match() (match *Dataset, key string, hash bool) {
	edited := false
	var begun *Dataset
	for i := range s.Datasets {
		d := &s.Datasets[i]
		switch {
		case d.Key == "":
			if same, hash := s.sameForeign(d); same || hash {
				return d, s.Key, hash
			}
		case d.Key != s.Key:
		case !d.Complete():
			begun = cmp.Or(begun, d)
		case d.Modified == s.Modified || d.md5() == "" || d.md5() == s.Components[0].MD5:
			return d, s.Key, false
		case s.Components[0].MD5 == "":
			return nil, "", true
		default:
			edited = true
		}
	}
	if !edited {
		return begun, s.Key, false
	}
	if i := slices.IndexFunc(s.Datasets, func(d Dataset) bool { return d.Key == s.EditedKey }); i >= 0 {
		return &s.Datasets[i], s.EditedKey, false
	}
	return nil, s.EditedKey, false
}

// sameForeign reports whether a dataset not created by an ingest holds the file. Images are
// compared by acquisition time, because every memory card has a DJI_0001.JPG; other files by
// checksum.
func (s State) sameForeign(d *Dataset) (same, hash bool) {
	if s.Kind == "image" && d.Taken != 0 {
		return s.Taken == d.Taken && (!d.Complete() || d.Size == 0 || d.Size == s.Size), false
	}
	if !d.Complete() || d.md5() == "" || d.Size != s.Size {
		return false, false
	}
	return d.md5() == s.Components[0].MD5, s.Components[0].MD5 == ""
}

// relocated decides about a file stored under another path: it was ingested from a folder above or
// below the present source, so one of the two paths ends with the other. All checksums must be
// equal.
func (s State) relocated(key string) *Decision {
	if s.Kind == "image" {
		return nil // already identified by base name
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

// duplicate decides about a file whose bytes are stored under another name. All checksums must be equal.
func (s State) duplicate(key string) *Decision {
	switch {
	case s.Content == "":
		return nil
	case s.Same == nil:
		return &Decision{Action: FindSame}
	}
	for _, d := range s.Same {
		if s.Components[0].MD5 == "" {
			return &Decision{Action: Hash}
		}
		if s.sameComponents(d) {
			return &Decision{Action: Skip, Dataset: d.ID, Key: key, Same: true}
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

// create returns the decision for a file that the platform lacks, or has only in a previous version.
func (s State) create(key string) Decision {
	decision := Decision{Action: Create, Key: key}
	var previous *Dataset
	for _, d := range s.Datasets {
		if s.sameSubject(d.Taken, s.Taken) && (previous == nil || !d.Empty() || previous.Empty()) {
			previous = &d
		}
	}
	if previous != nil {
		decision.Replaces = previous.ID
		decision.Superseded = s.superseded(s.Run, "", previous.Taken)
		decision.Reason = fmt.Sprintf("changed: its earlier state, dataset %s, is kept", previous.ID)
		if previous.Empty() {
			decision.Reason = fmt.Sprintf("changed since dataset %s was created for it, which is kept without a file",
				previous.ID)
		}
	}
	return decision
}

// sameSubject reports whether two datasets or files of one name are versions of the same: images
// are distinguished only by acquisition time.
func (s State) sameSubject(taken, other int64) bool {
	return s.Kind != "image" || taken != 0 && taken == other
}

// superseded returns the empty datasets of previous versions, created by runs before the one that
// created the current dataset.
func (s State) superseded(run, key string, taken int64) (ids []string) {
	for _, d := range s.Datasets {
		if s.Replace && d.Key != "" && d.Key != key && d.Empty() && d.Run < run && s.sameSubject(taken, d.Taken) {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

// afterCreate chooses between the new dataset and those that other runs have created meanwhile:
// every run makes the same choice, and deletes only its own.
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

// OtherRun is the reason for a file that another run has uploaded.
const OtherRun = "uploaded by another run"

// afterUpload makes runs agree that did not notice each other: the dataset with the smallest ID
// stays, unless it is an orphan.
func (s State) afterUpload() Decision {
	decision := Decision{Action: Keep, Dataset: s.Created, Key: s.Key}
	if len(s.Datasets) == 0 {
		return decision
	}
	first := slices.MinFunc(s.Datasets, func(a, b Dataset) int { return cmp.Compare(a.ID, b.ID) })
	for _, d := range s.Datasets {
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
