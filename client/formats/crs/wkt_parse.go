package crs

import (
	"errors"
	"strconv"
	"strings"
)

// wktNode is one element: NAME["text", 1.5, CHILD[…]].
type wktNode struct {
	keyword  string // in capitals
	values   []string
	children []wktNode
}

type wktReader struct {
	text string
	at   int
}

const (
	maxWKT    = 64 << 10
	deepest   = 16
	notWKT    = "it is not a well-known text"
	delimiter = " \t\r\n,"
)

func (r *wktReader) node(depth int) (n wktNode, err error) {
	if depth > deepest || len(r.text) > maxWKT {
		return n, errors.New(notWKT + ": it is too long")
	}
	n.keyword = strings.ToUpper(r.word())
	if n.keyword == "" || r.at == len(r.text) || !strings.ContainsRune("[(", rune(r.text[r.at])) {
		return n, errors.New(notWKT)
	}
	r.at++
	for {
		r.skip(delimiter)
		if r.at == len(r.text) {
			return n, errors.New(notWKT + ": its end is missing")
		}
		switch c := r.text[r.at]; {
		case c == ']' || c == ')':
			r.at++
			return n, nil
		case c == '"':
			end := strings.IndexByte(r.text[r.at+1:], '"')
			if end < 0 {
				return n, errors.New(notWKT + ": its end is missing")
			}
			n.values = append(n.values, r.text[r.at+1:r.at+1+end])
			r.at += end + 2
		default:
			start := r.at
			word := r.word()
			switch {
			case word == "":
				return n, errors.New(notWKT)
			case r.at < len(r.text) && strings.ContainsRune("[(", rune(r.text[r.at])):
				r.at = start
				child, err := r.node(depth + 1)
				if err != nil {
					return n, err
				}
				n.children = append(n.children, child)
			default:
				n.values = append(n.values, word)
			}
		}
	}
}

func (r *wktReader) skip(characters string) {
	rest := r.text[r.at:]
	r.at += len(rest) - len(strings.TrimLeft(rest, characters))
}

// word consumes a keyword or a number of the text, and the spaces after it.
func (r *wktReader) word() string {
	r.skip(" \t\r\n")
	rest := r.text[r.at:]
	end := strings.IndexAny(rest, "[]()\","+delimiter)
	if end < 0 {
		end = len(rest)
	}
	r.at += end
	r.skip(" \t\r\n")
	return rest[:end]
}

// child returns the first child with one of the names.
func (n wktNode) child(keywords ...string) (wktNode, bool) {
	for _, keyword := range keywords {
		for _, c := range n.children {
			if c.keyword == keyword {
				return c, true
			}
		}
	}
	return wktNode{}, false
}

func (n wktNode) name() string {
	if len(n.values) == 0 {
		return ""
	}
	return n.values[0]
}

// number returns value i as a number, or otherwise if it is missing.
func (n wktNode) number(i int, otherwise float64) float64 {
	if i < len(n.values) {
		if v, err := strconv.ParseFloat(n.values[i], 64); err == nil && finite(v) {
			return v
		}
	}
	return otherwise
}

// code returns the EPSG code of an element, 0 without one.
func (n wktNode) code() int {
	a, _ := n.child("AUTHORITY", "ID")
	if len(a.values) < 2 || !strings.EqualFold(a.values[0], "EPSG") {
		return 0
	}
	code, _ := strconv.Atoi(a.values[1])
	return code
}

// letters returns the letters and digits of a name in lower case, and its plus signs.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '+':
			return r
		}
		return -1
	}, name)
}
