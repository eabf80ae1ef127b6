package recovery

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"transect/client/declare"
	"transect/client/ledger"
	"transect/client/schema"
)

// fingerprint identifies a call by its content. In a request, resources are ids, keys are sorted and numbers
// have one form already; dates are compared by the instant, lists that are sets without order, files by name
// and content.
func (a *attempt) fingerprint(ctx context.Context) (ledger.Fingerprint, error) {
	s := a.spec
	if s.Composed || s.Transfers() {
		all, err := a.content(ctx, s.Params, a.call.Args.Values)
		if err != nil {
			return ledger.Fingerprint{}, err
		}
		return a.print([]any{all, a.call.Args.Extra}, func(plain any) any {
			named(s.Params, plain.([]any)[0], func(p *schema.Param) string { return p.Name })
			return plain
		})
	}
	req, err := a.call.Request()
	if err != nil {
		return ledger.Fingerprint{}, err
	}
	for _, key := range s.Adds {
		delete(req.Body, key)
	}
	if req.Body, err = a.withoutSecrets(req.Body); err != nil {
		return ledger.Fingerprint{}, err
	}
	return a.print([]any{req.Method, req.Path, req.Query.Encode(), req.Body}, func(plain any) any {
		body := plain.([]any)[3]
		named(s.Params, body, func(p *schema.Param) string { return p.Key })
		if slices.ContainsFunc(s.Params, func(p schema.Param) bool { return p.Set && p.In == schema.NotSent }) {
			allSets(body) // its body consists of sets
		}
		return plain
	})
}

// print hashes content in normal form.
func (a *attempt) print(content any, normal func(plain any) any) (ledger.Fingerprint, error) {
	text, err := declare.Encode(content)
	if err != nil {
		return ledger.Fingerprint{}, err
	}
	var plain any
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	if err := in.Decode(&plain); err != nil {
		return ledger.Fingerprint{}, err
	}
	if text, err = declare.Encode(normal(plain)); err != nil {
		return ledger.Fingerprint{}, err
	}
	return a.hash(a.spec.FullName(), append([]byte(a.label), text...))
}

// ofStep identifies a step of a composed operation by its position, not by its arguments: they may depend on
// what was read at the time.
func (a *attempt) ofStep(p *parent) (ledger.Fingerprint, error) {
	op := a.spec.FullName()
	return a.hash(op, fmt.Appendf(p.print[:], "%d %d", p.row.Seq, p.step(op)))
}

func (r *Recovery) hash(op string, content []byte) (print ledger.Fingerprint, err error) {
	key, err := r.Key()
	if err != nil {
		return print, err
	}
	h := hmac.New(sha256.New, key)
	fmt.Fprintf(h, "%s\n%s\n", r.Scope, op)
	h.Write(content)
	copy(print[:], h.Sum(nil))
	return print, nil
}

// named normalises the values of declared arguments in an object, under the keys returned by key.
func named(params []schema.Param, object any, key func(*schema.Param) string) {
	for i := range params {
		p := &params[i]
		for _, name := range []string{key(p), p.KeyMany} {
			holder, last := within(object, name)
			v, there := holder[last]
			if !there {
				continue
			}
			switch list, isList := v.([]any); {
			case p.Type == "date":
				holder[last] = timestamp(v)
			case p.Set && isList:
				holder[last] = asSet(list)
			case len(p.Fields) > 0 && isList:
				for _, one := range list {
					named(p.Fields, one, func(p *schema.Param) string { return p.Key })
				}
			case len(p.Fields) > 0:
				named(p.Fields, v, func(p *schema.Param) string { return p.Key })
			}
		}
	}
}

// within returns the object that holds a dotted key, and the last part of the key.
func within(object any, key string) (map[string]any, string) {
	holder, _ := object.(map[string]any)
	for {
		head, rest, nested := strings.Cut(key, ".")
		if !nested {
			return holder, head
		}
		inner := holder[strings.TrimSuffix(head, "[0]")]
		if list, ok := inner.([]any); ok && len(list) > 0 {
			inner = list[0]
		}
		holder, _ = inner.(map[string]any)
		key = rest
	}
}

// timestamp converts a date to an instant; a day is its midnight.
func timestamp(v any) any {
	text, _ := v.(string)
	if t := schema.Date(text).Time(); !t.IsZero() {
		return t.UTC().Truncate(time.Millisecond).Format(schema.DateForm)
	}
	return v
}

func asSet(list []any) []any {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b any) int { return cmp.Compare(encoded(a), encoded(b)) })
	return slices.CompactFunc(list, func(a, b any) bool { return encoded(a) == encoded(b) })
}

func encoded(v any) string {
	text, _ := declare.Encode(v) // cannot fail: decoded from JSON
	return string(text)
}

func allSets(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			v[key] = allSets(inner)
		}
	case []any:
		for i := range v {
			v[i] = allSets(v[i])
		}
		return asSet(v)
	}
	return v
}

// content returns the arguments without those that change nothing, with the traits of files in place of their
// paths.
func (a *attempt) content(ctx context.Context, params []schema.Param, values map[string]any) (map[string]any, error) {
	all := maps.Clone(values)
	for name, v := range all {
		p := schema.Find(params, name)
		var err error
		switch {
		case v == nil, p != nil && (p.How || p.Default != nil && reflect.DeepEqual(v, p.Default)):
			delete(all, name)
		case p == nil:
		case a.spec.Effect != declare.Read && (p.Type == "path" || p.Type == "[]path"):
			all[name], err = a.files(ctx, v)
		case len(p.Fields) > 0:
			all[name], err = a.contentIn(ctx, p.Fields, v)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// contentIn applies content to a table, or to each of a list.
func (a *attempt) contentIn(ctx context.Context, fields []schema.Param, v any) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		return a.content(ctx, fields, v)
	case []any:
		all := make([]any, len(v))
		for i := range v {
			var err error
			if all[i], err = a.contentIn(ctx, fields, v[i]); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
	return v, nil
}

// files returns the traits of files: name and checksum.
func (a *attempt) files(ctx context.Context, v any) (any, error) {
	switch v := v.(type) {
	case string:
		sum, err := a.checksum(ctx, v)
		a.sum = sum
		return []any{filepath.Base(v), sum}, err
	case []any:
		all := make([]any, len(v))
		for i := range v {
			var err error
			if all[i], err = a.files(ctx, v[i]); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
	return v, nil
}
