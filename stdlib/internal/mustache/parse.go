// Package mustache parses Mustache templates and escapes values; the Lua module template renders them. As an
// extension a value may have a format, {{area|%.2f}}. Begin reading at Parse.
//
// It is written by hand because sections iterate over Lua tables, resources and iterators that may wait for
// the platform, which the Go libraries cannot.
package mustache

import (
	"regexp"
	"strings"
	"sync"

	"transect/client/fault"
)

// Kind is the kind of a part of a template.
type Kind byte

// The kinds of parts.
const (
	Text     Kind = 0
	Value    Kind = 'v'
	Raw      Kind = '&' // a value without escaping
	Section  Kind = '#'
	Inverted Kind = '^'
	Partial  Kind = '>'
)

// Piece is a part of a template.
type Piece struct {
	Kind   Kind
	Text   string // literal, or the name
	Format string // of a value, such as %.2f
	Line   int
	Inner  []Piece // of a section
}

var (
	name = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\.|[^\s.{}|#^/&>!]+(\.[^\s.{}|#^/&>!]+)*)$`)
	})
	format = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(%%|[^%])*%[-+ #0]*\d{0,3}(\.\d{0,2})?([dioxXeEfgGsq])(%%|[^%])*$`)
	})
)

// Numeric reports whether the value's format is for numbers.
func (p Piece) Numeric() bool {
	found := format().FindStringSubmatch(p.Format)
	return found != nil && found[3] != "s" && found[3] != "q"
}

// reader parses a template.
type reader struct {
	text string
	at   int
	line int
}

// Parse parses a template. Errors are ValueErrors with their line.
func Parse(text string) ([]Piece, error) {
	r := &reader{text: text, line: 1}
	return r.until("", 1, 0)
}

// Deepest limits the nesting of sections and partials.
const Deepest = 64

func (r *reader) wrong(line int, format string, args ...any) error {
	return fault.Of(&fault.ValueError{}, "line %d: "+format, append([]any{line}, args...)...)
}

// until parses up to the end of a section, or of the template for "".
func (r *reader) until(section string, opened, depth int) ([]Piece, error) {
	if depth > Deepest {
		return nil, r.wrong(opened, "sections are nested more than %d deep", Deepest)
	}
	var pieces []Piece
	for {
		open := strings.Index(r.text[r.at:], "{{")
		if open < 0 {
			if section != "" {
				return nil, r.wrong(opened, "{{#%s}} has no {{/%s}}", section, section)
			}
			return appendText(pieces, r.text[r.at:]), nil
		}
		before := r.text[r.at : r.at+open]
		start := r.at + open
		r.line += strings.Count(before, "\n")
		line := r.line
		tag, kind, end, err := r.tag(start)
		if err != nil {
			return nil, err
		}
		r.line += strings.Count(r.text[start:end], "\n")
		if kind != 'v' && kind != '&' {
			if from, to, alone := aloneOnLine(r.text, start, end); alone {
				before = before[:max(0, len(before)-(start-from))]
				r.line += strings.Count(r.text[end:to], "\n")
				end = to
			}
		}
		pieces = appendText(pieces, before)
		r.at = end
		switch kind {
		case '!':
			continue
		case '/':
			if tag != section {
				if section == "" {
					return nil, r.wrong(line, "{{/%s}} closes a section that was not opened", tag)
				}
				return nil, r.wrong(line, "found {{/%s}} instead of {{/%s}}, which closes line %d", tag, section, opened)
			}
			return pieces, nil
		}
		p := Piece{Kind: Kind(kind), Text: tag, Line: line}
		if name, form, found := strings.Cut(tag, "|"); found && (kind == 'v' || kind == '&') {
			p.Text, p.Format = strings.TrimSpace(name), strings.TrimSpace(form)
			if !format().MatchString(p.Format) {
				return nil, r.wrong(line, "%q is not a format such as %%.2f", p.Format)
			}
		}
		if !name().MatchString(p.Text) {
			return nil, r.wrong(line, "%q is not a name", p.Text)
		}
		if kind == '#' || kind == '^' {
			if p.Inner, err = r.until(p.Text, line, depth+1); err != nil {
				return nil, err
			}
		}
		pieces = append(pieces, p)
	}
}

func appendText(pieces []Piece, text string) []Piece {
	if text == "" {
		return pieces
	}
	return append(pieces, Piece{Text: text})
}

// tag reads the tag at start and returns its content, kind and end.
func (r *reader) tag(start int) (content string, kind byte, end int, err error) {
	closing, from := "}}", start+2
	if strings.HasPrefix(r.text[from:], "{") {
		closing, from = "}}}", from+1
	}
	length := strings.Index(r.text[from:], closing)
	if length < 0 {
		return "", 0, 0, r.wrong(r.line, "{{ has no }}")
	}
	content, end = strings.TrimSpace(r.text[from:from+length]), from+length+len(closing)
	if closing == "}}}" {
		return content, '&', end, nil
	}
	if content != "" && strings.IndexByte("#^/&>!", content[0]) >= 0 {
		return strings.TrimSpace(content[1:]), content[0], end, nil
	}
	return content, 'v', end, nil
}

// aloneOnLine reports whether a tag is alone on its line, and returns where the line begins and ends.
func aloneOnLine(text string, start, end int) (from, to int, alone bool) {
	from = strings.LastIndexByte(text[:start], '\n') + 1
	rest := text[end:]
	to = len(text)
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		rest, to = rest[:i], end+i+1
	}
	return from, to, strings.TrimSpace(text[from:start]) == "" && strings.TrimSpace(rest) == ""
}
