package ingest

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"transect/client/atomicfile"
	"transect/client/fault"
	"transect/client/imagery"
	"transect/client/scan"
)

var csvHeader = []string{"name", "path", "size", "outcome", "kind", "dataset", "component", "md5", "cause", "hint", "path_encoded"}

// csvFields are the texts of an outcome in the order of csvHeader; that of the
// size is nil.
func (o *Outcome) csvFields() []*string {
	return []*string{&o.Name, &o.Path, nil, &o.Outcome, &o.Kind, &o.Dataset, &o.Component, &o.MD5, &o.Cause, &o.Hint, &o.PathEncoded}
}

func isCSV(path string) bool { return strings.EqualFold(filepath.Ext(path), ".csv") }

// checkReport refuses a report that could not be written, before any work.
func checkReport(path string) error {
	if path == "" {
		return nil
	}
	if !isCSV(path) && !strings.EqualFold(filepath.Ext(path), ".json") {
		return fault.Hinted(fault.Of(&fault.ParameterError{}, "the report %s is neither .json nor .csv", path), "its extension selects the format")
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return fault.Hinted(fault.Of(&fault.FileError{}, "the folder of the report %s does not exist", path), "create it first, or name another one")
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// summary is what a JSON report has beside its files.
type summary struct {
	Ingest   string    `json:"ingest"`
	Platform string    `json:"platform"`
	Source   string    `json:"source,omitempty"`
	Target   Target    `json:"target"`
	Started  time.Time `json:"started"`
	Seconds  float64   `json:"seconds"`
	Counts
	DryRun    bool   `json:"dry_run,omitempty"`
	Error     string `json:"error,omitempty"`
	Preflight any    `json:"preflight,omitempty"`
}

// writeReport writes the outcomes, complete under its name or not at all.
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

func (r *run) writeJSON(w io.Writer, result *Result, failure error) error {
	s := summary{Ingest: r.id, Platform: r.client.BaseURL(), Source: scan.Readable(r.options.Source.Root), Target: r.options.Target,
		Started: r.started.UTC(), Seconds: result.Seconds, Counts: result.Counts, DryRun: r.options.DryRun, Preflight: result.Preflight}
	if failure != nil {
		s.Error = failure.Error()
	}
	head, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	separator := string(head[:len(head)-2]) + ",\n  \"files\": [\n    " // without the closing brace
	end := "\n  ]\n}\n"
	err = r.outcomes.each(all, 1, func(list []Outcome) error {
		line, err := json.Marshal(list[0].encoded())
		if err == nil {
			_, err = io.WriteString(w, separator+string(line))
		}
		separator = ",\n    "
		return err
	})
	if err == nil {
		if separator != ",\n    " { // no file at all
			end = strings.TrimSuffix(separator, "\n    ") + end
		}
		_, err = io.WriteString(w, end)
	}
	return err
}

func (r *run) writeCSV(w io.Writer) error {
	rows := csv.NewWriter(w)
	if err := rows.Write(csvHeader); err != nil {
		return err
	}
	row := make([]string, len(csvHeader))
	err := r.outcomes.each(all, 1, func(list []Outcome) error {
		o := list[0].encoded()
		for i, field := range o.csvFields() {
			if row[i] = strconv.FormatInt(o.Size, 10); field != nil {
				row[i] = *field
			}
		}
		return rows.Write(row)
	})
	rows.Flush()
	return errors.Join(err, rows.Error())
}

const reportHint = "it is a file that ingest.run wrote with report = …"

// OpenReport opens a report, JSON or CSV, to read its outcomes.
func OpenReport(path string, open imagery.Opener) (*OutcomeReader, error) {
	file, err := open.Open(path)
	if err != nil {
		if fault.Find(err) != nil {
			return nil, err // access denied by policy
		}
		return nil, fault.Hinted(fault.Of(&fault.FileError{}, "cannot read the report %s: %w", path, fault.Reason(err)), reportHint)
	}
	in := bufio.NewReaderSize(file, 64<<10)
	read := jsonOutcomes
	if isCSV(path) {
		read = csvOutcomes
	}
	next, err := read(in)
	if err != nil {
		_ = file.Close() // only read from
		return nil, notReport(path, err)
	}
	return &OutcomeReader{file, func() (Outcome, error) {
		o, err := next()
		if err == nil {
			err = o.decode()
		}
		if err != nil && err != io.EOF {
			err = notReport(path, err)
		}
		return o, err
	}}, nil
}

func notReport(path string, err error) error {
	return fault.Hinted(fault.Of(&fault.FileError{}, "%s is no report of an ingest: %w", path, err), reportHint)
}

// jsonOutcomes reads up to the list of files, then one by one.
func jsonOutcomes(in io.Reader) (func() (Outcome, error), error) {
	d := json.NewDecoder(in)
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("it is not a JSON object")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		if key == "files" {
			if t, err := d.Token(); err != nil || t != json.Delim('[') {
				return nil, errors.New("its files are no list")
			}
			return func() (o Outcome, err error) {
				if !d.More() {
					return o, io.EOF
				}
				err = d.Decode(&o)
				return o, err
			}, nil
		}
		var ignored json.RawMessage
		if err := d.Decode(&ignored); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("it has no list of files")
}

func csvOutcomes(in io.Reader) (func() (Outcome, error), error) {
	rows := csv.NewReader(in)
	head, err := rows.Read()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"name", "path", "outcome"} {
		if !slices.Contains(head, name) {
			return nil, errors.New("it has no column " + name)
		}
	}
	return func() (o Outcome, err error) {
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
	}, nil
}
