package ingest

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"transect/client/atomicfile"
	"transect/client/fault"
	"transect/client/imagery"
	"transect/client/scan"
)

var csvHeader = []string{"name", "path", "size", "outcome", "kind", "dataset", "component", "md5", "cause", "hint", "path_encoded"}

// checkReport refuses a report that could not be written, before any work.
func checkReport(path string) error {
	if path == "" {
		return nil
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json", ".csv":
	default:
		return fault.Hinted(fault.Of(&fault.ParameterError{}, "the report %s is neither .json nor .csv", path), "its ending says in which form it is written")
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return fault.Hinted(fault.Of(&fault.FileError{}, "the folder of the report %s does not exist", path), "make it first, or name another one")
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// summary is what a JSON report says beside its files.
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
	path := r.o.Report
	in, err := r.o.Folder(filepath.Dir(path), filepath.Base(path))
	if err != nil {
		return unwritten(path, err)
	}
	file, err := atomicfile.Create(in, filepath.Base(path), 0o644)
	if err != nil {
		return unwritten(path, err)
	}
	defer file.Discard()
	w := bufio.NewWriterSize(file, 64<<10)
	if strings.EqualFold(filepath.Ext(path), ".csv") {
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
	return unwritten(path, err)
}

func unwritten(path string, err error) error {
	if err == nil || fault.Find(err) != nil {
		return err
	}
	return fault.Hinted(fault.Of(&fault.FileError{}, "the report %s cannot be written: %w", path, fault.Reason(err)),
		"the files themselves were dealt with; make room, or name another report, and run again: nothing is sent twice")
}

func (r *run) writeJSON(w io.Writer, result *Result, failure error) error {
	s := summary{Ingest: r.id, Platform: r.c.BaseURL(), Source: scan.Readable(r.o.Source.Root), Target: r.o.Target, Started: r.started.UTC(),
		Seconds: result.Seconds, Counts: result.Counts, DryRun: r.o.DryRun, Preflight: result.Preflight}
	if failure != nil {
		s.Error = failure.Error()
	}
	head, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if _, err := w.Write(head[:len(head)-2]); err != nil { // without its end
		return err
	}
	between := ",\n  \"files\": [\n    "
	err = r.each(func(Outcome) bool { return true }, 1, func(list []Outcome) error {
		line, err := json.Marshal(list[0].asText())
		if err == nil {
			_, err = io.WriteString(w, between+string(line))
		}
		between = ",\n    "
		return err
	})
	if err == nil && strings.Contains(between, "files") {
		_, err = io.WriteString(w, ",\n  \"files\": [")
	}
	if err == nil {
		_, err = io.WriteString(w, "\n  ]\n}\n")
	}
	return err
}

func (r *run) writeCSV(w io.Writer) error {
	rows := csv.NewWriter(w)
	if err := rows.Write(csvHeader); err != nil {
		return err
	}
	err := r.each(func(Outcome) bool { return true }, 1, func(list []Outcome) error {
		o := list[0].asText()
		return rows.Write([]string{o.Name, o.Path, strconv.FormatInt(o.Size, 10), o.Outcome, o.Kind, o.Dataset, o.Component, o.MD5, o.Cause, o.Hint, o.PathEncoded})
	})
	rows.Flush()
	return errors.Join(err, rows.Error())
}

// OpenReport opens a report, JSON or CSV, for reading its outcomes.
func OpenReport(path string, open imagery.Opener) (*OutcomeReader, error) {
	file, err := open.Open(path)
	if err != nil {
		if fault.Find(err) != nil {
			return nil, err // it may not be read
		}
		return nil, fault.Hinted(fault.Of(&fault.FileError{}, "cannot read the report %s: %w", path, fault.Reason(err)), "it is a file that ingest.run wrote with report = …")
	}
	in := bufio.NewReaderSize(file, 64<<10)
	read := jsonOutcomes
	if strings.EqualFold(filepath.Ext(path), ".csv") {
		read = csvOutcomes
	}
	one, err := read(in)
	if err != nil {
		_ = file.Close() // only read from
		return nil, notReport(path, err)
	}
	return &OutcomeReader{file, func() (Outcome, bool, error) {
		o, ok, err := one()
		if err != nil {
			err = notReport(path, err)
		}
		return o, ok, err
	}}, nil
}

func notReport(path string, err error) error {
	return fault.Hinted(fault.Of(&fault.FileError{}, "%s is no report of an ingest: %w", path, err), "it is a file that ingest.run wrote with report = …")
}

// jsonOutcomes reads up to the list of files, then one by one.
func jsonOutcomes(in io.Reader) (func() (Outcome, bool, error), error) {
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
			return func() (o Outcome, ok bool, err error) {
				if !d.More() {
					return o, false, nil
				}
				if err = d.Decode(&o); err == nil {
					err = o.asFiles()
				}
				return o, err == nil, err
			}, nil
		}
		var passed json.RawMessage
		if err := d.Decode(&passed); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("it has no list of files")
}

func csvOutcomes(in io.Reader) (func() (Outcome, bool, error), error) {
	rows := csv.NewReader(in)
	head, err := rows.Read()
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for i, name := range head {
		at[name] = i
	}
	for _, name := range []string{"name", "path", "outcome"} {
		if _, ok := at[name]; !ok {
			return nil, errors.New("it has no column " + name)
		}
	}
	return func() (o Outcome, ok bool, err error) {
		row, err := rows.Read()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return o, false, err
		}
		get := func(name string) string {
			if i, ok := at[name]; ok {
				return row[i]
			}
			return ""
		}
		size, _ := strconv.ParseInt(get("size"), 10, 64)
		o = Outcome{Name: get("name"), Path: get("path"), Size: size, Outcome: get("outcome"), Kind: get("kind"), Dataset: get("dataset"),
			Component: get("component"), MD5: get("md5"), Cause: get("cause"), Hint: get("hint"), PathEncoded: get("path_encoded")}
		err = o.asFiles()
		return o, err == nil, err
	}, nil
}

// Retry makes the source of what failed in an earlier run: the files a report
// lists as failed. Names stay those of that run, so that keys do, when all lie
// in one folder that was its source. Relative paths, as in reports made by hand,
// begin in the folder base.
func Retry(o *Options, report, base string) error {
	earlier, err := OpenReport(report, o.Source.Open)
	if err != nil {
		return err
	}
	defer earlier.Close()
	roots, paths := map[string]bool{}, map[string]bool{}
	var list []string
	for {
		outcome, ok, err := earlier.Next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if outcome.Outcome != Failed {
			continue
		}
		if outcome.Path == "" {
			return notReport(report, fmt.Errorf("%q has failed, and has no path", outcome.Name))
		}
		path := outcome.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(base, path)
		}
		if path = absolute(path); paths[path] {
			continue
		}
		paths[path] = true
		list = append(list, path)
		root, _ := rootOf(filepath.ToSlash(path), outcome.Name)
		roots[filepath.FromSlash(root)] = true
	}
	if len(list) == 0 {
		o.Items = func(func(item, error) bool) {}
		return nil
	}
	o.Source.Paths = list
	if len(roots) == 1 {
		for root := range roots {
			o.Source.Root = root
		}
	}
	return nil
}
