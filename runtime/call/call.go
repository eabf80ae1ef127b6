// Package call calls one operation of the platform without Lua.
package call

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"

	"transect/client"
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/lookup"
	"transect/runtime"
)

// Request is one call of an operation without Lua.
type Request struct {
	Manager, Operation string
	Arguments          []byte // a JSON object of arguments by name; empty for none
}

// Call calls one operation and prints the result as JSON: records as the
// platform sent them, one per line for an iterator, nothing for an operation
// that returns nothing.
func Call(ctx context.Context, p *runtime.Process, job runtime.Job, req Request) error {
	args, err := jsonArguments(req.Arguments)
	if err != nil {
		return err
	}
	return runtime.Connected(ctx, p, job, func(ctx context.Context, c *client.Client, _ string) error {
		m := c.Manager(req.Manager)
		if m == nil || m.Op(req.Operation) == nil {
			return fault.Of(&fault.UnsupportedOperationError{}, "there is no operation %s.%s", req.Manager, req.Operation)
		}
		spec := m.Op(req.Operation)
		if err := lookup.NewNames(c, slog.New(slog.DiscardHandler)).Resolve(ctx, spec, args.Values); err != nil {
			return err
		}
		value, err := spec.Invoke(ctx, args)
		if err != nil {
			return err
		}
		out := &jsonPrinter{p.Stdout, p.IsTerminal(p.Stdout)}
		if value.Shape == declare.ShapeNone && spec.Shape == declare.ShapeNone {
			return nil
		}
		return out.value(ctx, value, args.Values["return_total"] == true)
	})
}

// jsonArguments reads arguments by name.
func jsonArguments(text []byte) (declare.Args, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return declare.Args{Values: map[string]any{}}, nil
	}
	args, err := declare.ParseArgs(text)
	if err != nil {
		err = fault.Hinted(fault.Of(&fault.UsageError{}, "the arguments are not a JSON object: %w", err),
			`write them like '{"limit": 10}', or - to read them from standard input`)
	}
	return args, err
}

// jsonPrinter prints results: indented on a terminal, one line otherwise.
type jsonPrinter struct {
	out    io.Writer
	indent bool
}

func (p *jsonPrinter) value(ctx context.Context, v declare.Value, total bool) error {
	switch v.Shape {
	case declare.ShapeNone:
		return p.print([]byte("null")) // nothing was found
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
		return p.encode(marshalable(v.Go))
	}
	return p.print(client.WithBothIDs(v.JSON))
}

// marshalable turns several results into a list, and records into their JSON.
func marshalable(v any) any {
	switch v := v.(type) {
	case interface{ Values() []any }:
		list := v.Values()
		for i := range list {
			list[i] = marshalable(list[i])
		}
		return list
	case interface{ JSON() []byte }:
		return json.RawMessage(client.WithBothIDs(v.JSON()))
	}
	return v
}

func array(items [][]byte) []byte {
	list := []byte("[")
	for i, record := range items {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, client.WithBothIDs(record)...)
	}
	return append(list, ']')
}

// lines prints records as they come, one per line also on a terminal.
func (p *jsonPrinter) lines(ctx context.Context, stream *declare.Stream) error {
	defer stream.Close()
	lines := jsonPrinter{out: p.out}
	for {
		record, ok, err := stream.Next(ctx)
		if err != nil || !ok {
			return err
		}
		if err := lines.print(client.WithBothIDs(record)); err != nil {
			return err
		}
	}
}

func (p *jsonPrinter) encode(v any) error {
	text, err := declare.Encode(v)
	if err != nil {
		return err
	}
	return p.print(text)
}

func (p *jsonPrinter) print(text []byte) error {
	var b bytes.Buffer
	var err error
	if p.indent {
		err = json.Indent(&b, text, "", "  ")
	} else {
		err = json.Compact(&b, text)
	}
	if err != nil {
		return fault.Of(&fault.QueryError{}, "the response is not JSON: %w", err)
	}
	b.WriteByte('\n')
	_, err = p.out.Write(b.Bytes())
	return err
}
