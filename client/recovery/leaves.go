package recovery

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"transect/client/fault"
	"transect/client/ledger"
	"transect/client/schema"
)

// Caller is who calls an operation.
type Caller struct {
	Task uint64 // which of the run's tasks
	Line string // of the script, such as "survey.lua:31"; "" when it is not known
}

type callerKey struct{}

// CalledBy returns a context whose writes are those of a caller.
func CalledBy(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// leaf is one argument, or one value in a table of arguments.
type leaf struct {
	name  string
	value any // text, number, truth; a list is one value
}

// maxLeaves bounds what is noted of one write.
const maxLeaves = 64

// leavesOf takes the arguments of a call apart. Of secrets it tells that they were
// given.
func leavesOf(params []schema.Param, values any, key func(*schema.Param) string) (list []leaf) {
	secret, names := map[string]bool{}, map[string]string{}
	for i := range params {
		names[key(&params[i])] = params[i].Name
		secret[params[i].Name] = hidden(&params[i])
	}
	var walk func(name string, v any)
	walk = func(name string, v any) {
		object, ok := v.(map[string]any)
		if !ok {
			list = append(list, leaf{name, v})
			return
		}
		for _, key := range schema.SortedKeys(object) {
			inner := name + "." + key
			if name == "" {
				if inner = names[key]; inner == "" {
					inner = key
				}
				if secret[inner] {
					list = append(list, leaf{inner, nil})
					continue
				}
			}
			walk(inner, object[key])
		}
	}
	walk("", values)
	return list[:min(len(list), maxLeaves)]
}

func hidden(p *schema.Param) bool {
	return p.Secret || slices.ContainsFunc(p.Fields, func(p schema.Param) bool { return hidden(&p) })
}

// hashes are the keyed hashes of the leaves. They are short: they tell what is
// alike, not what it is.
func (a *attempt) hashes(leaves []leaf) ([]uint32, error) {
	key, err := a.Key()
	if err != nil {
		return nil, err
	}
	list := make([]uint32, len(leaves))
	var b []byte
	for i, l := range leaves {
		b = append(append(append(b[:0], key...), l.name...), 0)
		if text, plain := l.value.(string); plain {
			b = append(b, text...)
		} else {
			b = append(b, encoded(l.value)...)
		}
		sum := sha256.Sum256(b)
		list[i] = binary.LittleEndian.Uint32(sum[:])
	}
	return list, nil
}

// compare gives a new write its leaves, and tells of a new write that looks like one that each start makes anew: it
// holds the present moment, or differs from a noted one by a moment or a random
// part alone. It is told once for each line of the script; under Strict it is an
// error.
func (a *attempt) compare(w *ledger.Write, by Caller) (err error) {
	a.leaves = a.leavesOfCall()
	if w.Leaves, err = a.hashes(a.leaves); err != nil {
		return err
	}
	message := ""
	if noted, differing := a.ledg.Near(*w, func(i int) bool { return varies(a.leaves[i].value) }); noted != nil {
		message = a.differs(noted, differing)
	}
	if message == "" {
		now := time.Now()
		for _, l := range a.leaves {
			if at, ok := presentMoment(l.value, now); ok && !a.frozen(at) {
				message = l.name + " holds the present moment, which is another one in each start of the run"
				break
			}
		}
	}
	if message == "" {
		return nil
	}
	const hint = "use run.started, or a value that run.fixed keeps, so that a further start does not write it once more"
	if a.Strict {
		return fault.Hinted(fault.Of(&fault.ParameterError{}, "%s", message), hint)
	}
	if _, told := a.Told.LoadOrStore(w.Op+" "+by.Line, true); !told {
		place := ""
		if by.Line != "" {
			place = by.Line + ": "
		}
		a.Log.Warn(fmt.Sprintf("%s%s: %s; %s", place, w.Op, message, hint))
	}
	return nil
}

// differs says in which arguments a write differs from a noted one.
func (a *attempt) differs(noted *ledger.Intent, differing []int) string {
	names, verb := a.leaves[differing[0]].name, " differs"
	for _, i := range differing[1:] {
		names, verb = names+" and "+a.leaves[i].name, " differ"
	}
	return fmt.Sprintf("%s%s from what write %d of the run said at %s, all else is equal; is it made of the clock?", names, verb,
		noted.Seq, noted.Since.Local().Format(time.DateTime))
}

// frozen reports whether a moment is that of the run's first start, to the
// precision it is written with, and may be so on purpose.
func (a *attempt) frozen(at writtenMoment) bool {
	if a.Started == nil {
		return false
	}
	started, read := a.Started()
	return read && at.is(started)
}

// leavesOfCall are the leaves of a composed call, or of a request.
func (a *attempt) leavesOfCall() []leaf {
	params, plain := a.call.Spec.Params, a.plain
	if len(plain) == 2 { // the arguments, and the extra ones
		return append(leavesOf(params, plain[0], func(p *schema.Param) string { return p.Name }), more("extra", plain[1])...)
	}
	list := leavesOf(params, plain[3], func(p *schema.Param) string { return p.Key })
	return append(list, leaf{"path", plain[1]}, leaf{"query", plain[2]})
}

func more(name string, v any) []leaf {
	if object, ok := v.(map[string]any); !ok || len(object) == 0 {
		return nil
	}
	return leavesOf(nil, v, func(p *schema.Param) string { return name + "." + p.Name })
}
