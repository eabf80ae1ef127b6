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

// Search is a pair of operations: search, one page at a time, and
// search_generator, which goes through all pages.
type Search[In, T any] struct {
	Page   Op[In, Page[T]]    // one page
	Cursor Op[In, *Cursor[T]] // goes through all matches; the caller closes it
}

// All goes through all matches in a for loop. An error ends the loop.
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

// operation is a field that binding can complete.
type operation interface {
	input() reflect.Type
	output() Shape
	bind(e *Engine, s *Spec) []*Spec
	assigned() bool
}

func (op *Op[In, Out]) input() reflect.Type { return reflect.TypeFor[In]() }
func (op *Op[In, Out]) assigned() bool      { return *op != nil }

func (op *Op[In, Out]) output() Shape {
	var out Out
	switch o := any(out).(type) {
	case None:
		return ShapeNone
	case interface{ shape() Shape }:
		return o.shape()
	case rawRecord:
		return ShapeResource
	}
	switch t := reflect.TypeFor[Out](); {
	case t.Kind() == reflect.Slice && t.Elem().Implements(reflect.TypeFor[rawRecord]()):
		return ShapeResources
	case t == reflect.TypeFor[schema.Object](), t.Kind() == reflect.Struct:
		return ShapeObject
	}
	return ShapeGo
}

func (Some[T]) shape() Shape    { return ShapeSome }
func (Page[T]) shape() Shape    { return ShapePage }
func (*Cursor[T]) shape() Shape { return ShapeIterator }

// over makes a cursor of an operation's result.
func (*Cursor[T]) over(s *Stream) any { return &Cursor[T]{s} }

// records reports whether what the cursor goes through are resources.
func (*Cursor[T]) records() bool {
	var record T
	_, ok := any(record).(rawRecord)
	return ok
}

// arguments reads a filled input struct.
func (s *Spec) arguments(in any) Args {
	values, extra := schema.Values(s.Params, in)
	return Args{Values: values, Extra: extra}
}

func filled[In any](s *Spec) func(Args) (any, error) {
	return func(a Args) (any, error) {
		var in In
		err := schema.Fill(s.Params, &in, a.Values, a.Extra)
		return in, err
	}
}

func (op *Op[In, Out]) bind(e *Engine, s *Spec) []*Spec {
	s.Out = reflect.TypeFor[Out]()
	last := e.send
	if s.paged {
		last = e.iterate
	}
	var out Out
	if c, ok := any(out).(interface{ records() bool }); ok {
		s.Records = c.records()
	}
	if _, ok := any(new(Out)).(Decoder); ok {
		s.Shape = ShapeGo
		last = func(ctx context.Context, call *Call) (Value, error) {
			v, err := e.send(ctx, call)
			if err != nil {
				return Value{}, err
			}
			out, err := decodeInto[Out](v)
			return Value{Shape: ShapeGo, JSON: v.JSON, Go: out}, err
		}
	}
	if own := *op; own != nil {
		request := *s
		request.Composed = false
		s.proceed = func(ctx context.Context, a Args) (Value, error) {
			return e.do(ctx, &request, a, filled[In](s), e.send)
		}
		last = func(ctx context.Context, call *Call) (Value, error) {
			out, err := own(context.WithValue(ctx, runningKey{}, call.Args), call.In.(In))
			if err != nil {
				return Value{}, err
			}
			return wrap(s, call.Args, out), nil
		}
	}
	s.invoke = func(ctx context.Context, a Args) (Value, error) {
		return e.do(ctx, s, a, filled[In](s), last)
	}
	*op = func(ctx context.Context, in In) (Out, error) {
		v, err := s.invoke(ctx, s.arguments(in))
		if err != nil {
			var none Out
			return none, err
		}
		return decodeInto[Out](v)
	}
	return []*Spec{s}
}

type runningKey struct{}

// Running are the arguments of the operation whose Go method runs with ctx, for
// it to complete. Other than its input struct they tell null from absent.
func Running(ctx context.Context) Args {
	args := ctx.Value(runningKey{}).(Args)
	return Args{Values: maps.Clone(args.Values), Extra: maps.Clone(args.Extra)}
}

// Proceed sends the request of a composed operation, whose Go method has
// completed the arguments. It passes the links like any call.
func Proceed[Out any](ctx context.Context, s *Spec, a Args) (out Out, err error) {
	v, err := s.proceed(ctx, a)
	if err != nil {
		return out, err
	}
	return decodeInto[Out](v)
}

func (s *Search[In, T]) input() reflect.Type { return reflect.TypeFor[In]() }
func (s *Search[In, T]) output() Shape       { return ShapePage }
func (s *Search[In, T]) assigned() bool      { return false }

func (s *Search[In, T]) bind(e *Engine, spec *Spec) []*Spec {
	each := spec.generator()
	spec.dropParams("generator")
	each.dropParams("search")
	return append(s.Page.bind(e, spec), s.Cursor.bind(e, each)...)
}
