package semrange

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Releases are the kinds of release that Increment knows, as npm names them.
var Releases = []string{"major", "minor", "patch", "premajor", "preminor", "prepatch", "prerelease", "release"}

// Prerelease says how Increment names a prerelease. The zero value gives plain
// numbers from 0.
type Prerelease struct {
	// Identifier begins the prerelease: "rc" gives 1.0.0-rc.0. It may have
	// several parts, as in "alpha.beta".
	Identifier string
	// FromOne makes the first prerelease number 1 instead of 0.
	FromOne bool
	// Unnumbered adds no first number: "rc" gives 1.0.0-rc. It needs an
	// Identifier.
	Unnumbered bool
}

// Increment returns the version that a release makes of version, with the
// default options: "1.2.3" and "minor" give "1.3.0". The identifiers, if any,
// name a prerelease: "1.2.3", "premajor" and "rc" give "2.0.0-rc.0". It is
// false where Options.Increment fails.
func Increment(version, release string, identifier ...string) (string, bool) {
	next, err := Options{}.Increment(version, release, Prerelease{Identifier: strings.Join(identifier, ".")})
	return next, err == nil
}

// Increment returns the version that a release, one of Releases, makes of
// version. Build metadata is dropped. A prerelease that leads to the release
// asked for is finished: the next "minor" of 1.2.0-rc.1 is 1.2.0. "prerelease"
// continues the prerelease there is, or begins one of the next patch, and
// "release" finishes one. It fails when version or release is none, when there
// is nothing to finish, and when pre cannot name the prerelease.
func (o Options) Increment(version, release string, pre Prerelease) (string, error) {
	v, err := o.ParseVersion(version)
	if err != nil {
		return "", err
	}
	core, begins := strings.CutPrefix(release, "pre")
	if begins {
		if err := pre.check(); err != nil {
			return "", err
		}
	}
	major, minor, patch := v.Major(), v.Minor(), v.Patch()
	current := v.Prerelease()
	// Only a prerelease of x.0.0 leads to a major release, only one of x.y.0
	// to a minor one. The releases that begin a prerelease never finish one.
	final := current == "" || begins
	switch core {
	case "major":
		if final || minor != 0 || patch != 0 {
			major++
		}
		minor, patch, current = 0, 0, ""
	case "minor":
		if final || patch != 0 {
			minor++
		}
		patch, current = 0, ""
	case "patch":
		if final {
			patch++
		}
		current = ""
	case "release":
		switch {
		case !begins && current == "":
			return "", fmt.Errorf("%s is no prerelease that a release could finish", v)
		case !begins:
			current = ""
		case current == "":
			patch++
		}
	default:
		return "", fmt.Errorf("%q is not a kind of release: use one of %s", release, strings.Join(Releases, ", "))
	}
	if max(major, minor, patch) > maxNumber {
		return "", fmt.Errorf("no number is greater than %d", maxNumber)
	}
	if begins {
		if current, err = pre.after(current); err != nil {
			return "", err
		}
	}
	return semver.New(major, minor, patch, current, "").String(), nil
}

func (p Prerelease) check() error {
	if p.Identifier == "" {
		if p.Unnumbered {
			return errors.New("a prerelease without a number needs an identifier, such as rc")
		}
		return nil
	}
	if !validIdentifiers(p.Identifier, false) {
		return fmt.Errorf("%q cannot name a prerelease: use letters, digits and hyphens, such as rc", p.Identifier)
	}
	return nil
}

// after gives the prerelease that follows current, which is "" when there is
// none yet.
func (p Prerelease) after(current string) (string, error) {
	first := "0"
	if p.FromOne {
		first = "1"
	}
	begin := p.Identifier // what a prerelease of this name begins with
	if begin != "" && !p.Unnumbered {
		begin += "." + first
	}
	if current == "" {
		if begin == "" {
			return first, nil
		}
		return begin, nil
	}
	next, counted := count(current)
	if !counted {
		if p.Unnumbered && p.Identifier == current {
			return "", fmt.Errorf("the version is the prerelease %q already: number it, or choose another identifier", current)
		}
		next = current + "." + first
	}
	if p.Identifier == "" {
		return next, nil
	}
	// Another name begins anew, and so does a name without a number behind it.
	if rest, ok := strings.CutPrefix(next, p.Identifier+"."); ok {
		if number, _, _ := strings.Cut(rest, "."); isNumeric(number) {
			return next, nil
		}
	}
	return begin, nil
}

// count increments the last number of a prerelease; false when it has none.
func count(pre string) (string, bool) {
	ids := strings.Split(pre, ".")
	for i := len(ids) - 1; i >= 0; i-- {
		if !isNumeric(ids[i]) {
			continue
		}
		// Beyond maxNumber npm takes digits for text.
		if n, err := parseNumber(ids[i]); err == nil && n < maxNumber {
			ids[i] = strconv.FormatUint(n+1, 10)
			return strings.Join(ids, "."), true
		}
	}
	return pre, false
}
