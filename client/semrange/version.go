package semrange

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
)

const (
	// MaxNumber is the highest major, minor or patch number in npm: the largest integer exact in a
	// JavaScript number.
	MaxNumber  = 1<<numberBits - 1
	numberBits = 53

	firstPrerelease = "0" // precedes all others of a version
)

// ParseVersion parses a complete version. It accepts a leading "v" and surrounding white space.
func ParseVersion(text string) (*semver.Version, error) {
	if len(text) > semver.MaxVersionLen {
		return nil, fmt.Errorf("a version has at most %d characters, this one has %d", semver.MaxVersionLen, len(text))
	}
	p, err := parsePartial(strings.TrimPrefix(strings.TrimSpace(text), "v"))
	if err != nil {
		return nil, fmt.Errorf("%q is not a version: %w", text, err)
	}
	if p.given < 3 || p.gap {
		return nil, fmt.Errorf("%q is not a version: %s", text, wantVersion)
	}
	return p.version(), nil
}

const wantVersion = "write major.minor.patch, such as 1.2.3"

// IsExact reports whether text is one complete version and not a range.
func IsExact(text string) bool {
	_, err := ParseVersion(text)
	return err == nil
}

// partial is a version whose trailing numbers may be omitted: "1", "1.2.x", "*",
// "1.2.3-beta+build".
type partial struct {
	numbers    [3]uint64 // 0 if omitted
	given      int       // how many were given
	pre, build string
	gap        bool // a number followed a wildcard, as in 1.x.5, and was dropped
}

// version completes p with zeros.
func (p partial) version() *semver.Version {
	return semver.New(p.numbers[0], p.numbers[1], p.numbers[2], p.pre, p.build)
}

// next returns the first version, or its prerelease pre, that differs from p in number i.
func (p partial) next(i int, pre string) (*semver.Version, error) {
	n := partial{numbers: p.numbers, pre: pre}
	clear(n.numbers[i+1:])
	if n.numbers[i]++; n.numbers[i] > MaxNumber {
		return nil, ErrTooGreat
	}
	return n.version(), nil
}

// ErrTooGreat is the error for a number above MaxNumber.
var ErrTooGreat = fmt.Errorf("no number is greater than %d", MaxNumber)

// grammar matches a partial version: numbers, prerelease and build.
var grammar = sync.OnceValue(func() *regexp.Regexp {
	const number = `(?:0|[1-9]\d*)`
	const part = `(` + number + `|[xX*])`
	const identifier = `(?:\d*[A-Za-z-][0-9A-Za-z-]*|` + number + `)`
	const pre = `(?:-(` + identifier + `(?:\.` + identifier + `)*))?`
	const build = `(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?`
	return regexp.MustCompile(`^` + part + `(?:\.` + part + `(?:\.` + part + pre + `)?)?` + build + `$`)
})

// parsePartial parses a partial version.
func parsePartial(text string) (p partial, err error) {
	m := grammar().FindStringSubmatch(text)
	if m == nil {
		return p, fmt.Errorf("%s", wantVersion)
	}
	for i, number := range m[1:4] {
		number = strings.Trim(number, "xX*")
		switch {
		case p.given < i:
			p.gap = p.gap || number != ""
		case number != "":
			if p.numbers[i], err = strconv.ParseUint(number, 10, numberBits); err != nil {
				return p, fmt.Errorf("the number %s is greater than %d", number, MaxNumber)
			}
			p.given++
		}
	}
	p.build = m[5]
	if p.given == 3 { // like npm, 1.x.x-beta means 1.x.x
		p.pre = m[4]
	}
	return p, nil
}
