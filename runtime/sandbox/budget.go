package sandbox

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/human"
)

// Budget limits what one run may do. Absent names are unlimited.
type Budget map[string]int64

// UnmarshalJSON reads null as no limit.
func (b *Budget) UnmarshalJSON(text []byte) error {
	var given map[string]*int64
	if err := json.Unmarshal(text, &given); err != nil {
		return err
	}
	*b = Budget{}
	for name, n := range given {
		if n != nil {
			(*b)[name] = *n
		}
	}
	return nil
}

// budgets maps the names of budgets to what they limit. Retries count as sent bytes, to the platform and
// elsewhere.
var budgets = map[string]string{"creates": "create", "deletes": "delete", "bytes": "send", "jobs": "submit"}

const howBudgets = "the budgets are creates, deletes, bytes and jobs: write them like creates=500,deletes=0,bytes=20GB"

// Parse reads a budget in command line form: creates=500,deletes=0,bytes=20GB.
func (b *Budget) Parse(text string) error {
	wrong := func(format string, args ...any) error {
		return fault.Hinted(fault.Of(&fault.UsageError{}, format, args...), "%s", howBudgets)
	}
	if *b == nil {
		*b = Budget{}
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if budgets[name] == "" {
			return wrong("%q is not a budget", name)
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if name == "bytes" {
			var size uint64
			size, err = humanize.ParseBytes(value)
			n = int64(min(size, math.MaxInt64))
		}
		if err != nil || n < 0 {
			return wrong("the budget of %s is not a number from 0 up: %q", name, value)
		}
		(*b)[name] = n
	}
	return nil
}

type chargedKey struct{}

// charge counts an operation against the budget. The steps of a composed operation first use up what was
// charged for it.
func (p *Policy) charge(ctx context.Context, call *declare.Call) (context.Context, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	outer, nested := ctx.Value(chargedKey{}).(map[string]int64)
	if !nested && call.Spec.Composed {
		return ctx, nil // its steps are charged instead
	}
	name := map[declare.Effect]string{declare.Create: "creates", declare.Delete: "deletes"}[call.Spec.Effect]
	if name == "" {
		return ctx, nil
	}
	n := resources(call)
	if prepaid := min(n, outer[name]); prepaid > 0 {
		outer[name] -= prepaid
		n -= prepaid
	}
	return context.WithValue(ctx, chargedKey{}, map[string]int64{name: n}), p.spend(name, n)
}

// Limits reports whether a budget is set.
func (p *Policy) Limits(name string) bool {
	_, limited := p.rules.Budget[name]
	return limited
}

// Spent counts what earlier starts of the run used.
func (p *Policy) Spent(name string, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used[name] += n
}

// Submit counts a job against the budget.
func (p *Policy) Submit() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spend("jobs", 1)
}

// spend counts n against a budget. The policy is locked.
func (p *Policy) spend(name string, n int64) error {
	used := p.used[name] + n
	if limit, limited := p.rules.Budget[name]; limited && used > limit && p.reached == nil {
		return p.exhausted(name, limit, used)
	}
	p.used[name] = used
	return nil
}

// resources returns the number of resources that a call creates or deletes.
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
	return p.spend("bytes", max(n, 0))
}

// Plan refuses an upload of n bytes that exceeds the budget, before any of it is sent. sending is called with
// the bytes sent, and finally with the rest: from then on they are counted by Sending, or not at all.
func (p *Policy) Plan(n int64) (sending func(n int64), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.used["bytes"] + p.planned + n
	if limit, limited := p.rules.Budget["bytes"]; limited && all > limit && p.reached == nil {
		return nil, p.exhausted("bytes", limit, all)
	}
	p.planned += n
	return func(sent int64) {
		p.mu.Lock()
		defer p.mu.Unlock()
		sent = min(sent, n)
		n, p.planned = n-sent, p.planned-sent
	}, nil
}

// Room returns how many more bytes the run may send, and whether that is limited.
func (p *Policy) Room() (n int64, limited bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	limit, limited := p.rules.Budget["bytes"]
	return max(0, limit-p.used["bytes"]-p.planned), limited && p.reached == nil
}

func (p *Policy) exhausted(name string, limit, used int64) error {
	amount := func(n int64) string { return strconv.FormatInt(n, 10) }
	unit := " resources"
	switch {
	case name == "bytes":
		amount, unit = human.Size, ""
	case name == "jobs":
		unit = " jobs"
	case limit == 1:
		unit = " resource"
	}
	message := "the script may not " + budgets[name] + " anything: its budget is " + name + "=0"
	if limit > 0 {
		message = "the script may " + budgets[name] + " at most " + amount(limit) + unit +
			" in one run, this would make it " + amount(used)
	}
	err := fault.Of(&fault.LimitError{}, "%s", message)
	if p.within != nil && p.within.Limits(name) && p.within.rules.Budget[name] == limit {
		return fault.Hinted(err, "%s", byWorker)
	}
	return fault.Hinted(err, "allow more with --budget %s=N%s", name, p.orManifest())
}
