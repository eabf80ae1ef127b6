package stdlib

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/suggest"
	"transect/client/wait"
	"transect/runtime/engine/table"
	"transect/runtime/module"
	"transect/runtime/vm"
)

// policy defines how often and how long to retry.
type policy struct {
	attempts               int
	wait, maxWait, timeout time.Duration
	factor, jitter         float64
	names                  []string       // errors worth another attempt
	judge                  *lua.LFunction // or a function that decides
}

var policyOptions = module.Param{Name: "options", Fields: []module.Param{
	{Name: "attempts", Type: "integer", Doc: "maximum number of calls", Default: 5, Min: new(1.0)},
	secondsParam(module.Param{Name: "wait", Doc: "seconds before the second attempt", Default: 1}),
	{Name: "factor", Type: "number", Doc: "factor between waits", Default: 2, Min: new(1.0), Max: new(100.0)},
	secondsParam(module.Param{Name: "max_wait", Doc: "the longest wait, in seconds", Default: 60}),
	{Name: "jitter", Type: "number", Doc: "random share of each wait, 0 to 1, so that many runs do not retry together",
		Default: 0.5,
		Min:     new(0.0), Max: new(1.0)},
	secondsParam(module.Param{Name: "timeout", Doc: "seconds for all attempts together; then a TimeoutError",
		Optional: true}),
	{Name: "on", Type: "function|table",
		Doc: "a function that gets the error and returns whether to try again, or a list of error names; " +
			"temporary errors if left out: ConnectionError, TimeoutError, and ResponseError with status 408, 429 or 5xx (not " +
			"501, 505, 507)", Optional: true},
}}

var policyType = &module.Type{
	Name: "policy", Doc: "A retry policy for many calls.",
	Methods: []module.Func{{
		Name: "call", Doc: "Calls a function until it succeeds or the policy gives up; the last error is raised.",
		Params: []module.Param{{Name: "f", Type: "function", Doc: "what to call"},
			{Name: "...", Type: "any", Doc: "its arguments"}},
		Returns: "what f returned",
		Call:    func(c *module.Call) (any, error) { return c.Self.(*policy).call(c, c.Rest()), nil },
	}},
	Text: func(self any) string { return fmt.Sprintf("policy (%d attempts)", self.(*policy).attempts) },
}

var retryModule = &module.Module{
	Name: "retry", Doc: "Retries calls that may succeed later. Cancellation and limits are never delayed.",
	Types: []*module.Type{policyType},
	Lazy:  retryFuncs,
}

func retryFuncs() []module.Func {
	return []module.Func{
		{
			Name: "call", Doc: "Calls a function until it succeeds, with growing waits; the last error is raised.",
			Params:  []module.Param{{Name: "f", Type: "function", Doc: "what to call"}, policyOptions},
			Returns: "what f returned",
			Call:    func(c *module.Call) (any, error) { return readPolicy(c).call(c, nil), nil },
		},
		{
			Name: "policy", Doc: "Creates a policy for many calls.", Params: []module.Param{policyOptions}, Returns: "a policy",
			Call: func(c *module.Call) (any, error) { return module.NewObject(c.L, policyType, readPolicy(c)), nil },
		},
	}
}

func readPolicy(c *module.Call) *policy {
	p := &policy{attempts: c.Int("attempts"), factor: c.Number("factor"), jitter: c.Number("jitter"),
		judge: c.Function("on"),
		wait:  c.Seconds("wait"), maxWait: c.Seconds("max_wait"), timeout: c.Seconds("timeout")}
	if c.Has("timeout") && p.timeout == 0 {
		c.Raise(fault.Of(&fault.ParameterError{}, "option timeout must be positive"))
	}
	if names := c.Table("on"); names != nil {
		for i := 1; i <= table.Length(names); i++ {
			name := table.Element(names, i).String()
			if !slices.Contains(fault.Names(), name) {
				c.Raise(fault.Of(&fault.ParameterError{}, "option on: there is no error %q%s", name,
					suggest.Suffix(name, fault.Names())))
			}
			p.names = append(p.names, name)
		}
		if len(p.names) == 0 {
			c.Raise(fault.Of(&fault.ParameterError{}, `option on must be a list of error names, such as { "ConnectionError" }`))
		}
	}
	return p
}

func (p *policy) call(c *module.Call, args []lua.LValue) (values []lua.LValue) {
	if p.timeout == 0 {
		return p.tries(c, args)
	}
	vm.WithGroup(c.L, vm.TimeLimit{After: p.timeout, By: c.Name}, func() error { values = p.tries(c, args); return nil })
	return values
}

func (p *policy) tries(c *module.Call, args []lua.LValue) []lua.LValue {
	next := p.wait
	for n := 1; ; n++ {
		values, caught := vm.Try(c.L, c.Value("f"), args...)
		if caught == nil {
			return values
		}
		if c.Context().Err() != nil || !p.again(c, caught) {
			caught.Reraise(c.L)
		}
		if n == p.attempts {
			fault.AfterAttempts(caught.Err(), n)
			caught.Reraise(c.L)
		}
		d := min(next, p.maxWait)
		d -= time.Duration(p.jitter * rand.Float64() * float64(d))
		c.In.Options().Logger.Info(fmt.Sprintf("attempt %d of %d failed, the next in %.1f s", n, p.attempts, d.Seconds()),
			"error", c.L.ToStringMeta(caught.Value).String())
		if err := c.Blocking(func(ctx context.Context) error { return wait.Sleep(ctx, d) }); err != nil {
			vm.Raise(c.L, fault.In("retry.call", err))
		}
		next = time.Duration(min(float64(next)*p.factor, float64(p.maxWait)))
	}
}

// again decides whether to retry after an error.
func (p *policy) again(c *module.Call, caught *vm.Caught) bool {
	f := fault.Find(caught.Err())
	if f != nil && (f.Name() == "CancelledError" || f.Name() == "LimitError") {
		return false
	}
	switch {
	case p.judge != nil:
		return lua.LVAsBool(vm.Call(c.L, p.judge, caught.Value))
	case f == nil:
		return false
	case p.names != nil:
		return slices.Contains(p.names, f.Name())
	}
	return fault.Transient(f)
}
