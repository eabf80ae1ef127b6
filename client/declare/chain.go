package declare

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync/atomic"

	"transect/client/fault"
	"transect/client/schema"
)

// Call is one call of an operation passing through the chain.
type Call struct {
	Spec *Spec
	Args Args // checked
	In   any  // the arguments as a filled input struct

	// Exchange, when set, replaces the sending of each request of the call; send is the original way.
	Exchange func(ctx context.Context, req Request, send Sender) ([]byte, error)
	// Answered means that Exchange has the answers: nothing is sent.
	Answered bool
	// Resent means that an earlier request of the same call may have been carried out.
	Resent bool

	page bool // one page of a search_generator
}

type positionKey struct{}

// At returns a context for calls made at a position in a script, "file:12".
func At(ctx context.Context, position string) context.Context {
	return context.WithValue(ctx, positionKey{}, position)
}

// Position returns the script position of a context's calls; "" when unknown.
func Position(ctx context.Context) string {
	position, _ := ctx.Value(positionKey{}).(string)
	return position
}

type taskKey struct{}

// InTask returns a context whose calls belong to a task of the script.
func InTask(ctx context.Context, task uint64) context.Context {
	return context.WithValue(ctx, taskKey{}, task)
}

// Task returns the task of the script that the calls of a context belong to, 0 when unknown.
func Task(ctx context.Context) uint64 {
	task, _ := ctx.Value(taskKey{}).(uint64)
	return task
}

// Memory returns a recorded value by its name, or calls find and records its result.
type Memory func(name string, find func() (string, error)) (string, error)

type memoryKey struct{}

// WithMemory returns a context whose composed operation remembers what it finds.
func WithMemory(ctx context.Context, m Memory) context.Context {
	return context.WithValue(ctx, memoryKey{}, m)
}

// Remember returns the value that a composed operation found at an earlier start of its run under this name,
// or calls find and records its result. Without a memory it calls find.
func Remember(ctx context.Context, name string, find func() (string, error)) (string, error) {
	if m, ok := ctx.Value(memoryKey{}).(Memory); ok {
		return m(name, find)
	}
	return find()
}

// Sender sends one request and returns the answer's body.
type Sender func(ctx context.Context, req Request) ([]byte, error)

// Request returns the call's request. It holds a complete list of ids, even if that takes several requests.
func (call *Call) Request() (Request, error) {
	ids, _ := call.Spec.list(call.Args)
	return call.Spec.request(call.Args, call.In, ids != nil)
}

// SendsNothing reports whether the call is a search_generator: it makes an iterator, and each page
// passes through the chain as a call of its own.
func (call *Call) SendsNothing() bool { return call.Spec.paged && !call.page }

// Handler executes a call.
type Handler func(ctx context.Context, call *Call) (Value, error)

// Interceptor is one link of the chain that every call passes through. It may answer the call,
// change it, or observe it.
type Interceptor func(ctx context.Context, call *Call, next Handler) (Value, error)

// Engine executes operations: it checks arguments, passes calls through the links, first link
// first, and sends requests.
type Engine struct {
	Links []Interceptor
	Send  Sender
	Log   *slog.Logger // messages for users; none when nil

	writes atomic.Int64 // counts the calls that write, when they begin and when they end
}

// do passes one call through the chain, ending in last.
func (e *Engine) do(ctx context.Context, s *Spec, args Args, newIn func(Args) (any, error), last Handler) (Value,
	error) {
	checked, err := s.Checked(args)
	if err != nil {
		return Value{}, err
	}
	in, err := newIn(checked)
	if err != nil {
		return Value{}, fault.In(s.FullName(), err)
	}
	if v, ok := in.(schema.Validator); ok {
		if err := v.Validate(); err != nil {
			return Value{}, fault.In(s.FullName(), err)
		}
	}
	if s.Effect != Read {
		e.writes.Add(1)
		defer e.writes.Add(1)
	}
	return e.through(ctx, &Call{Spec: s, Args: checked, In: in}, last)
}

// through passes a checked call through the links to last.
func (e *Engine) through(ctx context.Context, call *Call, last Handler) (Value, error) {
	handler := last
	for i := len(e.Links) - 1; i >= 0; i-- {
		link, next := e.Links[i], handler
		handler = func(ctx context.Context, call *Call) (Value, error) { return link(ctx, call, next) }
	}
	value, err := handler(ctx, call)
	if err != nil {
		return Value{}, fault.In(call.Spec.FullName(), err)
	}
	return value, nil
}

// send sends the requests: the last link for operations with a route.
func (e *Engine) send(ctx context.Context, call *Call) (Value, error) {
	s := call.Spec
	ids, param := s.list(call.Args)
	chunk := s.Chunk
	if own, ok := call.In.(Chunker); ok && own.Chunk() > 0 {
		chunk = own.Chunk()
	}
	if param == nil || chunk == 0 {
		return e.sendOne(ctx, call, call.Args, ids != nil)
	}
	return e.sendChunks(ctx, call, ids, param, chunk)
}

// Chunker is implemented by input structs whose arguments reduce the number of ids per request; 0
// keeps the declared one.
type Chunker interface{ Chunk() int }

// list returns the list of ids among the arguments, if any, with its parameter.
func (s *Spec) list(a Args) ([]string, *schema.Param) {
	for i := range s.Params {
		p := &s.Params[i]
		if ids, ok := a.Values[p.Name].([]string); ok && p.Type == "id|[]id" {
			return ids, p
		}
	}
	return nil, nil
}

func (e *Engine) sendOne(ctx context.Context, call *Call, a Args, many bool) (Value, error) {
	req, err := call.Spec.request(a, call.In, many)
	if err != nil {
		return Value{}, err
	}
	body, err := call.exchange(ctx, req, e.Send)
	if err != nil {
		return Value{}, err
	}
	var v Value
	if own, ok := call.In.(Answerer); ok {
		body, err = own.Answer(body)
	}
	if err == nil {
		v, err = call.Spec.result(body, many)
	}
	if err == nil {
		err = call.Spec.made(a, v)
	}
	return v, call.Spec.maybeDone(err)
}

func (call *Call) exchange(ctx context.Context, req Request, send Sender) ([]byte, error) {
	if call.Exchange == nil {
		return send(ctx, req)
	}
	return call.Exchange(ctx, req, send)
}

// sendChunks splits a long list of ids into requests that the platform accepts. When one fails, the
// error lists the ids that are done and those that are not.
func (e *Engine) sendChunks(ctx context.Context, call *Call, ids []string, p *schema.Param, chunk int) (Value, error) {
	all := Value{Shape: ShapeNone}
	if call.Spec.Shape == ShapeSome {
		all = Value{Shape: ShapeResources, Items: [][]byte{}}
	}
	for start := 0; start < len(ids); start += chunk {
		end := min(start+chunk, len(ids))
		part := Args{Values: maps.Clone(call.Args.Values), Extra: call.Args.Extra}
		many := chunk > 1
		if part.Values[p.Name] = ids[start:end]; !many {
			part.Values[p.Name] = ids[start]
		}
		v, err := e.sendOne(ctx, call, part, many)
		if err != nil {
			return Value{}, partly(err, ids, start)
		}
		if v.Shape == ShapeResource {
			v.Items = [][]byte{v.JSON}
		}
		all.Items = append(all.Items, v.Items...)
	}
	return all, nil
}

func partly(err error, ids []string, done int) error {
	f := fault.Find(err)
	if f == nil || done == 0 && len(ids) == 1 {
		return err
	}
	f.Facts().Done, f.Facts().Pending = ids[:done], ids[done:]
	f.Facts().Message += fmt.Sprintf(" (%d of %d ids were done; the rest, from %s on, were not)", done, len(ids),
		ids[done])
	return err
}
