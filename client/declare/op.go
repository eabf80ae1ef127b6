package declare

import (
	"context"
	"iter"
	"maps"
	"reflect"

	"transect/client/schema"
)

// Op is one operation of a manager. It is called like a method:
//
//	p, err := c.Projects.Create(ctx, client.CreateProject{Name: "Quarry", Company: id})
//
// The zero Op has no behaviour; binding completes it from its tags, or from
// the Go method assigned to it.
type Op[In, Out any] func(ctx context.Context, in In) (Out, error)

// Search is a pair of operations: search, for one page at a time, and search_generator, which
// iterates over all pages.
type Search[In, T any] struct {
	Page   Op[In, Page[T]]    // one page
	Cursor Op[In, *Cursor[T]] // iterates over all matches; the caller closes it
}

// All iterates over all matches. An error ends the loop.
func (s Search[In, T]) All(ctx context.Context, in In) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		cursor, err := s.Cursor(ctx, in)
		if err != nil {
			var zero T
			yield(zero, err)
			return
		}
		defer cursor.Close()
		for {
			record, ok, err := cursor.Next(ctx)
			if err != nil || !ok {
				if err != nil {
					yield(record, err)
				}
				return
			}
			if !yield(record, nil) {
				return
			}
		}
	}
}

// operation is a field that Bind can complete. Its methods are instantiated for each operation, in
// each package that mentions the client; so their common code is below, in functions without type
// parameters.
type operation interface {
	types() (in, out reflect.Type)
	// method returns the assigned Go method, or nil.
	method() func(ctx context.Context, in any) (any, error)
	// complete makes the operation call a spec.
	complete(spec func() *Spec)
}

func (op *Op[In, Out]) types() (in, out reflect.Type) {
	return reflect.TypeFor[In](), reflect.TypeFor[Out]()
}

func (op *Op[In, Out]) method() func(context.Context, any) (any, error) {
	own := *op
	if own == nil {
		return nil
	}
	return func(ctx context.Context, in any) (any, error) { return own(ctx, in.(In)) }
}

func (op *Op[In, Out]) complete(spec func() *Spec) {
	*op = func(ctx context.Context, in In) (out Out, err error) {
		err = spec().call(ctx, in, &out)
		return out, err
	}
}

var recordType = reflect.TypeFor[rawRecord]()

// shapeOf returns the shape of a result type.
func shapeOf(out reflect.Type) Shape {
	switch o := reflect.Zero(out).Interface().(type) {
	case None:
		return ShapeNone
	case interface{ shape() Shape }:
		return o.shape()
	case rawRecord:
		return ShapeResource
	}
	switch {
	case out.Kind() == reflect.Slice && out.Elem().Implements(recordType):
		return ShapeResources
	case out == reflect.TypeFor[schema.Object](), out.Kind() == reflect.Struct:
		return ShapeObject
	}
	return ShapeGo
}

func (Some[T]) shape() Shape    { return ShapeSome }
func (Page[T]) shape() Shape    { return ShapePage }
func (*Cursor[T]) shape() Shape { return ShapeIterator }

// over makes a cursor from an operation's result.
func (*Cursor[T]) over(s *Stream) any { return &Cursor[T]{s} }

// records reports whether the cursor iterates over resources.
func (*Cursor[T]) records() bool { return reflect.TypeFor[T]().Implements(recordType) }

// arguments reads a filled input struct.
func (s *Spec) arguments(in any) Args {
	values, extra := schema.Values(s.Params, in)
	return Args{Values: values, Extra: extra}
}

// filled returns a function that makes input structs of a type.
func filled(s *Spec, in reflect.Type) func(Args) (any, error) {
	return func(a Args) (any, error) {
		into := reflect.New(in)
		err := schema.Fill(s.Params, into.Interface(), a.Values, a.Extra)
		return into.Elem().Interface(), err
	}
}

// call executes the operation for Go callers: with a filled input struct, and a pointer to the result.
func (s *Spec) call(ctx context.Context, in, out any) error {
	v, err := s.invoke(ctx, s.arguments(in))
	if err != nil {
		return err
	}
	return decodeInto(v, out)
}

// bind completes an operation's spec.
func (op *bound) bind(e *Engine, s *Spec) {
	in, out := op.types()
	s.Out = out
	last := e.send
	if s.paged {
		last = e.iterate
	}
	if c, ok := reflect.Zero(out).Interface().(interface{ records() bool }); ok {
		s.Records = c.records()
	}
	if reflect.PointerTo(out).Implements(reflect.TypeFor[Decoder]()) {
		s.Shape = ShapeGo
		last = func(ctx context.Context, call *Call) (Value, error) {
			v, err := e.send(ctx, call)
			if err != nil {
				return Value{}, err
			}
			into := reflect.New(out)
			err = decodeInto(v, into.Interface())
			return Value{Shape: ShapeGo, JSON: v.JSON, Go: into.Elem().Interface()}, err
		}
	}
	fill := filled(s, in)
	if own := op.own; own != nil {
		request := *s
		request.Composed = false
		s.proceed = func(ctx context.Context, a Args) (Value, error) {
			return e.do(ctx, &request, a, fill, e.send)
		}
		last = func(ctx context.Context, call *Call) (Value, error) {
			out, err := own(context.WithValue(ctx, runningKey{}, call.Args), call.In)
			if err != nil {
				return Value{}, err
			}
			return wrap(s, call.Args, out), nil
		}
	}
	s.invoke = func(ctx context.Context, a Args) (Value, error) {
		return e.do(ctx, s, a, fill, last)
	}
}

type runningKey struct{}

// Running returns the arguments of the operation whose Go method runs with ctx, for it to complete.
// Unlike its input struct they distinguish null from absent.
func Running(ctx context.Context) Args {
	args := ctx.Value(runningKey{}).(Args)
	return Args{Values: maps.Clone(args.Values), Extra: maps.Clone(args.Extra)}
}

// Proceed sends the request of a composed operation, whose Go method has completed the arguments.
// It passes through the links like any call.
func Proceed[Out any](ctx context.Context, s *Spec, a Args) (out Out, err error) {
	v, err := s.proceed(ctx, a)
	if err == nil {
		err = decodeInto(v, &out)
	}
	return out, err
}

// pair is a field of two operations that are declared together.
type pair interface {
	both() (page, cursor operation)
}

func (s *Search[In, T]) both() (page, cursor operation) { return &s.Page, &s.Cursor }
