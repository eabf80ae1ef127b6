package semrange

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
)

// Parse parses a range. An empty text is the range of all versions.
func Parse(text string) (Range, error) {
	var r Range
	for alternative := range strings.SplitSeq(text, "||") {
		set, err := parseSet(strings.Fields(alternative))
		if err != nil {
			return Range{}, fmt.Errorf("%q is not a version range: %w", text, err)
		}
		r.sets = append(r.sets, tidy(set))
	}
	r.simplify()
	return r, nil
}

// simplify drops redundant alternatives.
func (r *Range) simplify() {
	begins := func(bound string) func([]comparator) bool {
		return func(set []comparator) bool { return set[0].String() == bound }
	}
	if all := slices.IndexFunc(r.sets, begins(lowest().String())); all >= 0 {
		r.sets = r.sets[all : all+1]
	} else if some := slices.DeleteFunc(slices.Clone(r.sets), begins(nothing)); len(some) > 0 {
		r.sets = some
	} else {
		r.sets = r.sets[:1]
	}
}

// tidy drops repeated comparators and those that exclude nothing.
func tidy(set []comparator) (tidied []comparator) {
	lowest := lowest()
	for _, c := range set {
		text := c.String()
		if text == nothing {
			return []comparator{c}
		}
		if text != lowest.String() && !slices.ContainsFunc(tidied, func(t comparator) bool { return t.String() == text }) {
			tidied = append(tidied, c)
		}
	}
	if len(tidied) == 0 {
		return []comparator{lowest}
	}
	return tidied
}

// comparators matches the operator and the version of each comparator, which may be separated by white space.
var comparators = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(` ?(~ ?>?|[<>]=?|=|\^|) ?([^ ]+|$)`)
})

// parseSet parses one alternative: comparators separated by white space, or a hyphen range.
func parseSet(words []string) (set []comparator, err error) {
	if len(words) == 0 {
		return []comparator{lowest()}, nil
	}
	if len(words) == 3 && words[1] == "-" {
		from, errFrom := parseWord(words[0])
		to, errTo := parseWord(words[2])
		if errFrom == nil && errTo == nil {
			return hyphen(from, to)
		}
	}
	for _, m := range comparators().FindAllStringSubmatch(strings.Join(words, " "), -1) {
		bounds, err := bounds(m[1], m[2])
		if err != nil {
			return nil, err
		}
		set = append(set, bounds...)
	}
	return set, nil
}

func parseWord(word string) (partial, error) {
	return parsePartial(strings.TrimLeft(word, "v="))
}

// bounds expands one comparator to plain ones. A partial version includes all its completions, so
// >1.x begins at 2.0.0 and <=1.x ends before it.
func bounds(op, word string) ([]comparator, error) {
	p, err := parseWord(word)
	if err != nil {
		return nil, fmt.Errorf("%q is not valid here", op+word)
	}
	op = strings.TrimPrefix(op, "=")
	isTilde := strings.HasPrefix(op, "~")
	// npm ignores a number after a wildcard only in ^1.x.5, ~1.x.5 and hyphen ranges.
	if p.gap && op != "^" && !isTilde {
		return nil, fmt.Errorf("%q has a number after a wildcard", op+word)
	}
	fixed := p.given - 1 // index of the last given number
	p.build = ""
	switch {
	case fixed < 0:
		if op == ">" || op == "<" {
			return []comparator{{"<", semver.New(0, 0, 0, firstPrerelease, "")}}, nil
		}
		return []comparator{lowest()}, nil
	case op == "^": // the leftmost nonzero number must not change
		if i := slices.IndexFunc(p.numbers[:p.given], func(n uint64) bool { return n != 0 }); i >= 0 {
			fixed = i
		}
		return between(p, fixed)
	case isTilde:
		return between(p, min(fixed, 1))
	case op == "" && fixed < 2:
		return between(p, fixed)
	case op == ">" && fixed < 2:
		v, err := p.next(fixed, "")
		return []comparator{{">=", v}}, err
	case op == "<=" && fixed < 2:
		v, err := p.next(fixed, firstPrerelease)
		return []comparator{{"<", v}}, err
	case op == "<" && fixed < 2:
		p.pre = firstPrerelease
	case fixed < 2:
		p.pre = ""
	}
	return []comparator{{op, p.version()}}, nil
}

// between returns the bounds from p up to the next version that differs in number fixed.
func between(p partial, fixed int) ([]comparator, error) {
	high, err := p.next(fixed, firstPrerelease)
	return []comparator{{">=", p.version()}, {"<", high}}, err
}

// hyphen returns the bounds of a range like "1.2 - 3.4".
func hyphen(from, to partial) ([]comparator, error) {
	low := lowest()
	from.build, to.build = "", ""
	if from.given > 0 {
		low.version = from.version()
	}
	switch {
	case to.given == 0:
		return []comparator{low}, nil
	case to.given < 3:
		next, err := to.next(to.given-1, firstPrerelease)
		return []comparator{low, {"<", next}}, err
	}
	return []comparator{low, {"<=", to.version()}}, nil
}
