// Package semrange reads version ranges as npm writes them ("^1.2.0",
// "1.x || >=2.5.0 <3", "1.0 - 2.0"), tells which versions they hold and which
// ranges overlap, and makes the next version of a release.
//
// Versions are those of github.com/Masterminds/semver/v3. Ranges are read
// here: that library's constraints agree with npm on everyday ranges, but not
// on empty alternatives, prerelease bounds, build metadata after wildcards or
// the two options below. Two oddities of npm are not followed: white space
// after a "v" inside a range ("v 1.2.3"), and the way Loose tells meaningless
// operators such as "<<" or ">=~" from the versions beside them.
package semrange

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// maxNumber is the greatest major, minor or patch number npm knows: the
// greatest integer a JavaScript number holds exactly.
const maxNumber = 1<<53 - 1

// Options changes how versions and ranges are read. The zero value is what
// npm does unless told otherwise.
type Options struct {
	// Loose accepts leading zeros, "=" and "v" before a version, a prerelease
	// without its hyphen ("1.2.3beta"), and ignores comparators that mean
	// nothing.
	Loose bool
	// IncludePrerelease treats prereleases as ordinary versions. Otherwise a
	// range holds a prerelease only when one of its comparators names a
	// prerelease of the same major.minor.patch.
	IncludePrerelease bool
}

// ParseVersion reads a complete version with the default options. A leading
// "v" and surrounding white space are accepted.
func ParseVersion(text string) (*semver.Version, error) {
	return Options{}.ParseVersion(text)
}

// ParseVersion reads a complete version.
func (o Options) ParseVersion(text string) (*semver.Version, error) {
	if len(text) > semver.MaxVersionLen {
		return nil, fmt.Errorf("a version has at most %d characters, this one has %d", semver.MaxVersionLen, len(text))
	}
	trimmed := strings.TrimSpace(text)
	if o.Loose {
		trimmed = strings.TrimLeft(trimmed, "v= \t\r\n")
	} else {
		trimmed = strings.TrimPrefix(trimmed, "v")
	}
	p, ok := o.parsePartial(trimmed)
	if !ok || p.gap || p.wildcards() != 0 {
		return nil, fmt.Errorf("%q is not a version: write major.minor.patch, such as 1.2.3", text)
	}
	v, err := p.version()
	if err != nil {
		return nil, fmt.Errorf("%q is not a version: %w", text, err)
	}
	return v, nil
}

// IsExact tells whether text is one complete version and not a range.
func IsExact(text string) bool {
	_, err := ParseVersion(text)
	return err == nil
}

// partial is a version of which the trailing numbers may be left open:
// "1", "1.2.x", "*", "1.2.3-beta+build".
type partial struct {
	numbers [3]string // "" where left open
	pre     string
	build   string
	gap     bool // a number followed a wildcard, as in 1.x.5; it is dropped
}

// wildcards counts the open numbers: 0 for a complete version, 3 for "*".
func (p partial) wildcards() int {
	n := 0
	for _, number := range p.numbers {
		if number == "" {
			n++
		}
	}
	return n
}

// version completes p, open numbers counting as 0.
func (p partial) version() (*semver.Version, error) {
	var n [3]uint64
	for i := range n {
		if p.numbers[i] == "" {
			continue
		}
		var err error
		if n[i], err = parseNumber(p.numbers[i]); err != nil {
			return nil, err
		}
	}
	return semver.New(n[0], n[1], n[2], p.pre, p.build), nil
}

func parseNumber(digits string) (uint64, error) {
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || n > maxNumber {
		return 0, fmt.Errorf("the number %s is greater than %d", digits, maxNumber)
	}
	return n, nil
}

// parsePartial reads the whole text; ok is false when it is none.
func (o Options) parsePartial(text string) (p partial, ok bool) {
	rest := text
	parts := 0
	for parts < 3 {
		var number string
		if number, rest, ok = o.cutNumber(rest); !ok {
			return p, false
		}
		if parts == 0 || p.numbers[parts-1] != "" {
			p.numbers[parts] = number
		} else if number != "" {
			p.gap = true
		}
		parts++
		if parts == 3 || !strings.HasPrefix(rest, ".") {
			break
		}
		rest = rest[1:]
	}
	if parts == 3 {
		if p.pre, p.build, ok = o.cutTail(rest); !ok {
			return p, false
		}
		if p.wildcards() > 0 {
			p.pre = "" // 1.x.x-beta is npm's 1.x.x
		}
		return p, true
	}
	// Builds are harmless anywhere ("1.x+build"), prereleases are not.
	if build, found := strings.CutPrefix(rest, "+"); found && validIdentifiers(build, true) {
		p.build, rest = build, ""
	}
	return p, rest == ""
}

// cutNumber cuts a number or a wildcard (returned as "") off the front.
func (o Options) cutNumber(s string) (number, rest string, ok bool) {
	if s != "" && strings.IndexByte("xX*", s[0]) >= 0 {
		return "", s[1:], true
	}
	end := 0
	for end < len(s) && isDigit(s[end]) {
		end++
	}
	if end == 0 || end > 1 && s[0] == '0' && !o.Loose {
		return "", s, false
	}
	return trimZeros(s[:end]), s[end:], true
}

// cutTail reads what may follow three numbers: -prerelease and +build.
func (o Options) cutTail(s string) (pre, build string, ok bool) {
	s, build, hasBuild := strings.Cut(s, "+")
	if hasBuild && !validIdentifiers(build, true) {
		return "", "", false
	}
	if s == "" {
		return "", build, true
	}
	pre, hyphen := strings.CutPrefix(s, "-")
	if !hyphen && !o.Loose {
		return "", "", false
	}
	if !validIdentifiers(pre, o.Loose) {
		// Where the hyphen is optional it may be part of the identifier.
		if pre = s; !o.Loose || !validIdentifiers(pre, true) {
			return "", "", false
		}
	}
	if o.Loose {
		ids := strings.Split(pre, ".")
		for i, id := range ids {
			if isNumeric(id) {
				ids[i] = trimZeros(id)
			}
		}
		pre = strings.Join(ids, ".")
	}
	return pre, build, true
}

// validIdentifiers checks dot-separated identifiers of a prerelease or build.
func validIdentifiers(s string, leadingZeros bool) bool {
	for id := range strings.SplitSeq(s, ".") {
		if id == "" || !leadingZeros && len(id) > 1 && id[0] == '0' && isNumeric(id) {
			return false
		}
		for i := range len(id) {
			c := id[i]
			if !isDigit(c) && c != '-' && (c|0x20 < 'a' || c|0x20 > 'z') {
				return false
			}
		}
	}
	return true
}

func isNumeric(s string) bool { return strings.Trim(s, "0123456789") == "" }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// trimZeros drops leading zeros but the last digit.
func trimZeros(digits string) string {
	trimmed := strings.TrimLeft(digits, "0")
	if trimmed == "" && digits != "" {
		return "0"
	}
	return trimmed
}
