package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"

	"transect/client/declare"
	"transect/client/fault"
)

// Request is one call of an operation from outside of Lua.
type Request struct {
	Manager, Operation string
	Arguments          []byte // a JSON object of arguments by name; nothing for none
}

// Call calls one operation with a job's connection and prints what it returns
// as JSON: records as the platform sent them, one a line for an iterator,
// nothing for an operation that returns nothing.
func Call(ctx context.Context, w *World, job Job, req Request) error {
	args, err := jsonArguments(req.Arguments)
	if err != nil {
		return err
	}
	return perform(ctx, w, &job, func(r *run, ctx context.Context) error {
		c, err := r.connector.connect(ctx, nil)
		if err != nil {
			return err
		}
		m := c.Manager(req.Manager)
		if m == nil || m.Op(req.Operation) == nil {
			return fault.Of(&fault.UnsupportedOperationError{}, "there is no operation %s.%s", req.Manager, req.Operation)
		}
		spec := m.Op(req.Operation)
		value, err := spec.Invoke(ctx, args)
		if err != nil {
			return err
		}
		total := args.Values["return_total"] == true
		return (&printer{w.Stdout, w.IsTerminal(w.Stdout)}).value(ctx, spec, value, total)
	})
}

// jsonArguments reads arguments by name. What is under extra travels unchanged.
func jsonArguments(text []byte) (declare.Args, error) {
	args := declare.Args{Values: map[string]any{}}
	if len(bytes.TrimSpace(text)) == 0 {
		return args, nil
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var object map[string]any
	err := dec.Decode(&object)
	if err == nil && dec.More() {
		err = fault.Of(&fault.ValueError{}, "there is more behind the object")
	}
	if err != nil || object == nil {
		f := fault.Of(&fault.UsageError{}, "the arguments are no JSON object")
		if err != nil {
			f = fault.Of(&fault.UsageError{}, "the arguments are no JSON object: %w", err)
		}
		return args, fault.Hinted(f, `write them like '{"limit": 10}', or - to read them from standard input`)
	}
	for name, v := range object {
		args.Values[name] = plainJSON(v)
	}
	if extra, ok := args.Values["extra"].(map[string]any); ok {
		args.Extra = extra
		delete(args.Values, "extra")
	}
	return args, nil
}

// plainJSON turns decoded JSON into what the client's checks work on.
func plainJSON(v any) any {
	switch v := v.(type) {
	case nil:
		return declare.Null{}
	case json.Number:
		if n, err := v.Int64(); err == nil && !strings.ContainsAny(v.String(), ".eE") {
			return n
		}
		n, err := v.Float64()
		if err != nil {
			return v.String() // no number this program can hold: the checks say so
		}
		return n
	case []any:
		for i := range v {
			v[i] = plainJSON(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plainJSON(v[k])
		}
	}
	return v
}

// printer writes results: for people indented, for programs one a line.
type printer struct {
	out    io.Writer
	people bool
}

func (p *printer) value(ctx context.Context, s *declare.Spec, v declare.Value, total bool) error {
	switch v.Shape {
	case declare.ShapeNone:
		if s.Shape == declare.ShapeNone {
			return nil
		}
		return p.print([]byte("null")) // there was nothing to find
	case declare.ShapeIterator:
		return p.lines(ctx, v.Stream)
	case declare.ShapeResources:
		return p.print(array(v.Items))
	case declare.ShapePage:
		if !total {
			return p.print(array(v.Items))
		}
		return p.encode(map[string]any{"total": v.Total, "results": json.RawMessage(array(v.Items))})
	case declare.ShapeGo:
		return p.encode(goValue(v.Go))
	}
	return p.print(v.JSON)
}

// goValue gives several results as a list, and records as the platform sent them.
func goValue(v any) any {
	switch v := v.(type) {
	case interface{ Values() []any }:
		list := v.Values()
		for i := range list {
			list[i] = goValue(list[i])
		}
		return list
	case interface{ JSON() []byte }:
		return json.RawMessage(v.JSON())
	}
	return v
}

func array(items [][]byte) []byte {
	return append(append([]byte("["), bytes.Join(items, []byte(","))...), ']')
}

// lines prints records as they come. Each is one line also for people: what
// reads JSON lines is often a pager, or the eye.
func (p *printer) lines(ctx context.Context, stream declare.Stream) error {
	defer stream.Close()
	for {
		record, ok, err := stream.Next(ctx)
		if err != nil || !ok {
			return err
		}
		var line bytes.Buffer
		if err := json.Compact(&line, record); err != nil {
			return err
		}
		line.WriteByte('\n')
		if _, err := p.out.Write(line.Bytes()); err != nil {
			return err
		}
	}
}

func (p *printer) encode(v any) error {
	text, err := declare.Encode(v)
	if err != nil {
		return err
	}
	return p.print(text)
}

func (p *printer) print(text []byte) error {
	var b bytes.Buffer
	var err error
	if p.people {
		err = json.Indent(&b, text, "", "  ")
	} else {
		err = json.Compact(&b, text)
	}
	if err != nil {
		return fault.Of(&fault.QueryError{}, "the answer is not JSON: %w", err)
	}
	b.WriteByte('\n')
	_, err = p.out.Write(b.Bytes())
	return err
}
