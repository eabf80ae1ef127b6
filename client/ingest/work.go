package ingest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"transect/client/fault"
	"transect/client/imagery"
	"transect/client/scan"
)

// work is one item on its way.
type work struct {
	item    scan.Item
	key     string
	photo   *imagery.Photo
	name    string // of the dataset
	dataset string
	outcome string // what it will be when it ends well
	created bool   // by this run
	there   []bool // files the dataset has already, where it has several
	sums    []string
	earlier string   // dataset of an earlier state of the file
	strays  []string // empty datasets of earlier states
	remark  string
}

func (w *work) first() scan.Member { return w.item.Members[0] }

// uploading is the operation that sends the files.
const uploading = "datasets.upload_file"

// gone is what becomes of an error when the file has gone meanwhile, with its
// card perhaps: all that counts then.
func (w *work) gone(err error) error {
	for _, m := range w.item.Members {
		if _, missing := os.Stat(m.Path); errors.Is(missing, fs.ErrNotExist) {
			return fault.Hinted(fault.Of(&fault.FileError{}, "%s has gone since this run found it", m.Path),
				"is its card or disk still there? bring it back and run again")
		}
	}
	return err
}

// result is the outcome of a work that ended well.
func (w *work) result() Outcome {
	o := outcomeOf(w.item)
	o.Outcome, o.Dataset, o.Key, o.Cause, o.Title = w.outcome, w.dataset, w.key, w.remark, w.name
	if len(w.sums) > 0 {
		o.MD5 = w.sums[0]
		for i := range o.Files {
			o.Files[i].MD5 = w.sums[i]
		}
	}
	return o
}

// failed is the outcome of a work that did not.
func (w *work) failed(err error) Outcome {
	o := outcomeOf(w.item)
	o.Outcome, o.Dataset, o.Key = Failed, w.dataset, w.key
	o.fail(err)
	return o
}

func (o *Outcome) fail(err error) {
	o.Outcome, o.Cause, o.err = Failed, err.Error(), err
	if f := fault.Find(err); f != nil {
		o.Hint = f.Facts().Hint
		o.Cause = strings.TrimPrefix(o.Cause, uploading+": ") // that is what an ingest does
	}
	var skipped *scan.Skipped
	if errors.As(err, &skipped) {
		o.Cause, o.Hint = skipped.Why(), skipped.Hint()
	}
}

func outcomeOf(item scan.Item) Outcome {
	first := item.Members[0]
	o := Outcome{Name: item.Name, Path: absolute(first.Path), Size: item.Size(), Kind: item.Kind, Component: first.Component}
	if len(item.Members) > 1 {
		for _, m := range item.Members {
			o.Files = append(o.Files, Part{Component: m.Component, Path: absolute(m.Path), Size: m.Size})
		}
	}
	return o
}

// item is the item an outcome tells about, as far as it needs to be known to
// send it again.
func (o Outcome) item() scan.Item {
	item := scan.Item{Kind: o.Kind, Name: o.Name}
	if len(o.Files) == 0 {
		item.Members = []scan.Member{{File: scan.File{Path: o.Path, Name: o.Name, Size: o.Size}, Component: o.Component}}
	}
	for _, p := range o.Files {
		item.Members = append(item.Members, scan.Member{File: scan.File{Path: p.Path, Size: p.Size}, Component: p.Component})
	}
	return item
}

func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// unreadable is the error of a file that cannot be read.
func unreadable(path string, err error) error {
	f := fault.Of(&fault.FileError{}, "%s cannot be read: %w", path, fault.Reason(err))
	f.Hint = "check that it is still there, and its permissions"
	return f
}
