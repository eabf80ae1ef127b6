package sandbox

import (
	"cmp"
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"transect/client/declare"
	"transect/client/fault"
)

// Budget bounds what a run may do in sum. Fields that are nil bound nothing.
type Budget struct {
	Creates *int64 // resources created
	Deletes *int64 // resources deleted
	Bytes   *int64 // sent, to the platform and elsewhere, repeats counted
}

func (b Budget) over(under Budget) Budget {
	return Budget{cmp.Or(b.Creates, under.Creates), cmp.Or(b.Deletes, under.Deletes), cmp.Or(b.Bytes, under.Bytes)}
}

// Parse reads budgets as they are written on a command line:
// creates=500,deletes=0,bytes=20GB.
func (b *Budget) Parse(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		to := map[string]**int64{"creates": &b.Creates, "deletes": &b.Deletes, "bytes": &b.Bytes}[name]
		if to == nil {
			return fault.Hinted(fault.Of(&fault.UsageError{}, "%q is no budget", part), "write it like creates=500,deletes=0,bytes=20GB")
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if name == "bytes" {
			var size uint64
			size, err = humanize.ParseBytes(value)
			n = int64(min(size, math.MaxInt64))
		}
		if err != nil || n < 0 {
			return fault.Hinted(fault.Of(&fault.UsageError{}, "the budget of %s is no number: %q", name, value), "write it like creates=500,deletes=0,bytes=20GB")
		}
		*to = &n
	}
	return nil
}

// spent is what a run has used of its budget.
type spent struct{ creates, deletes, bytes int64 }

type reservedKey struct{}

// reserved is what an operation made of others was charged for; its steps draw
// on it before they are charged themselves.
type reserved struct{ creates, deletes int64 }

// charge counts an operation, or says that there is no budget left for it.
func (p *Policy) charge(ctx context.Context, call *declare.Call) (context.Context, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	above, _ := ctx.Value(reservedKey{}).(*reserved)
	own := &reserved{}
	if call.Spec.Composed && above == nil {
		return ctx, nil // its steps are charged
	}
	n := number(call)
	from := func(stock *int64, used, mine *int64, most *int64, did, name string) error {
		if drawn := min(n, *stock); drawn > 0 {
			*stock -= drawn
			n -= drawn
		}
		if most != nil && *used+n > *most && p.reached == nil {
			return p.exhausted(did, *most, name, strconv.FormatInt(*used+n, 10))
		}
		*used += n
		*mine += n
		return nil
	}
	if above == nil {
		above = &reserved{}
	}
	var err error
	switch call.Spec.Effect {
	case declare.Create:
		err = from(&above.creates, &p.used.creates, &own.creates, p.rules.Budget.Creates, "create", "creates")
	case declare.Delete:
		err = from(&above.deletes, &p.used.deletes, &own.deletes, p.rules.Budget.Deletes, "delete", "deletes")
	default:
		return ctx, nil
	}
	return context.WithValue(ctx, reservedKey{}, own), err
}

// number is how many resources a call creates or deletes.
func number(call *declare.Call) int64 {
	most := 1
	for i := range call.Spec.Params {
		switch v := call.Args.Values[call.Spec.Params[i].Name].(type) {
		case []string:
			if call.Spec.Effect == declare.Delete {
				most = max(most, len(v))
			}
		case []any:
			if len(v) > 0 {
				if _, record := v[0].(map[string]any); record || call.Spec.Effect == declare.Delete {
					most = max(most, len(v))
				}
			}
		}
	}
	return int64(most)
}

// Sending counts bytes before they are sent, or says that there is no budget
// left for them.
func (p *Policy) Sending(n int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if most := p.rules.Budget.Bytes; most != nil && p.used.bytes+max(n, 0) > *most && p.reached == nil {
		return p.exhausted("send", *most, "bytes", humanize.IBytes(uint64(p.used.bytes+n)))
	}
	p.used.bytes += max(n, 0)
	return nil
}

func (p *Policy) exhausted(did string, most int64, name, would string) error {
	amount := strconv.FormatInt(most, 10) + " resources"
	switch {
	case name == "bytes":
		amount = humanize.IBytes(uint64(most))
	case most == 1:
		amount = "1 resource"
	}
	message := "the script may " + did + " at most " + amount + " in one run, this would make it " + would
	if most == 0 {
		message = "the script may not " + did + " anything"
	}
	hint := "allow it more with --budget " + name + "=N"
	if p.manifest != "" {
		hint += ", or in " + p.manifest
	}
	return fault.Hinted(fault.Of(&fault.LimitError{}, "%s", message), "%s", hint)
}
