package stdlib

import (
	"regexp"
	"strings"
	"sync"

	"transect/client/fault"
)

// piece is a part of a template: literal text (kind 0), a value (v), one
// without escaping (&), a section (#), its opposite (^), a partial (>).
type piece struct {
	kind   byte
	text   string // literal, or the name
	format string // of a value, such as %.2f
	line   int
	inner  []piece
}

var (
	templateName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\.|[^\s.{}|#^/&>!]+(\.[^\s.{}|#^/&>!]+)*)$`) })
	templateFormat = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(%%|[^%])*%[-+ #0]*\d{0,3}(\.\d{0,2})?([dioxXeEfgGsq])(%%|[^%])*$`)
	})
)

// templateReader takes a template apart.
type templateReader struct {
	text string
	at   int
	line int
}

func readTemplate(text string) ([]piece, error) {
	r := &templateReader{text: text, line: 1}
	pieces, err := r.until("", 1, 0)
	return pieces, err
}

const deepestTemplate = 64

func (r *templateReader) wrong(line int, format string, args ...any) error {
	return fault.Of(&fault.ValueError{}, "line %d: "+format, append([]any{line}, args...)...)
}

// until reads up to the end of a section, or of the template for "".
func (r *templateReader) until(section string, opened, depth int) ([]piece, error) {
	if depth > deepestTemplate {
		return nil, r.wrong(opened, "more than %d sections inside one another", deepestTemplate)
	}
	var pieces []piece
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
					return nil, r.wrong(line, "{{/%s}} ends what did not begin", tag)
				}
				return nil, r.wrong(line, "{{/%s}} stands where {{/%s}} should, of line %d", tag, section, opened)
			}
			return pieces, nil
		}
		p := piece{kind: kind, text: tag, line: line}
		if name, format, found := strings.Cut(tag, "|"); found && (kind == 'v' || kind == '&') {
			p.text, p.format = strings.TrimSpace(name), strings.TrimSpace(format)
			if !templateFormat().MatchString(p.format) {
				return nil, r.wrong(line, "%q is no format such as %%.2f", p.format)
			}
		}
		if !templateName().MatchString(p.text) {
			return nil, r.wrong(line, "%q is no name", p.text)
		}
		if kind == '#' || kind == '^' {
			if p.inner, err = r.until(p.text, line, depth+1); err != nil {
				return nil, err
			}
		}
		pieces = append(pieces, p)
	}
}

func appendText(pieces []piece, text string) []piece {
	if text == "" {
		return pieces
	}
	return append(pieces, piece{text: text})
}

// tag reads the tag at start: its content, kind and where it ends.
func (r *templateReader) tag(start int) (content string, kind byte, end int, err error) {
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

// aloneOnLine says whether nothing else is on the line of a tag, and where
// the line begins and ends.
func aloneOnLine(text string, start, end int) (from, to int, alone bool) {
	from = strings.LastIndexByte(text[:start], '\n') + 1
	rest := text[end:]
	to = len(text)
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		rest, to = rest[:i], end+i+1
	}
	return from, to, strings.TrimSpace(text[from:start]) == "" && strings.TrimSpace(rest) == ""
}
