package declare

import (
	"context"
	"iter"
	"maps"
	"reflect"
	"strings"

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
func (s *Search[In, T]) All(ctx context.Context, in In) iter.Seq2[T, error] {
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

// Op, Search, Some, Page and Cursor have as few methods as callers need: each package that mentions the client compiles
// the methods of all their instances anew. What belongs to the types themselves is found by reflection.

// instance reports whether a type is an instance of a generic type of this package.
func instance(t reflect.Type, of string) bool {
	return t.PkgPath() == reflect.TypeFor[None]().PkgPath() && strings.HasPrefix(t.Name(), of+"[")
}

func isCursor(t reflect.Type) bool {
	return t != nil && t.Kind() == reflect.Pointer && instance(t.Elem(), "Cursor")
}

// operation is a field that Bind completes, an Op.
type operation struct{ reflect.Value }

func (op operation) types() (in, out reflect.Type) { return op.Type().In(1), op.Type().Out(0) }

// method returns the assigned Go method, or nil.
func (op operation) method() func(ctx context.Context, in any) (any, error) {
	if op.IsNil() {
		return nil
	}
	own := reflect.ValueOf(op.Interface())
	return func(ctx context.Context, in any) (any, error) {
		out := own.Call([]reflect.Value{reflect.ValueOf(&ctx).Elem(), reflect.ValueOf(in)})
		err, _ := out[1].Interface().(error)
		return out[0].Interface(), err
	}
}

// complete makes the operation call a spec.
func (op operation) complete(spec func() *Spec) {
	_, result := op.types()
	op.Set(reflect.MakeFunc(op.Type(), func(args []reflect.Value) []reflect.Value {
		ctx, _ := args[0].Interface().(context.Context)
		out, failed := reflect.New(result), reflect.New(reflect.TypeFor[error]()).Elem()
		if err := spec().call(ctx, args[1].Interface(), out.Interface()); err != nil {
			failed.Set(reflect.ValueOf(err))
		}
		return []reflect.Value{out.Elem(), failed}
	}))
}

var recordType = reflect.TypeFor[rawRecord]()

// shapeOf returns the shape of a result type.
func shapeOf(out reflect.Type) Shape {
	switch {
	case out == reflect.TypeFor[None]():
		return ShapeNone
	case instance(out, "Some"):
		return ShapeSome
	case instance(out, "Page"):
		return ShapePage
	case isCursor(out):
		return ShapeIterator
	case out.Implements(recordType):
		return ShapeResource
	case out.Kind() == reflect.Slice && out.Elem().Implements(recordType):
		return ShapeResources
	case out == reflect.TypeFor[schema.Object](), out.Kind() == reflect.Struct:
		return ShapeObject
	}
	return ShapeGo
}

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
	if isCursor(out) {
		s.Records = out.Elem().Field(0).Type.Elem().Implements(recordType)
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
