package ingest

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"transect/client/atomicfile"
	"transect/client/fault"
	"transect/client/files"
	"transect/client/scan"
	"transect/client/verdict"
)

var csvHeader = []string{"name", "path", "size", "verdict", "kind", "dataset", "component", "md5", "cause", "hint",
	"path_encoded"}

// csvFields returns the texts of an outcome in the order of csvHeader, with nil for the size.
func (o *Outcome) csvFields() []*string {
	return []*string{&o.Name, &o.Path, nil, (*string)(&o.Verdict), &o.Kind, &o.Dataset, &o.Component, &o.MD5, &o.Cause,
		&o.Hint, &o.PathEncoded}
}

func isCSV(path string) bool { return strings.EqualFold(filepath.Ext(path), ".csv") }

// checkReport returns an error if the report cannot be written, before any work.
func (o *Options) checkReport() error {
	path := o.Report
	if path == "" {
		return nil
	}
	if !isCSV(path) && !strings.EqualFold(filepath.Ext(path), ".json") {
		return fault.Hinted(fault.Of(&fault.ParameterError{}, "the report %s is neither .json nor .csv", path),
			"its extension selects the format")
	}
	if info, err := o.Source.Tree.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return fault.Hinted(fault.Of(&fault.FileError{}, "the folder of the report %s does not exist", path),
			"create it first, or name another one")
	}
	if info, err := o.Source.Tree.Stat(path); err == nil && info.IsDir() {
		return fault.Hinted(fault.Of(&fault.FileError{}, "the report %s cannot be written: it is a folder", path),
			"name a file in it")
	}
	in, err := o.Folder(filepath.Dir(path), filepath.Base(path))
	if err == nil {
		var file *atomicfile.File
		if file, err = atomicfile.Create(in, filepath.Base(path), 0o644); err == nil {
			file.Discard()
		}
	}
	if err != nil && fault.Find(err) == nil {
		err = fault.Hinted(fault.Of(&fault.FileError{}, "the report %s cannot be written: %w", path, fault.Reason(err)),
			"nothing was sent; name a report in another folder")
	}
	return err
}

// isRealReport reports whether a file exists and is not the report of a dry run.
func isRealReport(path string, tree files.Tree) bool {
	if _, err := tree.Stat(path); path == "" || err != nil {
		return false
	}
	file, err := tree.Open(path)
	if err != nil {
		return true
	}
	defer file.Close()
	head := make([]byte, 4<<10)
	n, _ := io.ReadFull(file, head) // as much as there is
	return !bytes.Contains(head[:n], []byte(`"dry_run": true`))
}

// summary is the part of a JSON report besides its files.
type summary struct {
	Ingest   string    `json:"ingest"`
	Platform string    `json:"platform"`
	Source   string    `json:"source,omitempty"`
	Target   Target    `json:"target"`
	Started  time.Time `json:"started"`
	Seconds  float64   `json:"seconds"`
	verdict.Counts
	NotReached int64  `json:"not_reached,omitempty"`
	DryRun     bool   `json:"dry_run,omitempty"`
	Error      string `json:"error,omitempty"`
	Preflight  any    `json:"preflight,omitempty"`
}

// writeReport writes the outcomes; the file appears under its name only when complete.
func (r *run) writeReport(result *Result, failure error) (err error) {
	path := r.options.Report
	in, err := r.options.Folder(filepath.Dir(path), filepath.Base(path))
	if err != nil {
		return reportError(path, err)
	}
	file, err := atomicfile.Create(in, filepath.Base(path), 0o644)
	if err != nil {
		return reportError(path, err)
	}
	defer file.Discard()
	w := bufio.NewWriterSize(file, 64<<10)
	if isCSV(path) {
		err = r.writeCSV(w)
	} else {
		err = r.writeJSON(w, result, failure)
	}
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = file.Commit()
	}
	return reportError(path, err)
}

func reportError(path string, err error) error {
	if err == nil || fault.Find(err) != nil {
		return err
	}
	return fault.Hinted(fault.Of(&fault.FileError{}, "the report %s cannot be written: %w", path, fault.Reason(err)),
		"the files themselves were ingested; make room, or name another report, and run again: nothing is sent twice")
}

func (r *run) writeJSON(w *bufio.Writer, result *Result, failure error) error {
	s := summary{Ingest: r.id, Platform: r.client.BaseURL(), Source: scan.Readable(r.options.Source.Root),
		Target:  r.options.Target,
		Started: r.started.UTC(), Seconds: result.Seconds, Counts: result.Counts, NotReached: result.NotReached,
		DryRun: r.options.DryRun, Preflight: result.Preflight}
	if failure != nil {
		s.Error = failure.Error()
	}
	head, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	w.Write(head[:len(head)-2]) // without the closing brace; Flush returns errors
	separator := ",\n  \"files\": [\n    "
	end := separator[:len(separator)-5] + "\n  ]\n}\n"
	for o, err := range r.outcomes.All {
		if err != nil {
			return err
		}
		line, err := json.Marshal(o.encoded())
		if err != nil {
			return err
		}
		w.WriteString(separator)
		w.Write(line)
		separator, end = ",\n    ", "\n  ]\n}\n"
	}
	_, err = w.WriteString(end)
	return err
}

func (r *run) writeCSV(w *bufio.Writer) error {
	rows := csv.NewWriter(w)
	rows.Write(csvHeader) // rows.Error returns errors
	row := make([]string, len(csvHeader))
	for o, err := range r.outcomes.All {
		if err != nil {
			return err
		}
		o = o.encoded()
		for i, field := range o.csvFields() {
			if row[i] = strconv.FormatInt(o.Size, 10); field != nil {
				row[i] = *field
			}
		}
		rows.Write(row)
	}
	rows.Flush()
	return rows.Error()
}

const reportHint = "it is a file that ingest.run wrote with report = …"

// OpenReport yields the outcomes of a report, JSON or CSV, and stops at an error.
func OpenReport(path string, tree files.Tree) iter.Seq2[Outcome, error] {
	return func(yield func(Outcome, error) bool) {
		file, err := tree.Open(path)
		switch {
		case err != nil && fault.Find(err) != nil: // access denied by policy
			yield(Outcome{}, err)
			return
		case err != nil:
			yield(Outcome{}, fault.Hinted(fault.Of(&fault.FileError{}, "cannot read the report %s: %w", path, fault.Reason(err)),
				reportHint))
			return
		}
		defer file.Close()
		read := readJSON
		if isCSV(path) {
			read = readCSV
		}
		next := read(bufio.NewReaderSize(file, 64<<10))
		for {
			o, err := next()
			if err == nil {
				err = o.decode()
			}
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(Outcome{}, notReport(path, err))
				return
			}
			if !yield(o, nil) {
				return
			}
		}
	}
}

func notReport(path string, err error) error {
	return fault.Hinted(fault.Of(&fault.FileError{}, "%s is not the report of an ingest: %w", path, err), reportHint)
}

// readJSON reads up to the list of files, then one file per call.
func readJSON(in io.Reader) func() (Outcome, error) {
	d := json.NewDecoder(in)
	err := findFiles(d)
	return func() (o Outcome, _ error) {
		if err == nil && !d.More() {
			err = io.EOF
		}
		if err == nil {
			err = d.Decode(&o)
		}
		return o, err
	}
}

func findFiles(d *json.Decoder) error {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("not a JSON object")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		if key == "files" {
			if t, err := d.Token(); err != nil || t != json.Delim('[') {
				return errors.New("its files are not a list")
			}
			return nil
		}
		var ignored json.RawMessage
		if err := d.Decode(&ignored); err != nil {
			return err
		}
	}
	return errors.New("it has no list of files")
}

func readCSV(in io.Reader) func() (Outcome, error) {
	rows := csv.NewReader(in)
	head, err := rows.Read()
	for _, name := range []string{"name", "path", "verdict"} {
		if err == nil && !slices.Contains(head, name) {
			err = errors.New("it has no column " + name)
		}
	}
	return func() (o Outcome, _ error) {
		if err != nil {
			return o, err
		}
		row, err := rows.Read()
		if err != nil {
			return o, err
		}
		fields := o.csvFields()
		for i, name := range head {
			switch at := slices.Index(csvHeader, name); {
			case at < 0:
			case fields[at] == nil:
				o.Size, _ = strconv.ParseInt(row[i], 10, 64) // 0 when absent
			default:
				*fields[at] = row[i]
			}
		}
		return o, nil
	}
}
