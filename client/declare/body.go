package declare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"transect/client/fault"
	"transect/client/schema"
)

// Request is one request of an operation.
type Request struct {
	Spec   *Spec
	Method string
	Path   string
	Query  url.Values
	Body   map[string]any // nil when the request has none
	Bound  int64          // maximum size of the answer
	Key    string         // identifies the write: the header Idempotency-Key; "" for none
	Buffer *bytes.Buffer  // the caller's buffer for the answer; nil for a new one

	// GiveUp reports whether retrying after failed attempt n, from 1, is useless; nil to retry as
	// the connection is configured.
	GiveUp func(err error, n int) bool
}

// Repeatable reports whether the request may be sent again when it is unknown if it was processed.
func (r Request) Repeatable() bool { return r.Spec.Effect.Repeatable() }

// JSON encodes the body.
func (r Request) JSON() ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	return Encode(r.Body)
}

// Encode writes a value as JSON without escaping <, > and &.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(encodable(v)); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// encodable replaces values with a wire form of their own: resources become their ids, points in
// time date texts.
func encodable(v any) any {
	switch v := v.(type) {
	case schema.Identified:
		return v.ResourceID()
	case time.Time:
		return v.UTC().Format(schema.DateForm)
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = encodable(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = encodable(e)
		}
		return out
	}
	return v
}

// Shaper is implemented by input structs whose body needs more than renaming: it changes the body
// built from the tags.
type Shaper interface {
	Shape(body map[string]any) error
}

// Router is implemented by input structs whose arguments select between pairs of routes, each for
// one id and for a list.
type Router interface {
	Route(routes []string) []string
}

// Answerer is implemented by input structs whose answer needs more than renaming: it converts the
// answer to its documented form.
type Answerer interface {
	Answer(body []byte) ([]byte, error)
}

// request builds a call's request from checked arguments. many selects the route and key for a list of ids.
func (s *Spec) request(a Args, in any, many bool) (Request, error) {
	routes := s.Routes
	if router, ok := in.(Router); ok {
		routes = router.Route(routes)
	}
	req := Request{Spec: s, Method: s.Method, Path: routes[0], Query: url.Values{}, Bound: s.bound(a)}
	if many && len(routes) > 1 {
		req.Path = routes[1]
	}
	if err := schema.CheckText(a.Extra); err != nil {
		return req, err
	}
	body := map[string]any{}
	maps.Copy(body, a.Extra)
	for i := range s.Params {
		p := &s.Params[i]
		v := a.Values[p.Name]
		if p.In != schema.NotSent { // paths are any bytes
			if err := schema.CheckText(v); err != nil {
				return req, fault.Of(&fault.ParameterError{}, "argument %s: %w", p.Name, err)
			}
		}
		if v == nil {
			v = p.Default
		}
		switch {
		case v == nil:
		case p.In == schema.InPath:
			req.Path = strings.ReplaceAll(req.Path, "{"+p.Name+"}", url.PathEscape(fmt.Sprint(v)))
		case p.In == schema.InQuery:
			req.Query.Set(p.Key, queryText(v))
		}
	}
	if err := fillBody(body, s.Params, a.Values, in); err != nil {
		return req, err
	}
	if s.ExtraWins {
		maps.Copy(body, a.Extra)
	}
	for _, key := range s.Adds {
		if _, given := body[key]; !given {
			body[key] = true
		}
	}
	if s.Method == "POST" || s.Method == "PUT" {
		req.Body = body
		return req, nil
	}
	for key, v := range body { // without a body
		if !req.Query.Has(key) {
			req.Query.Set(key, queryText(v))
		}
	}
	return req, nil
}

// fillBody sets values under their wire keys. in is the struct filled with them; it may shape the body.
func fillBody(body map[string]any, params []schema.Param, values map[string]any, in any) error {
	for i := range params {
		p := &params[i]
		v := values[p.Name]
		if v == nil {
			v = p.Default
		}
		if v == nil && p.SendNull {
			v = schema.Null{}
		}
		if v == nil || p.OmitFalsy && falsy(v) || p.In != schema.InBody {
			continue
		}
		key := p.Key
		if p.KeyMany != "" && isList(v) {
			key = p.KeyMany
		}
		if condition, ok := strings.CutPrefix(key, "filter."); ok {
			property, _, _ := strings.Cut(condition, ".")
			if filter, _ := body["filter"].(map[string]any); filter[property] != nil {
				return fault.Of(&fault.ParameterError{}, "argument %s and a filter on %s cannot be combined", p.Name, property)
			}
		}
		v, err := tableBodies(p, v)
		if err != nil {
			return err
		}
		if p.Wrap && !isList(v) {
			v = []any{v}
		}
		if err := put(body, key, v); err != nil {
			return err
		}
	}
	if shaper, ok := in.(Shaper); ok {
		return shaper.Shape(body)
	}
	return nil
}

// tableBodies encodes tables with declared keys, each as a body of its own.
func tableBodies(p *schema.Param, v any) (any, error) {
	if len(p.Fields) == 0 {
		return v, nil
	}
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			var err error
			if out[i], err = tableBodies(p, v[i]); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		body := map[string]any{}
		for key, e := range v {
			if schema.Find(p.Fields, key) == nil {
				body[key] = e
			}
		}
		in, err := p.Filled(v)
		if err != nil {
			return nil, err
		}
		return body, fillBody(body, p.Fields, v, in)
	}
	return v, nil
}

func isList(v any) bool {
	return reflect.ValueOf(v).Kind() == reflect.Slice
}

func falsy(v any) bool {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Slice, reflect.Map:
		return r.Len() == 0
	}
	return r.IsZero()
}

func queryText(v any) string {
	if b, ok := v.(bool); ok {
		return strconv.FormatBool(b)
	}
	return fmt.Sprint(v)
}

// put sets a dotted key, with [0] for the first item of a list:
// "versions[0].value".
func put(body map[string]any, key string, v any) error {
	head, rest, nested := strings.Cut(key, ".")
	name, inList := strings.CutSuffix(head, "[0]")
	if !nested {
		body[name] = v
		return nil
	}
	if inList {
		list, _ := body[name].([]any)
		first := map[string]any{}
		if len(list) > 0 {
			own, _ := list[0].(map[string]any)
			maps.Copy(first, own)
			list = list[1:]
		}
		body[name] = append([]any{first}, list...)
		return put(first, rest, v)
	}
	inner, ok := body[name].(map[string]any)
	if !ok {
		if _, taken := body[name]; taken {
			return fmt.Errorf("extra argument %s conflicts with %s", name, key)
		}
		inner = map[string]any{}
	} else {
		inner = maps.Clone(inner) // do not change the caller's object
	}
	body[name] = inner
	return put(inner, rest, v)
}
