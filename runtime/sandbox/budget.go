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

// Budget limits what one run may do. Nil fields are no limit.
type Budget struct {
	Creates *int64 `json:"creates,omitempty"` // resources created
	Deletes *int64 `json:"deletes,omitempty"` // resources deleted
	Bytes   *int64 `json:"bytes,omitempty"`   // sent, to the platform and elsewhere, retries included
}

func (b Budget) over(under Budget) Budget {
	return Budget{cmp.Or(b.Creates, under.Creates), cmp.Or(b.Deletes, under.Deletes), cmp.Or(b.Bytes, under.Bytes)}
}

func (b *Budget) fields() map[string]**int64 {
	return map[string]**int64{"creates": &b.Creates, "deletes": &b.Deletes, "bytes": &b.Bytes}
}

// Parse reads a budget in command line form: creates=500,deletes=0,bytes=20GB.
func (b *Budget) Parse(text string) error {
	wrong := func(format string, args ...any) error {
		return fault.Hinted(fault.Of(&fault.UsageError{}, format, args...), "write it like creates=500,deletes=0,bytes=20GB")
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		field := b.fields()[name]
		if field == nil {
			return wrong("%q is not a budget", part)
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if name == "bytes" {
			var size uint64
			size, err = humanize.ParseBytes(value)
			n = int64(min(size, math.MaxInt64))
		}
		if err != nil || n < 0 {
			return wrong("the budget of %s is not a number: %q", name, value)
		}
		*field = &n
	}
	return nil
}

// usage is what a run, or one operation made of several, was charged for.
type usage struct{ creates, deletes, bytes int64 }

type usageKey struct{}

// charge counts an operation against the budget. The steps of a composed
// operation use up what was charged for it before they are charged themselves.
func (p *Policy) charge(ctx context.Context, call *declare.Call) (context.Context, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	outer, nested := ctx.Value(usageKey{}).(*usage)
	if !nested {
		if call.Spec.Composed {
			return ctx, nil // its steps are charged
		}
		outer = &usage{}
	}
	own := &usage{}
	var reserved, used, charged, limit *int64
	verb, name := "create", "creates"
	switch call.Spec.Effect {
	case declare.Create:
		reserved, used, charged, limit = &outer.creates, &p.used.creates, &own.creates, p.rules.Budget.Creates
	case declare.Delete:
		verb, name = "delete", "deletes"
		reserved, used, charged, limit = &outer.deletes, &p.used.deletes, &own.deletes, p.rules.Budget.Deletes
	default:
		return ctx, nil
	}
	n := resources(call)
	prepaid := max(min(n, *reserved), 0)
	*reserved -= prepaid
	n -= prepaid
	if limit != nil && *used+n > *limit && p.reached == nil {
		return ctx, p.exhausted(verb, *limit, name, strconv.FormatInt(*used+n, 10))
	}
	*used += n
	*charged += n
	return context.WithValue(ctx, usageKey{}, own), nil
}

// resources is how many resources a call creates or deletes.
func resources(call *declare.Call) int64 {
	n := 1
	for i := range call.Spec.Params {
		switch v := call.Args.Values[call.Spec.Params[i].Name].(type) {
		case []string:
			if call.Spec.Effect == declare.Delete {
				n = max(n, len(v))
			}
		case []any:
			if len(v) > 0 {
				if _, record := v[0].(map[string]any); record || call.Spec.Effect == declare.Delete {
					n = max(n, len(v))
				}
			}
		}
	}
	return int64(n)
}

// Sending counts n bytes that are about to be sent against the budget.
func (p *Policy) Sending(n int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	n = max(n, 0)
	if limit := p.rules.Budget.Bytes; limit != nil && p.used.bytes+n > *limit && p.reached == nil {
		return p.exhausted("send", *limit, "bytes", humanize.IBytes(uint64(p.used.bytes+n)))
	}
	p.used.bytes += n
	return nil
}

func (p *Policy) exhausted(verb string, limit int64, name, would string) error {
	amount := strconv.FormatInt(limit, 10) + " resources"
	switch {
	case name == "bytes":
		amount = humanize.IBytes(uint64(limit))
	case limit == 1:
		amount = "1 resource"
	}
	message := "the script may " + verb + " at most " + amount + " in one run, this would make it " + would
	if limit == 0 {
		message = "the script may not " + verb + " anything"
	}
	return fault.Hinted(fault.Of(&fault.LimitError{}, "%s", message), "allow more with --budget %s=N%s", name, p.orManifest())
}
