package semrange

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

const (
	space  = " \t\r\n\v\f"
	lowest = "0" // the prerelease before all others of a version
)

// parseSet reads one alternative: comparators separated by white space, or a
// hyphen range. It is empty when Loose left nothing of it.
func (o Options) parseSet(text string) ([]comparator, error) {
	text = strings.Trim(text, space)
	if set, ok, err := o.parseHyphen(text); ok || err != nil {
		return o.tidy(set), err
	}
	if text == "" {
		return []comparator{{}}, nil
	}
	var set []comparator
	for text != "" {
		var op, word string
		op, word, text = cutComparator(text)
		bounds, err := o.bounds(op, word)
		if err != nil && !o.Loose {
			return nil, err
		}
		if err == nil {
			set = append(set, bounds...)
		}
	}
	return o.tidy(set), nil
}

// cutComparator cuts one comparator off the front: its operator, which white
// space may follow, and its version.
func cutComparator(text string) (op, word, rest string) {
	rest = strings.TrimLeft(text, space)
	for _, candidate := range []string{">=", "<=", ">", "<", "=", "~", "^"} {
		if strings.HasPrefix(rest, candidate) {
			op = candidate
			rest = strings.TrimLeft(rest[len(op):], space)
			break
		}
	}
	if op == "~" {
		rest = strings.TrimLeft(strings.TrimPrefix(rest, ">"), space)
	}
	end := strings.IndexAny(rest, space)
	if end < 0 {
		end = len(rest)
	}
	word = rest[:end]
	return op, word, strings.TrimLeft(rest[end:], space)
}

// bounds turns one comparator into plain ones.
func (o Options) bounds(op, word string) ([]comparator, error) {
	p, ok := o.parsePartial(strings.TrimLeft(word, "v="))
	if !ok {
		return nil, fmt.Errorf("%q means nothing", op+word)
	}
	switch op {
	case "^", "~":
		return o.upTo(p, op)
	}
	// npm overlooks a number after a wildcard in ^1.x.5, ~1.x.5 and hyphen
	// ranges only.
	if p.gap {
		return nil, fmt.Errorf("%q has a number after a wildcard", op+word)
	}
	switch op {
	case "", "=":
		if p.wildcards() > 0 {
			return o.upTo(p, op)
		}
		op = ""
	}
	return o.compare(op, p)
}

// upTo gives the bounds of ^p, ~p and of a version with wildcards: from p to
// before the next version that the operator or the wildcard rules out.
func (o Options) upTo(p partial, op string) ([]comparator, error) {
	if p.wildcards() == 3 {
		return []comparator{{}}, nil
	}
	fixed := 2 - p.wildcards() // the number that must not change
	if op == "^" {
		// The leftmost number that is not zero counts, as far as given.
		for i := range fixed + 1 {
			if p.numbers[i] != "0" {
				fixed = i
				break
			}
		}
	} else if op == "~" {
		fixed = min(fixed, 1)
	}
	low, err := o.from(p)
	if err != nil {
		return nil, err
	}
	high, err := next(p, fixed, lowest)
	if err != nil {
		return nil, err
	}
	return []comparator{{">=", low}, {"<", high}}, nil
}

// from is the first version p holds.
func (o Options) from(p partial) (*semver.Version, error) {
	p.build = ""
	if p.wildcards() > 0 && o.IncludePrerelease {
		p.pre = lowest
	}
	return p.version()
}

// next is the version after p that differs in number i.
func next(p partial, i int, pre string) (*semver.Version, error) {
	p.pre, p.build = "", ""
	for j := i + 1; j < 3; j++ {
		p.numbers[j] = ""
	}
	v, err := p.version()
	if err != nil {
		return nil, err
	}
	n := [3]uint64{v.Major(), v.Minor(), v.Patch()}
	if n[i]++; n[i] > maxNumber {
		return nil, fmt.Errorf("no number is greater than %d", maxNumber)
	}
	return semver.New(n[0], n[1], n[2], pre, ""), nil
}

// compare gives the bound of an operator and a version; wildcards stand for
// all they hold, so >1.x begins at 2.0.0 and <=1.x ends before it.
func (o Options) compare(op string, p partial) ([]comparator, error) {
	open := p.wildcards()
	if open == 3 {
		if op == ">" || op == "<" {
			return []comparator{{"<", semver.New(0, 0, 0, lowest, "")}}, nil
		}
		return []comparator{{}}, nil
	}
	pre := ""
	if o.IncludePrerelease {
		pre = lowest
	}
	var v *semver.Version
	var err error
	switch {
	case open > 0 && op == ">":
		op = ">="
		v, err = next(p, 2-open, pre)
	case open > 0 && op == "<=":
		op = "<"
		v, err = next(p, 2-open, lowest)
	case open > 0 && op == "<":
		p.pre, p.build = lowest, ""
		v, err = p.version()
	default:
		v, err = o.from(p)
	}
	return []comparator{{op, v}}, err
}

// parseHyphen reads "1.2 - 3.4"; ok is false when text is no hyphen range.
func (o Options) parseHyphen(text string) (set []comparator, ok bool, err error) {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(space, r) })
	if len(words) != 3 || words[1] != "-" {
		return nil, false, nil
	}
	from, okFrom := o.parsePartial(strings.TrimLeft(words[0], "v="))
	to, okTo := o.parsePartial(strings.TrimLeft(words[2], "v="))
	if !okFrom || !okTo {
		return nil, false, nil
	}
	if from.wildcards() < 3 {
		if o.IncludePrerelease && from.pre == "" {
			from.pre = lowest
		}
		from.build = ""
		v, err := from.version()
		if err != nil {
			return nil, true, err
		}
		set = append(set, comparator{">=", v})
	}
	if open := to.wildcards(); open < 3 {
		var high comparator
		switch {
		case open > 0 || to.pre == "" && o.IncludePrerelease:
			high.op = "<"
			high.version, err = next(to, 2-open, lowest)
		default:
			high.op = "<="
			high.version, err = o.from(to)
		}
		if err != nil {
			return nil, true, err
		}
		set = append(set, high)
	}
	if len(set) == 0 {
		set = []comparator{{}}
	}
	return set, true, nil
}

// tidy drops repeated comparators and those that exclude nothing.
func (o Options) tidy(set []comparator) []comparator {
	zero := ">=0.0.0"
	if o.IncludePrerelease {
		zero += "-" + lowest
	}
	var tidied []comparator
	seen := map[string]bool{}
	for _, c := range set {
		if c.String() == nothing {
			return []comparator{c}
		}
		if c.String() == zero || c.version == nil {
			c = comparator{}
		}
		if !seen[c.String()] {
			seen[c.String()] = true
			tidied = append(tidied, c)
		}
	}
	if len(tidied) > 1 {
		tidied = slices.DeleteFunc(tidied, func(c comparator) bool { return c.version == nil })
	}
	return tidied
}
