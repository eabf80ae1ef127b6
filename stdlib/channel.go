package stdlib

import (
	"context"
	"fmt"
	"slices"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/module"
)

// channel passes values between tasks. Its state is protected by the interpreter lock; only waiting happens
// without it. Waiting tasks are served first come, first served.
type channel struct {
	room      int // capacity of values
	values    []lua.LValue
	senders   []*waiter
	receivers []*waiter
	closed    bool
}

// waiter is a task waiting on a channel.
type waiter struct {
	value  lua.LValue // to send, or received
	served bool
	woken  chan struct{}
}

func (w *waiter) serve() {
	w.served = true
	close(w.woken)
}

// await waits until w is served, without the interpreter lock.
func await(c *module.Call, queue *[]*waiter, w *waiter) error {
	limited, limit := c.Has("timeout"), c.Seconds("timeout")
	*queue = append(*queue, w)
	err := c.Blocking(func(ctx context.Context) error {
		if limited {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, limit,
				fault.Of(&fault.TimeoutError{}, "no task received within %s", limit))
			defer cancel()
		}
		select {
		case <-w.woken:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	if w.served {
		return nil // even if the timeout passed a moment later
	}
	if i := slices.Index(*queue, w); i >= 0 {
		*queue = slices.Delete(*queue, i, i+1)
	}
	return err
}

func (ch *channel) send(c *module.Call, v lua.LValue) error {
	closed := func() error {
		return fault.Of(&fault.RuntimeError{}, "the channel is closed")
	}
	switch {
	case ch.closed:
		return closed()
	case len(ch.receivers) > 0:
		w := ch.receivers[0]
		ch.receivers = ch.receivers[1:]
		w.value = v
		w.serve()
		return nil
	case len(ch.values) < ch.room:
		ch.values = append(ch.values, v)
		return nil
	}
	w := &waiter{value: v, woken: make(chan struct{})}
	if err := await(c, &ch.senders, w); err != nil {
		return err
	}
	if w.value != nil { // closed before it was received
		return closed()
	}
	return nil
}

// receive returns nil when the channel is closed and empty.
func (ch *channel) receive(c *module.Call) (lua.LValue, error) {
	var next *waiter
	if len(ch.senders) > 0 {
		next = ch.senders[0]
		ch.senders = ch.senders[1:]
		ch.values = append(ch.values, next.value)
		next.value = nil
		next.serve()
	}
	if len(ch.values) > 0 {
		v := ch.values[0]
		ch.values[0] = nil
		ch.values = ch.values[1:]
		return v, nil
	}
	if ch.closed {
		return lua.LNil, nil
	}
	w := &waiter{value: lua.LNil, woken: make(chan struct{})}
	err := await(c, &ch.receivers, w)
	return w.value, err
}

func (ch *channel) close() {
	ch.closed = true
	for _, w := range slices.Concat(ch.receivers, ch.senders) {
		w.serve()
	}
	ch.receivers, ch.senders = nil, nil
}

var waitOption = module.Param{Name: "options", Fields: []module.Param{
	secondsParam(module.Param{Name: "timeout", Doc: "seconds to wait at most; then a TimeoutError", Optional: true})}}

var channelType = &module.Type{
	Name: "channel", Doc: "Passes values between tasks in first-in, first-out order.",
	Methods: []module.Func{
		{
			Name: "send", Doc: "Sends a value, waiting for a free buffer slot or a receiver. Raises on a closed channel.",
			Params: []module.Param{{Name: "value", Type: "any", Doc: "the value; not nil"}, waitOption},
			Call: func(c *module.Call) (any, error) {
				if !c.Has("value") {
					return nil, fault.Of(&fault.ParameterError{},
						"nil cannot be sent, it means that a channel is closed: send false or json.null")
				}
				return nil, c.Self.(*channel).send(c, c.Value("value"))
			},
		},
		{
			Name: "receive", Doc: "Receives the next value, waiting for one.", Params: []module.Param{waitOption},
			Returns: "the value; nil when the channel is closed and empty",
			Call:    func(c *module.Call) (any, error) { return c.Self.(*channel).receive(c) },
		},
		{
			Name: "each",
			Doc: "Iterates over the values until the channel is closed and empty. Several tasks may iterate; each value " +
				"goes to one of them.",
			Returns: "an iterator",
			Call: func(c *module.Call) (any, error) {
				ch := c.Self.(*channel)
				return c.Iterator(func(c *module.Call) (module.Values, error) {
					v, err := ch.receive(c)
					return module.Values{v}, err
				}), nil
			},
		},
		{
			Name: "close", Doc: "Closes the channel. Values sent before are still received.",
			Call: func(c *module.Call) (any, error) { c.Self.(*channel).close(); return nil, nil },
		},
		{
			Name: "closed", Doc: "Reports whether the channel is closed.", Returns: "true or false",
			Call: func(c *module.Call) (any, error) { return c.Self.(*channel).closed, nil },
		},
	},
	Text: func(self any) string {
		ch := self.(*channel)
		text := fmt.Sprintf("channel (%d waiting", len(ch.values)+len(ch.senders))
		if ch.closed {
			text += ", closed"
		}
		return text + ")"
	},
}

var channelFunc = module.Func{
	Name: "channel", Doc: "Makes a channel between tasks.",
	Params: []module.Param{{Name: "room", Type: "integer",
		Doc: "capacity of the buffer; with 0, send waits for a receiver", Default: 0, Min: new(0.0),
		Max: new(float64(1 << 20))}},
	Returns: "a channel",
	Call: func(c *module.Call) (any, error) {
		return module.NewObject(c.L, channelType, &channel{room: c.Int("room")}), nil
	},
}
