package declare

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	fast "github.com/segmentio/encoding/json"
	"github.com/tidwall/gjson"

	"transect/client/fault"
	"transect/client/human"
)

// Value is the undecoded result of an operation. Records stay bytes, because scripts read few of their fields.
type Value struct {
	Shape  Shape
	JSON   []byte   // of a resource or an object
	Items  [][]byte // of a list or a page
	Total  int64    // of a page: all matches, -1 when unknown
	Stream *Stream  // of an iterator
	Go     any      // result of a Go method
}

// None is the result of operations without one.
type None struct{}

// Some is the result of operations on one id or several.
type Some[T any] []T

// One returns the first record: the result of a call with one id.
func (s Some[T]) One() T {
	if len(s) == 0 {
		var zero T
		return zero
	}
	return s[0]
}

// Page is one page of a search.
type Page[T any] struct {
	Total   int64 // all matches; -1 when the platform did not count
	Results []T
}

// Record is embedded in every typed resource. It keeps everything the platform sent, including
// fields without a Go name.
type Record struct {
	ID  string `json:"_id"`
	raw []byte
}

// ResourceID returns the record's id.
func (r Record) ResourceID() string { return r.ID }

// JSON returns the record as the platform sent it.
func (r Record) JSON() []byte { return r.raw }

// Keep stores the record's JSON, and its id if that has another name or form. It is called after decoding.
func (r *Record) Keep(raw []byte) {
	if r.raw = raw; r.ID == "" {
		r.ID = idIn(gjson.ParseBytes(raw), "_id")
	}
}

type keeper interface{ Keep(raw []byte) }

type rawRecord interface{ JSON() []byte }

// DecodeRecord decodes a resource and keeps its JSON along with its fields. Fields of another form than declared
// are left out of the typed ones.
func DecodeRecord(raw []byte, into any) error {
	err := json.Unmarshal(raw, into)
	if form, ok := errors.AsType[*json.UnmarshalTypeError](err); err != nil && (!ok || form.Field == "") {
		return fault.Of(&fault.QueryError{}, "the platform's answer is not of the expected form: %w", err)
	}
	if k, ok := into.(keeper); ok {
		k.Keep(raw)
	}
	return nil
}

// Decoder is implemented by results that decode an answer themselves.
type Decoder interface{ Decode(Value) error }

// decodeItems decodes items into a list.
func decodeItems(items [][]byte, into reflect.Value) error {
	into.Set(reflect.MakeSlice(into.Type(), len(items), len(items)))
	for i, raw := range items {
		if err := DecodeRecord(raw, into.Index(i).Addr().Interface()); err != nil {
			return err
		}
	}
	return nil
}

// decodeInto decodes a value into out, a pointer to a typed result.
func decodeInto(v Value, out any) error {
	into := reflect.ValueOf(out).Elem()
	if v.Go != nil && reflect.TypeOf(v.Go).AssignableTo(into.Type()) {
		into.Set(reflect.ValueOf(v.Go))
		return nil
	}
	if d, ok := out.(Decoder); ok {
		return d.Decode(v)
	}
	switch t := into.Type(); {
	case isCursor(t):
		into.Set(reflect.New(t.Elem()))
		into.Elem().FieldByName("Stream").Set(reflect.ValueOf(v.Stream))
		return nil
	case instance(t, "Page"):
		into.FieldByName("Total").SetInt(v.Total)
		return decodeItems(v.Items, into.FieldByName("Results"))
	case instance(t, "Some") && v.Shape == ShapeResource:
		into.Set(reflect.MakeSlice(t, 1, 1))
		return DecodeRecord(v.JSON, into.Index(0).Addr().Interface())
	case instance(t, "Some"), v.Items != nil:
		return decodeItems(v.Items, into)
	case t == reflect.TypeFor[None](), len(v.JSON) == 0:
		return nil
	}
	return DecodeRecord(v.JSON, out)
}

// wrap makes a Value from the result of a Go method.
func wrap(s *Spec, a Args, out any) Value {
	switch o := out.(type) {
	case None:
		return Value{Shape: ShapeNone, Go: out}
	case rawRecord:
		if len(o.JSON()) == 0 { // not a record
			return Value{Shape: ShapeNone, Go: out}
		}
		return Value{Shape: ShapeResource, JSON: o.JSON(), Go: out}
	}
	if isCursor(reflect.TypeOf(out)) {
		stream, _ := reflect.ValueOf(out).Elem().FieldByName("Stream").Interface().(*Stream)
		return Value{Shape: ShapeIterator, Stream: stream, Go: out}
	}
	if s.Shape == ShapeResources || s.Shape == ShapeSome {
		list := reflect.ValueOf(out)
		items := make([][]byte, list.Len())
		for i := range items {
			items[i] = list.Index(i).Interface().(rawRecord).JSON()
		}
		if s.Shape == ShapeSome && len(items) == 1 && !isList(a.Values[s.Params[0].Name]) {
			return Value{Shape: ShapeResource, JSON: items[0], Go: out}
		}
		return Value{Shape: ShapeResources, Items: items, Go: out}
	}
	return Value{Shape: ShapeGo, Go: out}
}

// mostItems limits the items of an answer: splitting takes up to 72 bytes per item, in total half
// the size of the answer or 36 MiB.
func mostItems(text []byte) int { return max(1<<19, len(text)/144) }

// tooMany reports whether JSON has more than most values in lists and objects down to the level lowest.
func tooMany(text []byte, lowest, most int) bool {
	if bytes.Count(text, []byte(",")) < most { // much faster than the loop
		return false
	}
	commas, level, quoted := 0, 0, false
	for i := 0; i < len(text) && commas < most; i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '[' || c == '{':
			level++
		case c == ']' || c == '}':
			level--
		case c == ',' && level <= lowest:
			commas++
		}
	}
	return commas >= most
}

// splitPage splits the answer of a search, {"results": [...], "total": n},
// into its records without decoding them. total is -1 when absent.
func splitPage(body []byte) (items [][]byte, total int64, err error) {
	var page struct {
		Results []fast.RawMessage `json:"results"`
		Total   fast.RawMessage   `json:"total"`
	}
	if err := split(body, &page, "search answer", 2); err != nil {
		return nil, 0, err
	}
	if page.Results == nil {
		return nil, 0, fault.Of(&fault.QueryError{}, "the answer of the search holds no results")
	}
	if total = -1; json.Unmarshal(page.Total, &total) != nil || total < 0 {
		total = -1
	}
	return itemsOf(page.Results), total, nil
}

// SplitArray splits a JSON array into its items without decoding them.
func SplitArray(body []byte) ([][]byte, error) {
	var items []fast.RawMessage
	err := split(body, &items, "list", 1)
	if err == nil && items == nil {
		err = notA("list", body, nil)
	}
	return itemsOf(items), err
}

// split parses JSON into slices of the text. It accepts what the standard library accepts, such as
// duplicate names. The parts are at level.
func split(body []byte, into any, what string, level int) error {
	if most := mostItems(body); tooMany(body, level, most) {
		return fault.Hinted(fault.Of(&fault.QueryError{}, "%w: more than %s", fault.ErrAnswerTooLarge,
			human.Count(most, "record")), "ask for fewer records at a time, with limit or a narrower filter")
	}
	rest, err := fast.Parse(body, into, fast.ZeroCopy|fast.DontMatchCaseInsensitiveStructFields)
	if err != nil || len(bytes.TrimSpace(rest)) > 0 {
		return notA(what, body, err)
	}
	return nil
}

// itemsOf returns the items with their capacity cut, because appending to one would overwrite the next.
func itemsOf(parts []fast.RawMessage) [][]byte {
	items := make([][]byte, len(parts))
	for i, part := range parts {
		items[i] = part[:len(part):len(part)]
	}
	return items
}

func notA(what string, body []byte, cause error) error {
	start := bytes.TrimSpace(body)
	if len(start) > 0 && (start[0] == '{' || start[0] == '[') {
		if err := json.Unmarshal(body, new(json.RawMessage)); err != nil {
			return fault.Hinted(fault.Of(&fault.QueryError{}, "the platform's answer of %d bytes is damaged or cut off: %w",
				len(body), err), "%s", readAgain)
		}
	}
	if len(start) > 60 {
		start = start[:60]
	}
	f := fault.Of(&fault.QueryError{}, "the platform's answer is not a %s, it starts %q", what, start)
	if cause != nil {
		f = fault.Of(&fault.QueryError{}, "the platform's answer is not a %s: %w", what, cause)
	}
	return fault.Hinted(f, "%s", readAgain)
}

// Hints for unreadable answers.
const (
	readAgain = "check whether a proxy or another device on the way changes answers"
	mayBeDone = "it may have been done although its answer was lost: check before repeating it; " + readAgain
)

// made returns why the answer to a creation is inconsistent: it names too few records, or one without an id.
func (s *Spec) made(a Args, v Value) error {
	if s.Effect != Create || s.MadeID == "" || v.Shape == ShapeNone {
		return nil
	}
	records := v.Items
	if v.Shape != ShapeResources {
		records = [][]byte{v.JSON}
	} else if asked, ok := a.Values[s.Params[0].Name].([]any); ok && len(records) < len(asked) {
		return fault.Of(fault.Named(s.Missing), "the answer holds %d of %d %s", len(records), len(asked), s.Makes)
	}
	for _, record := range records {
		if idIn(gjson.ParseBytes(record), s.MadeID) == "" {
			return fault.Of(fault.Named(s.Missing), "the answer holds no id of a %s", Singular(s.Makes))
		}
	}
	return nil
}

// idIn returns the id at a path that ends in _id, or in id; "" for none.
func idIn(record gjson.Result, path string) string {
	for _, at := range []string{path, strings.TrimSuffix(path, "_id") + "id"} {
		if id := record.Get(at); id.Type == gjson.String || id.Type == gjson.Number {
			return id.String()
		}
	}
	return ""
}

// maybeDone completes the error for an unreadable answer, because the write may have been done.
func (s *Spec) maybeDone(err error) error {
	f := fault.Find(err)
	if f != nil && (f.Facts().Hint == readAgain && s.Effect != Read || f.Facts().Hint == "" && s.Effect == Create) {
		f.Facts().Hint = mayBeDone
	}
	return err
}
