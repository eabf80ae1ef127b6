package stdlib

import (
	lua "github.com/yuin/gopher-lua"
	luar "layeh.com/gopher-luar"

	"github.com/Masterminds/semver/v3"

	"transect/client/fault"
	"transect/client/semrange"
	"transect/runtime/vm"
)

// version is a semantic version in Lua. Its methods are its interface, so the
// reflection bridge is all it takes.
type version struct{ v *semver.Version }

func (v *version) Major() int         { return int(v.v.Major()) }
func (v *version) Minor() int         { return int(v.v.Minor()) }
func (v *version) Patch() int         { return int(v.v.Patch()) }
func (v *version) Prerelease() string { return v.v.Prerelease() }
func (v *version) String() string     { return v.v.String() }

// LuaValue makes a version travel as its text.
func (v *version) LuaValue() any { return v.v.String() }

var semverModule = &vm.Module{
	Name: "semver",
	Doc:  "Semantic versions and the ranges of the npm ecosystem.",
	Funcs: []vm.Func{
		{
			Name: "parse", Doc: "Reads a version; a leading v is allowed.",
			Params:  []vm.Param{{Name: "version", Type: "string", Doc: "such as 1.2.3 or v2.0.0-rc.1"}},
			Returns: "a version, with the methods major, minor, patch and prerelease; tostring gives its text",
			Example: `local v = require("semver").parse("v1.2.3")
assert(v:major() == 1 and v:minor() == 2 and tostring(v) == "1.2.3")`,
			Call: func(c *vm.Call) (any, error) {
				v, err := parseVersion(c, "version")
				if err != nil {
					return nil, err
				}
				return luar.New(c.L, &version{v}), nil
			},
		},
		{
			Name: "compare", Doc: "Orders two versions.",
			Params:  []vm.Param{{Name: "a", Type: "any", Doc: "a version or its text"}, {Name: "b", Type: "any", Doc: "a version or its text"}},
			Returns: "-1 when a is lower, 0 when they are equal, 1 when a is higher",
			Example: `assert(require("semver").compare("1.10.0", "1.9.0") == 1)`,
			Call: func(c *vm.Call) (any, error) {
				a, err := parseVersion(c, "a")
				if err != nil {
					return nil, err
				}
				b, err := parseVersion(c, "b")
				if err != nil {
					return nil, err
				}
				return a.Compare(b), nil
			},
		},
		{
			Name: "satisfies", Doc: "Tells whether a version lies in a range. A prerelease only does where the range names one of the same version.",
			Params:  []vm.Param{{Name: "version", Type: "any", Doc: "a version or its text"}, {Name: "range", Type: "string", Doc: "such as 1.x, ^1.2 or >=1 <3"}},
			Returns: "true or false",
			Example: `assert(require("semver").satisfies("1.4.2", "1.x"))`,
			Call: func(c *vm.Call) (any, error) {
				v, err := parseVersion(c, "version")
				if err != nil {
					return nil, err
				}
				r, err := parseRange(c, "range")
				if err != nil {
					return nil, err
				}
				return r.Contains(v), nil
			},
		},
		{
			Name: "highest", Doc: "Finds the highest version of a list that lies in a range.",
			Params:  []vm.Param{{Name: "versions", Type: "table", Doc: "a list of texts"}, {Name: "range", Type: "string", Doc: "such as 1.x", Default: "*"}},
			Returns: "the version as the list has it, or nil",
			Example: `assert(require("semver").highest({ "1.0.0", "1.10.0", "2.0.0" }, "1.x") == "1.10.0")`,
			Call: func(c *vm.Call) (any, error) {
				r, err := parseRange(c, "range")
				if err != nil {
					return nil, err
				}
				var versions []string
				c.Table("versions").ForEach(func(_, v lua.LValue) { versions = append(versions, v.String()) })
				if best, ok := r.Highest(versions); ok {
					return best, nil
				}
				return nil, nil
			},
		},
		{
			Name: "increment", Doc: "Makes the next version. Build metadata is dropped, and a prerelease that leads to the release asked for is finished: the next minor of 1.2.0-rc.1 is 1.2.0.",
			Params: []vm.Param{
				{Name: "version", Type: "any", Doc: "a version or its text"},
				{Name: "release", Type: "string", Doc: "what to raise; prerelease continues a prerelease or begins one of the next patch, release finishes one", Choices: semrange.Releases},
				{Name: "identifier", Type: "string", Doc: "how a prerelease begins, such as rc", Default: ""},
			},
			Returns: "the text of the next version",
			Example: `local semver = require("semver")
assert(semver.increment("1.2.3", "minor") == "1.3.0")
assert(semver.increment("1.2.3", "premajor", "rc") == "2.0.0-rc.0")
assert(semver.increment("2.0.0-rc.0", "prerelease") == "2.0.0-rc.1")`,
			Call: func(c *vm.Call) (any, error) {
				v, err := parseVersion(c, "version")
				if err != nil {
					return nil, err
				}
				next, err := semrange.Options{}.Increment(v.String(), c.String("release"), semrange.Prerelease{Identifier: c.String("identifier")})
				if err != nil {
					return nil, fault.Of(&fault.ValueError{}, "no next version: %w", err)
				}
				return next, nil
			},
		},
		{
			Name: "intersects", Doc: "Tells whether two ranges overlap. Their bounds decide: >1.0.0 and <1.0.1 overlap, though no release lies between them.",
			Params:  []vm.Param{{Name: "a", Type: "string", Doc: "such as 1.x"}, {Name: "b", Type: "string", Doc: "such as >=1.4"}},
			Returns: "true or false",
			Example: `local semver = require("semver")
assert(semver.intersects("^1.2", ">=1.4 <3"))
assert(not semver.intersects("1.x", ">=2"))`,
			Call: func(c *vm.Call) (any, error) {
				a, err := parseRange(c, "a")
				if err != nil {
					return nil, err
				}
				b, err := parseRange(c, "b")
				if err != nil {
					return nil, err
				}
				return a.Intersects(b), nil
			},
		},
	},
}

// parseVersion reads an argument that is a version or its text.
func parseVersion(c *vm.Call, name string) (*semver.Version, error) {
	if ud, ok := c.Value(name).(*lua.LUserData); ok {
		if v, ok := ud.Value.(*version); ok {
			return v.v, nil
		}
	}
	v, err := semrange.ParseVersion(c.String(name))
	if err != nil {
		return nil, fault.Of(&fault.ValueError{}, "argument %s: %w", name, err)
	}
	return v, nil
}

// parseRange reads an argument that is a range.
func parseRange(c *vm.Call, name string) (semrange.Range, error) {
	r, err := semrange.Parse(c.String(name))
	if err != nil {
		return r, fault.Of(&fault.ValueError{}, "argument %s: %w", name, err)
	}
	return r, nil
}
