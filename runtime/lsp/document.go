package lsp

import (
	"bytes"
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"transect/runtime/engine/compile"
	"transect/runtime/lint"
)

// document is a script that is open in the editor, or a file.
type document struct {
	uri, path string
	version   int
	text      []byte
	lines     []int // offsets
	script    *lint.Script
}

func newDocument(uri, path string, version int, text []byte) *document {
	d := &document{uri: uri, path: path, version: version}
	d.set(text)
	return d
}

// set replaces the text.
func (d *document) set(text []byte) {
	d.text, d.script, d.lines = text, nil, []int{0}
	for i, c := range text {
		if c == '\n' || c == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
			d.lines = append(d.lines, i+1)
		}
	}
}

// edit applies a change of the editor.
func (d *document) edit(c change) {
	if c.Range == nil {
		d.set([]byte(c.Text))
		return
	}
	from, to := d.offset(c.Range.Start), d.offset(c.Range.End)
	d.set(bytes.Join([][]byte{d.text[:from], d.text[max(from, to):]}, []byte(c.Text)))
}

// line returns the text of a line, from 0, without its end.
func (d *document) line(n int) []byte {
	if n < 0 || n >= len(d.lines) {
		return nil
	}
	end := len(d.text)
	if n+1 < len(d.lines) {
		end = d.lines[n+1]
	}
	return bytes.TrimRight(d.text[d.lines[n]:end], "\r\n")
}

// offset returns the byte offset of a position, or of the nearest valid one.
func (d *document) offset(p position) int {
	switch {
	case p.Line < 0:
		return 0
	case p.Line >= len(d.lines):
		return len(d.text)
	}
	line, at := d.line(p.Line), 0
	for units := p.Character; units > 0 && at < len(line); {
		r, size := utf8.DecodeRune(line[at:])
		if units -= units16(r); units < 0 {
			break
		}
		at += size
	}
	return d.lines[p.Line] + at
}

func units16(r rune) int { return max(1, utf16.RuneLen(r)) }

// units returns the length of a text in units of UTF-16.
func units(text string) (n int) {
	for _, r := range text {
		n += units16(r)
	}
	return n
}

// position converts a line and a column in bytes, both from 1.
func (d *document) position(line, column int) position {
	text := d.line(line - 1)
	return position{line - 1, units(string(text[:min(max(column-1, 0), len(text))]))}
}

// rangeOf returns the range of a name.
func (d *document) rangeOf(n *lint.Name) span { return d.token(n.Line, n.Column) }

// token returns the range of the token at a line and a column, or the rest of the line.
func (d *document) token(line, column int) span {
	found := span{Start: d.position(line, column), End: d.position(line, len(d.line(line-1))+1)}
	if line < 1 || line > len(d.lines) {
		return span{}
	}
	rest := d.text[min(d.lines[line-1]+column-1, len(d.text)):]
	if stop := bytes.IndexAny(rest, "\r\n"); stop >= 0 {
		rest = rest[:stop]
	}
	if tokens := compile.Tokens(rest); len(tokens) > 0 && tokens[0].From == 0 {
		found.End = d.position(line, column+tokens[0].To)
	}
	return found
}

// nameAt returns the index of the name at a position, or -1.
func (d *document) nameAt(p position) int {
	at := d.offset(p)
	for i := range d.script.Names {
		n := &d.script.Names[i]
		if n.Line-1 == p.Line {
			r := d.rangeOf(n)
			if d.offset(r.Start) <= at && at <= d.offset(r.End) && (at < d.offset(r.End) || !n.Literal) {
				return i
			}
		}
	}
	return -1
}

// pathOf returns the path of a URI, "" if it is not a file.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	path := u.Path
	if len(path) > 2 && path[0] == '/' && path[2] == ':' { // /C:/flights
		path = path[1:]
	}
	return filepath.FromSlash(path)
}

func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
