// Package release computes the version that follows another one, as npm does.
package release

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"

	"transect/client/semrange"
)

// Kinds are the kinds of release, as named by npm.
var Kinds = []string{"major", "minor", "patch", "premajor", "preminor", "prepatch", "prerelease", "release"}

// Next returns the version after a release, one of Kinds. It drops build metadata. A
// prerelease that leads to the requested release is finished: the next "minor" of 1.2.0-rc.1 is
// 1.2.0. "prerelease" continues the current prerelease, or begins one of the next patch, and
// "release" finishes one. It fails for an invalid version, release or identifier, and when there is
// nothing to finish.
func Next(version, kind, identifier string) (string, error) {
	v, err := semrange.ParseVersion(version)
	if err != nil {
		return "", err
	}
	core, begins := strings.CutPrefix(kind, "pre")
	major, minor, patch := v.Major(), v.Minor(), v.Patch()
	current := v.Prerelease()
	// Only a prerelease of x.0.0 leads to a major release, only one of x.y.0 to a minor one.
	// Releases that begin a prerelease never finish one.
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
			return "", fmt.Errorf("%s is not a prerelease, so there is no release to finish", v)
		case !begins:
			current = ""
		case current == "":
			patch++
		}
	default:
		return "", fmt.Errorf("%q is not a kind of release: use one of %s", kind, strings.Join(Kinds, ", "))
	}
	if max(major, minor, patch) > semrange.MaxNumber {
		return "", semrange.ErrTooGreat
	}
	if begins {
		if current, err = after(current, identifier); err != nil {
			return "", err
		}
	}
	return semver.New(major, minor, patch, current, "").String(), nil
}

// after returns the prerelease that follows current, or the first one when current is "".
func after(current, identifier string) (string, error) {
	if identifier != "" && !isPrerelease(identifier) {
		return "", fmt.Errorf("%q cannot name a prerelease: use letters, digits and hyphens, such as rc", identifier)
	}
	next := count(current)
	if identifier == "" {
		return next, nil
	}
	// Another name starts over, and so does a name not followed by a number.
	if rest, ok := strings.CutPrefix(next, identifier+"."); ok {
		if number, _, _ := strings.Cut(rest, "."); number != "" && strings.Trim(number, "0123456789") == "" {
			return next, nil
		}
	}
	return identifier + ".0", nil
}

func isPrerelease(text string) bool {
	v, err := semrange.ParseVersion("0.0.0-" + text)
	return err == nil && v.Prerelease() == text
}

// count increments the last number of a prerelease, or adds a first one.
func count(pre string) string {
	if pre == "" {
		return "0"
	}
	ids := strings.Split(pre, ".")
	for i := len(ids) - 1; i >= 0; i-- {
		// Beyond MaxNumber npm treats digits as text.
		if n, err := strconv.ParseUint(ids[i], 10, 64); err == nil && n < semrange.MaxNumber {
			ids[i] = strconv.FormatUint(n+1, 10)
			return strings.Join(ids, ".")
		}
	}
	return pre + ".0"
}
