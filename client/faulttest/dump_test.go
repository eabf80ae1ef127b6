package faulttest

import (
	"bytes"
	"context"
	"crypto/md5"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the platform's database is looked into as it lies there
)

// checksum is a quick one, for comparing only.
func checksum(content []byte) uint32 {
	return crc32.Checksum(content, crc32.MakeTable(crc32.Castagnoli))
}

func decode(text []byte, into any) error { return json.Unmarshal(text, into) }

var (
	identifier = regexp.MustCompile(`\b[0-9a-f]{24}\b`)
	moment     = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z`)
	marker     = regexp.MustCompile(`\bplain-[0-9a-f]{8}/\d+`)
	runName    = regexp.MustCompile(`\d{8}-\d{6}\.\d{3}-[0-9a-f]{6}`)
)

// told are the dates that do not depend on when something was done.
var told = map[string]bool{"acquisition_date": true, "survey_date": true, "modified": true}

// dump is everything a platform holds, one line a thing, without what differs
// from run to run: identifiers, dates, tokens.
func (w *world) dump(ctx context.Context) (string, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.platform.Dir(), "platform.db")+"?_pragma=busy_timeout(5000)&_pragma=query_only(1)")
	if err != nil {
		return "", err
	}
	defer db.Close()
	d := &dumper{ctx: ctx, db: db, dir: w.platform.Dir(), labels: map[string]string{}, sums: map[string]string{}}
	if err := d.idle(); err != nil {
		return "", err
	}
	for _, step := range []func() error{d.label, d.blobs, d.docs, d.tables} {
		if err := step(); err != nil {
			return "", err
		}
	}
	sort.Strings(d.lines)
	return strings.Join(d.lines, "\n"), nil
}

type dumper struct {
	ctx    context.Context
	db     *sql.DB
	dir    string
	labels map[string]string // by identifier
	sums   map[string]string // checksum of a file without identifiers and dates, by its checksum
	lines  []string
}

// idle waits until no work is left in the background.
func (d *dumper) idle() error {
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		var jobs int
		if err := d.db.QueryRowContext(d.ctx, "SELECT count(*) FROM jobs").Scan(&jobs); err != nil {
			return err
		}
		if jobs == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d jobs of the platform do not end", jobs)
		}
	}
}

func (d *dumper) each(query string, columns int, do func(row []string) error) error {
	rows, err := d.db.QueryContext(d.ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		row, to := make([]string, columns), make([]any, columns)
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return err
		}
		if err := do(row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// emptyDouble is a dataset that never had a file and was deleted again. An
// ingest makes one when a creation that it was told had failed arrives later
// on, behind the one it then made instead.
const emptyDouble = `(collection = 'datasets' AND deletion_date IS NOT NULL AND json_extract(body, '$.ingestion.status') = 'pending')`

// label names documents by their collection and name.
func (d *dumper) label() error {
	times := map[string]int{}
	return d.each("SELECT collection, id, coalesce(name, ''), body FROM docs WHERE NOT "+emptyDouble+" ORDER BY id", 4, func(row []string) error {
		label := row[0] + ":" + row[2]
		var version struct{ Version string }
		if decode([]byte(row[3]), &version) == nil && version.Version != "" {
			label += " " + version.Version
		}
		if times[label]++; times[label] > 1 {
			label += fmt.Sprint(" #", times[label])
		}
		d.labels[row[1]] = "<" + label + ">"
		return nil
	})
}

func (d *dumper) plain(text string) string {
	text = identifier.ReplaceAllStringFunc(text, func(id string) string {
		if label, ok := d.labels[id]; ok {
			return label
		}
		return "<unknown>"
	})
	text = marker.ReplaceAllString(text, "<run>/<write>")
	return runName.ReplaceAllString(moment.ReplaceAllString(text, "<date>"), "<run>")
}

// blobs tells of every file in the platform's folders.
func (d *dumper) blobs() error {
	for _, folder := range []string{"blobs", "incoming"} {
		err := filepath.WalkDir(filepath.Join(d.dir, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			d.bytes(folder, content)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// bytes tells of the content of one file.
func (d *dumper) bytes(where string, content []byte) {
	own := fmt.Sprintf("%x", checksum(content))
	if len(content) < 1<<20 && bytes.IndexByte(content, 0) < 0 { // made by an analytic
		sum := md5.Sum(content)
		own = fmt.Sprintf("%x", checksum([]byte(d.plain(string(content)))))
		d.sums[hex.EncodeToString(sum[:])] = own
	}
	d.lines = append(d.lines, fmt.Sprintf("%s: %d bytes %s", where, len(content), own))
}

func (d *dumper) docs() error {
	return d.each("SELECT collection, body FROM docs WHERE NOT "+emptyDouble, 2, func(row []string) error {
		var body any
		if err := decode([]byte(row[1]), &body); err != nil {
			return err
		}
		text, err := json.Marshal(d.walk("", body))
		d.lines = append(d.lines, row[0]+": "+string(text))
		return err
	})
}

func (d *dumper) walk(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, child := range v {
			v[k] = d.walk(k, child)
		}
	case []any:
		for i, child := range v {
			v[i] = d.walk(key, child)
		}
	case string:
		if own, ok := d.sums[v]; ok {
			return own
		}
		if told[key] {
			return v
		}
		if key == "token" {
			return "<token>"
		}
		return d.plain(v)
	}
	return v
}

// tables tells of what clients do not see.
func (d *dumper) tables() error {
	for _, query := range []string{
		"SELECT 'component', dataset, component, size, checksum, filename FROM components",
		// A request that comes late opens an upload again whose file is there: nothing comes of it.
		"SELECT 'upload', u.dataset, u.component, u.filename, u.checksum, chunk_size || ' ' || total_size || ' ' || total_parts || ' ' ||" +
			" (complete OR c.checksum = u.checksum) FROM uploads u LEFT JOIN components c ON c.dataset = u.dataset AND c.component = u.component",
		"SELECT 'part', u.dataset, u.component, p.number, p.size, p.checksum FROM parts p LEFT JOIN uploads u ON p.upload = u.id",
		"SELECT 'log', product, row_number() OVER (PARTITION BY product ORDER BY time), record, '', '' FROM logs",
	} {
		err := d.each(query, 6, func(row []string) error {
			for i, v := range row {
				if own, ok := d.sums[v]; ok {
					row[i] = own
				}
			}
			d.lines = append(d.lines, d.plain(strings.Join(row, " ")))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// difference lists the lines two dumps do not share.
func difference(want, got string) string {
	count := map[string]int{}
	for line := range strings.SplitSeq(want, "\n") {
		count[line]--
	}
	for line := range strings.SplitSeq(got, "\n") {
		count[line]++
	}
	var list []string
	for line, n := range count {
		if n != 0 {
			list = append(list, fmt.Sprintf("%+d %s", n, line))
		}
	}
	sort.Strings(list)
	return strings.Join(list, "\n")
}
