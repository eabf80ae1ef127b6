package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"transect/client/declare"
)

// warnDeprecated warns once for each operation that has a replacement.
func warnDeprecated(log *slog.Logger) declare.Interceptor {
	var warned sync.Map
	return func(ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
		if now := call.Spec.Deprecated; now != "" {
			if _, before := warned.LoadOrStore(call.Spec.FullName(), true); !before {
				log.Warn(call.Spec.FullName()+" is deprecated", "use", now)
			}
		}
		return next(ctx, call)
	}
}

// warnKeyset tells when a generator cannot follow identifiers as it was asked to.
func warnKeyset(log *slog.Logger) declare.Interceptor {
	return func(ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
		if reason := call.KeysetGivenUp(); reason != "" {
			log.Warn("keyset_pagination is given up: pages are numbered", "operation", call.Spec.FullName(), "reason", reason)
		}
		return next(ctx, call)
	}
}

// madeUp starts the ids of things a dry run pretends to have created.
const madeUp = "dry-run-"

// DryRun prints every write to out instead of sending it. Reads go through.
// What would be created is answered as if it had been, with an id that says so
// and that later calls may use.
func DryRun(out io.Writer) declare.Interceptor {
	d := &dryRun{out: out, records: map[string][]byte{}}
	return d.intercept
}

type dryRun struct {
	mu      sync.Mutex
	out     io.Writer
	count   int
	records map[string][]byte
}

func (d *dryRun) intercept(ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
	s := call.Spec
	if s.Composed {
		return next(ctx, call)
	}
	if s.Effect == declare.Read {
		return d.read(ctx, call, next)
	}
	arguments := map[string]any{}
	for _, p := range s.Params {
		if v, given := call.Args.Values[p.Name]; given {
			arguments[p.Name] = v
			if p.Secret {
				arguments[p.Name] = "[redacted]"
			}
		}
	}
	for k, v := range call.Args.Extra {
		arguments[k] = v
	}
	text, err := declare.Encode(arguments)
	if err != nil {
		return declare.Value{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	fmt.Fprintf(d.out, "dry run: %s %s\n", s.FullName(), text)
	return d.pretend(s, arguments)
}

// read answers questions about made-up things from memory.
func (d *dryRun) read(ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
	for _, p := range call.Spec.Params {
		id, ok := call.Args.Values[p.Name].(string)
		if !ok || !strings.HasPrefix(id, madeUp) {
			continue
		}
		d.mu.Lock()
		record, known := d.records[id]
		d.mu.Unlock()
		if !known {
			break
		}
		switch call.Spec.Shape {
		case declare.ShapeIterator:
			return declare.Value{Shape: declare.ShapeIterator, Stream: nothing{}}, nil
		case declare.ShapeResource, declare.ShapeSome:
			return declare.Value{Shape: declare.ShapeResource, JSON: record}, nil
		}
		fmt.Fprintf(d.out, "dry run: %s of %s\n", call.Spec.FullName(), id)
		return declare.Value{Shape: declare.ShapeNone}, nil
	}
	return next(ctx, call)
}

// pretend answers as the platform would, with the arguments and a made-up id.
func (d *dryRun) pretend(s *declare.Spec, arguments map[string]any) (declare.Value, error) {
	record := func(kind string, more map[string]any) []byte {
		d.count++
		id := fmt.Sprintf("%s%s-%d", madeUp, kind, d.count)
		fields := map[string]any{}
		for k, v := range arguments {
			fields[k] = v
		}
		for k, v := range more {
			fields[k] = v
		}
		fields["_id"], fields["dry_run"] = id, true
		text, err := declare.Encode(fields)
		if err != nil {
			text, _ = json.Marshal(map[string]any{"_id": id, "dry_run": true})
		}
		d.records[id] = text
		return text
	}
	if s.FullName() == "missions.create_survey" {
		survey := Survey{Flight: &Flight{}}
		if err := declare.DecodeRecord(record("flights", nil), survey.Flight); err != nil {
			return declare.Value{}, err
		}
		err := declare.DecodeRecord(record("missions", map[string]any{"flights": []any{survey.Flight.ID}}), &survey.Mission)
		return declare.Value{Shape: declare.ShapeGo, Go: survey}, err
	}
	switch s.Shape {
	case declare.ShapeResource, declare.ShapeSome:
		if s.FullName() == "analytics.order" {
			return declare.Value{Shape: declare.ShapeResource, JSON: record("products", map[string]any{"status": "available"})}, nil
		}
		return declare.Value{Shape: declare.ShapeResource, JSON: record(s.Manager, nil)}, nil
	case declare.ShapeResources:
		var items [][]byte
		for _, item := range tables(s, arguments) {
			fields, _ := item.(map[string]any)
			items = append(items, record(s.Manager, fields))
		}
		return declare.Value{Shape: declare.ShapeResources, Items: items}, nil
	case declare.ShapeObject:
		return declare.Value{Shape: declare.ShapeObject, JSON: []byte(`{"dry_run":true}`)}, nil
	}
	return declare.Value{Shape: declare.ShapeNone}, nil
}

// tables finds the argument that lists what an operation creates.
func tables(s *declare.Spec, arguments map[string]any) []any {
	for _, p := range s.Params {
		if list, ok := arguments[p.Name].([]any); ok && p.Type.Elem != nil && p.Type.Elem.Object() {
			return list
		}
	}
	return nil
}

// nothing is a stream without records.
type nothing struct{}

func (nothing) Next(context.Context) ([]byte, bool, error) { return nil, false, nil }
func (nothing) Close()                                     {}
