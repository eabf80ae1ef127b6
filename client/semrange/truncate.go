package semrange

import (
	"fmt"

	"github.com/Masterminds/semver/v3"
)

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
