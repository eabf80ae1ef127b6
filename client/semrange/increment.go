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
		return "", errTooGreat
	}
	if begins {
		if current, err = pre.after(current); err != nil {
			return "", err
		}
	}
	return semver.New(major, minor, patch, current, "").String(), nil
}

// after gives the prerelease that follows current, which is "" when there is
// none yet.
func (p Prerelease) after(current string) (string, error) {
	first := "0"
	if p.FromOne {
		first = "1"
	}
	switch {
	case p.Identifier == "" && p.Unnumbered:
		return "", errors.New("a prerelease without a number needs an identifier, such as rc")
	case p.Identifier != "" && !isPrerelease(p.Identifier):
		return "", fmt.Errorf("%q cannot name a prerelease: use letters, digits and hyphens, such as rc", p.Identifier)
	case p.Unnumbered && p.Identifier == current:
		return "", fmt.Errorf("the version is the prerelease %q already: number it, or choose another identifier", current)
	}
	next := count(current, first)
	if p.Identifier == "" {
		return next, nil
	}
	// Another name begins anew, and so does a name without a number behind it.
	if rest, ok := strings.CutPrefix(next, p.Identifier+"."); ok {
		if number, _, _ := strings.Cut(rest, "."); isNumeric(number) {
			return next, nil
		}
	}
	if p.Unnumbered {
		return p.Identifier, nil
	}
	return p.Identifier + "." + first, nil
}

func isPrerelease(text string) bool {
	p, err := Options{}.parsePartial("0.0.0-" + text)
	return err == nil && p.pre == text
}

// count increments the last number of a prerelease, or adds a first one.
func count(pre, first string) string {
	if pre == "" {
		return first
	}
	ids := strings.Split(pre, ".")
	for i := len(ids) - 1; i >= 0; i-- {
		// Beyond maxNumber npm takes digits for text.
		if n, err := strconv.ParseUint(ids[i], 10, numberBits); err == nil && n < maxNumber {
			ids[i] = strconv.FormatUint(n+1, 10)
			return strings.Join(ids, ".")
		}
	}
	return pre + "." + first
}

// Truncate cuts version down to a kind of release: "1.2.3-rc.1" is "1.2.3" to
// the "patch", "1.2.0" to the "minor" and "1.0.0" to the "major". The kinds
// that begin with "pre" keep the prerelease. Build metadata is dropped. It
// fails when version or release is none.
func (o Options) Truncate(version, release string) (string, error) {
	v, err := o.ParseVersion(version)
	if err != nil {
		return "", err
	}
	major, minor, patch, pre := v.Major(), v.Minor(), v.Patch(), ""
	switch release {
	case "major":
		minor, patch = 0, 0
	case "minor":
		patch = 0
	case "patch":
	case "premajor", "preminor", "prepatch", "prerelease":
		pre = v.Prerelease()
	default:
		return "", fmt.Errorf("a version cannot be truncated to %q: use major, minor, patch or prerelease", release)
	}
	return semver.New(major, minor, patch, pre, "").String(), nil
}
