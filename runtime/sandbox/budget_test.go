package sandbox_test

import (
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/schema"
	"transect/runtime/sandbox"
)

func TestBudgetsAsWritten(t *testing.T) {
	var b sandbox.Budget
	if err := b.Parse("creates=500, deletes=0,bytes=2GB"); err != nil || b["creates"] != 500 || b["deletes"] != 0 || b["bytes"] != 2_000_000_000 {
		t.Errorf("%v, %v", b, err)
	}
	if err := b.Parse("bytes=1KiB"); err != nil || b["bytes"] != 1024 || b["creates"] != 500 { // given again: the last counts
		t.Errorf("%v, %v", b, err)
	}
	for _, wrong := range []string{"", "creates", "creates=", "creates=-1", "creates=1.5", "creates=many", "files=3", "bytes=-1", "bytes=1 fathom"} {
		if err := new(sandbox.Budget).Parse(wrong); err == nil {
			t.Errorf("%q was taken for a budget", wrong)
		}
	}
}

func call(effect declare.Effect, ids int) *declare.Call {
	spec := *operations[0]
	spec.Name, spec.Effect, spec.Params = string(effect), effect, nil
	c := &declare.Call{Spec: &spec, Args: declare.Args{Values: map[string]any{}}}
	if ids > 0 {
		c.Spec.Params = []schema.Param{{Name: "ids"}}
		c.Args.Values["ids"] = make([]string, ids)
	}
	return c
}

// In any order of calls, no more than the budget goes through, and what it
// leaves room for does.
func TestBudgetsBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.Int64Range(0, 8)
		creates, deletes, sent := most.Draw(t, "creates"), most.Draw(t, "deletes"), most.Draw(t, "bytes")*100
		g := sandbox.NewPolicy(sandbox.Rules{Budget: sandbox.Budget{"creates": creates, "deletes": deletes, "bytes": sent}}, "", false)
		var created, deleted, bytes int64
		done := func(context.Context, *declare.Call) (declare.Value, error) { return declare.Value{}, nil }
		for range rapid.IntRange(1, 30).Draw(t, "calls") {
			n := rapid.IntRange(1, 3).Draw(t, "n")
			var err error
			room := true
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				_, err = pass(g, t.Context(), call(declare.Create, 0), done)
				if room = created < creates; room {
					created++
				}
			case 1:
				_, err = pass(g, t.Context(), call(declare.Delete, n), done)
				if room = deleted+int64(n) <= deletes; room {
					deleted += int64(n)
				}
			case 2:
				_, err = pass(g, t.Context(), call(declare.Read, n), done)
			case 3:
				err = g.Sending(int64(n) * 50)
				if room = bytes+int64(n)*50 <= sent; room {
					bytes += int64(n) * 50
				}
			}
			if (err == nil) != room {
				t.Fatalf("created %d of %d, deleted %d of %d, sent %d of %d: %v", created, creates, deleted, deletes, bytes, sent, err)
			}
			if f := fault.Find(err); err != nil && (f.Name() != "LimitError" || f.Facts().Hint == "") {
				t.Fatalf("%v", err)
			}
		}
	})
}

// What an operation is made of is charged once: for the operation, or for its
// steps.
func TestBudgetsOfSteps(t *testing.T) {
	g := sandbox.NewPolicy(sandbox.Rules{Budget: sandbox.Budget{"creates": 1}, Deny: sandbox.List{sandbox.Op: {"projects.delete"}}}, "", false)
	done := func(context.Context, *declare.Call) (declare.Value, error) { return declare.Value{}, nil }
	steps := func(list ...*declare.Call) declare.Handler {
		return func(ctx context.Context, _ *declare.Call) (declare.Value, error) {
			for _, step := range list {
				if v, err := pass(g, ctx, step, done); err != nil {
					return v, err
				}
			}
			return declare.Value{}, nil
		}
	}
	if _, err := pass(g, t.Context(), call(declare.Create, 0), steps(call(declare.Create, 0), call(declare.Read, 0))); err != nil {
		t.Errorf("the step of a create was charged again: %v", err)
	}
	composed := call(declare.Create, 0)
	composed.Spec.Composed = true
	if _, err := pass(g, t.Context(), composed, steps(call(declare.Read, 0))); err != nil {
		t.Errorf("an operation that only reads in the end was charged: %v", err)
	}
	if _, err := pass(g, t.Context(), composed, steps(call(declare.Create, 0))); err == nil {
		t.Error("the step of a composed operation was not charged")
	}
	// A step may be denied, though what it belongs to is allowed.
	if _, err := pass(g, t.Context(), call(declare.Read, 0), steps(call(declare.Delete, 1))); err == nil || !strings.Contains(err.Error(), "projects.delete") {
		t.Errorf("a denied step: %v", err)
	}
}

// An upload that does not fit is refused before any of it is sent; what has begun
// is counted once, planned or sent.
func TestUploadsArePlanned(t *testing.T) {
	g := sandbox.NewPolicy(sandbox.Rules{Budget: sandbox.Budget{"bytes": 100}}, "", false)
	plan := func(n int64) func(int64) {
		sending, err := g.Plan(n)
		if err != nil {
			t.Fatal(err)
		}
		return sending
	}
	refused := func(n int64) {
		t.Helper()
		if _, err := g.Plan(n); err == nil || fault.Find(err).Name() != "LimitError" {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	refused(101)
	first := plan(60)
	refused(50)
	first(20) // a part of it is sent
	if err := g.Sending(20); err != nil {
		t.Fatal(err)
	}
	refused(50)
	first(60) // it has ended without the rest
	second := plan(80)
	refused(1)
	second(80)
	plan(80)
}

// pass passes a call along both links of a policy.
func pass(p *sandbox.Policy, ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
	return p.Intercept(ctx, call, func(ctx context.Context, call *declare.Call) (declare.Value, error) {
		return p.Charge(ctx, call, next)
	})
}
