package vm

import (
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"

	"transect/client/schema"
)

// object is a JSON object whose keys keep the order of the text, so that pairs goes
// through them alike in each process.
type object struct {
	keys   []string
	values []any
}

// DecodeJSON reads one JSON value for ToLua, with its numbers kept as text. A null
// in an object is left out unless nulls keeps it.
func DecodeJSON(text []byte, nulls bool) (any, error) {
	var valid checked
	if err := json.Unmarshal(text, &valid); err != nil {
		switch why := err.Error(); {
		case strings.HasSuffix(why, "end of JSON input"):
			return nil, io.ErrUnexpectedEOF
		case strings.HasSuffix(why, "after top-level value"):
			return nil, errTrailing
		}
		return nil, err
	}
	d := decoder{text: text, nulls: nulls}
	return d.value(), nil
}

// checked is a value that encoding/json only checks for its syntax.
type checked struct{}

func (*checked) UnmarshalJSON([]byte) error { return nil }

// decoder reads a text that is known to be JSON.
type decoder struct {
	text  []byte
	at    int
	nulls bool
}

// next returns the first byte that is neither space nor a comma or colon.
func (d *decoder) next() byte {
	for ; ; d.at++ {
		switch c := d.text[d.at]; c {
		case ' ', '\t', '\n', '\r', ',', ':':
		default:
			return c
		}
	}
}

func (d *decoder) value() any {
	switch d.next() {
	case '{':
		return d.object()
	case '[':
		return d.list()
	case '"':
		return d.string()
	}
	begin := d.at
	for d.at < len(d.text) && !ends(d.text[d.at]) {
		d.at++
	}
	switch word := string(d.text[begin:d.at]); word {
	case "null":
		return nil
	case "true", "false":
		return word == "true"
	default:
		return json.Number(word)
	}
}

// ends reports whether a number or a word ends before c.
func ends(c byte) bool { return c <= ' ' || c == ',' || c == ']' || c == '}' }

func (d *decoder) object() any {
	o := &object{}
	for d.at++; d.next() != '}'; {
		key, v := d.string(), d.value()
		if v == nil && d.nulls {
			v = schema.Null{}
		}
		o.keys, o.values = append(o.keys, key), append(o.values, v)
	}
	d.at++
	return o
}

func (d *decoder) list() any {
	all := []any{}
	for d.at++; d.next() != ']'; {
		all = append(all, d.value())
	}
	d.at++
	return all
}

func (d *decoder) string() string {
	begin := d.at
	plain := true
	for d.at++; d.text[d.at] != '"'; d.at++ {
		if d.text[d.at] == '\\' {
			plain = false
			d.at++
		}
	}
	d.at++
	quoted := d.text[begin:d.at]
	if inner := quoted[1 : len(quoted)-1]; plain && utf8.Valid(inner) {
		return string(inner)
	}
	var s string
	_ = json.Unmarshal(quoted, &s) // it is valid
	return s
}
