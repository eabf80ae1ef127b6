package ingest

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"transect/client/scan"
)

// Names of files can be any bytes, those of old cameras and of shares often are
// no UTF-8; reports are text. There such a path is shown with %E9 in the place of
// bytes that are no text, and path_encoded beside it holds it exactly:
// percent-encoded, as in an address. Other paths have none.

// exactly is the percent-encoded form of a path that a report cannot hold as it
// is; "" for all others.
func exactly(path string) string {
	// A CSV reader takes the carriage return of a line's end for the writer's.
	if utf8.ValidString(path) && !strings.Contains(path, "\r") {
		return ""
	}
	var b strings.Builder
	for rest := path; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		if r == utf8.RuneError && size == 1 || r == '%' || r < ' ' {
			fmt.Fprintf(&b, "%%%02X", rest[0])
		} else {
			b.WriteString(rest[:size])
		}
		rest = rest[size:]
	}
	return b.String()
}

// asText is an outcome as reports hold it.
func (o Outcome) asText() Outcome {
	o.PathEncoded = exactly(o.Path)
	for _, text := range []*string{&o.Name, &o.Title, &o.Path, &o.Cause, &o.Hint} {
		*text = scan.Readable(*text)
	}
	parts := o.Files
	o.Files = nil
	for _, p := range parts {
		p.PathEncoded = exactly(p.Path)
		p.Path = scan.Readable(p.Path)
		o.Files = append(o.Files, p)
	}
	return o
}

// asFiles undoes that with an outcome that was read.
func (o *Outcome) asFiles() error {
	err := decoded(&o.Path, &o.PathEncoded)
	for i := range o.Files {
		err = errors.Join(err, decoded(&o.Files[i].Path, &o.Files[i].PathEncoded))
	}
	return err
}

func decoded(path, encoded *string) error {
	if *encoded == "" {
		return nil
	}
	exact, err := url.PathUnescape(*encoded)
	if err != nil {
		return fmt.Errorf("path_encoded of %s: %w", *path, err)
	}
	*path, *encoded = exact, ""
	return nil
}

// rootOf is the folder in which a file has a name; ok is false when the path
// does not end with that name.
func rootOf(path, name string) (root string, ok bool) {
	at := len(path)
	for range strings.Count(name, "/") + 1 {
		if at = strings.LastIndexByte(path[:at], '/'); at < 0 {
			return "", false
		}
	}
	if scan.Readable(path[at+1:]) != name {
		return "", false
	}
	return path[:at], true
}
