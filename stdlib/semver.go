package stdlib

import (
	"slices"

	"github.com/Masterminds/semver/v3"
	lua "github.com/yuin/gopher-lua"
	luar "layeh.com/gopher-luar"

	"transect/client/fault"
	"transect/client/semrange"
	"transect/client/semrange/release"
	"transect/runtime/engine/table"
	"transect/runtime/module"
)

// version is a semantic version in Lua, through the reflection bridge: its methods are its interface.
type version struct{ v *semver.Version }

func (v *version) Major() int         { return int(v.v.Major()) }
func (v *version) Minor() int         { return int(v.v.Minor()) }
func (v *version) Patch() int         { return int(v.v.Patch()) }
func (v *version) Prerelease() string { return v.v.Prerelease() }
func (v *version) String() string     { return v.v.String() }

// LuaValue converts a version to its text.
func (v *version) LuaValue() any { return v.v.String() }

var semverModule = &module.Module{
	Name: "semver",
	Doc:  "Semantic versions and the ranges of the npm ecosystem.",
	Lazy: semverFuncs,
}

func semverFuncs() []module.Func {
	return []module.Func{
		{
			Name: "parse", Doc: "Reads a version; a leading v is allowed.",
			Params:  []module.Param{{Name: "version", Type: "string", Doc: "such as 1.2.3 or v2.0.0-rc.1"}},
			Returns: "a version, with the methods major, minor, patch and prerelease; tostring gives its text",
			Call:    func(c *module.Call) (any, error) { return luar.New(c.L, &version{versionArg(c, "version")}), nil },
		},
		{
			Name: "compare", Doc: "Orders two versions.",
			Params: []module.Param{{Name: "a", Type: "any", Doc: "a version or its text"},
				{Name: "b", Type: "any", Doc: "a version or its text"}},
			Returns: "-1 when a is lower, 0 when they are equal, 1 when a is higher",
			Call:    func(c *module.Call) (any, error) { return versionArg(c, "a").Compare(versionArg(c, "b")), nil },
		},
		{
			Name: "satisfies",
			Doc:  "Reports whether a version is in a range. A prerelease is only where the range names one of the same version.",
			Params: []module.Param{{Name: "version", Type: "any", Doc: "a version or its text"},
				{Name: "range", Type: "string", Doc: "such as 1.x, ^1.2 or >=1 <3"}},
			Returns: "true or false",
			Call: func(c *module.Call) (any, error) {
				v := versionArg(c, "version")
				return rangeArg(c, "range").Contains(v), nil
			},
		},
		{
			Name: "highest", Doc: "Finds the highest version of a list within a range.",
			Params: []module.Param{{Name: "versions", Type: "table", Doc: "a list of strings"},
				{Name: "range", Type: "string", Doc: "such as 1.x", Default: "*"}},
			Returns: "the version as the list has it, or nil",
			Call: func(c *module.Call) (any, error) {
				var versions []string
				c.Table("versions").ForEach(func(_, v lua.LValue) { versions = append(versions, v.String()) })
				if best, ok := rangeArg(c, "range").Highest(versions); ok {
					return best, nil
				}
				return nil, nil
			},
		},
		{
			Name: "valid", Doc: "Reports whether a string is a version.",
			Params: []module.Param{{Name: "version", Type: "any", Doc: "a string"}}, Returns: "true or false",
			Call: func(c *module.Call) (any, error) {
				_, err := versionOf(c.Value("version"))
				return err == nil, nil
			},
		},
		{
			Name: "sort", Doc: "Sorts versions in ascending order.",
			Params: []module.Param{{Name: "versions", Type: "table",
				Doc: "a list of versions, or of strings"}}, Returns: "a new list of them",
			Call: sortVersions,
		},
		{
			Name: "increment",
			Doc: "Increments a version. Build metadata is dropped, and a prerelease of the requested release is completed: " +
				"the next minor of 1.2.0-rc.1 is 1.2.0.",
			Params: []module.Param{
				{Name: "version", Type: "any", Doc: "a version or its text"},
				{Name: "release", Type: "string",
					Doc: "what to increment; prerelease continues a prerelease or begins one of the next patch, release " +
						"completes one",
					Choices: release.Kinds},
				{Name: "identifier", Type: "string", Doc: "how a prerelease begins, such as rc", Default: ""},
			},
			Returns: "the text of the next version",
			Call: func(c *module.Call) (any, error) {
				v := versionArg(c, "version").String()
				next, err := release.Next(v, c.String("release"), c.String("identifier"))
				if err != nil {
					return nil, fault.Of(&fault.ValueError{}, "no next version: %w", err)
				}
				return next, nil
			},
		},
		{
			Name: "intersects",
			Doc: "Reports whether two ranges overlap. Their bounds decide: >1.0.0 and <1.0.1 overlap, though no release is " +
				"between them.",
			Params: []module.Param{{Name: "a", Type: "string", Doc: "such as 1.x"},
				{Name: "b", Type: "string", Doc: "such as >=1.4"}},
			Returns: "true or false",
			Call:    func(c *module.Call) (any, error) { return rangeArg(c, "a").Intersects(rangeArg(c, "b")), nil },
		},
	}
}

func sortVersions(c *module.Call) (any, error) {
	list := c.Table("versions")
	type item struct {
		given  lua.LValue
		parsed *semver.Version
	}
	items := make([]item, table.Length(list))
	for i := range items {
		given := table.Element(list, i+1)
		parsed, err := versionOf(given)
		if err != nil {
			return nil, fault.Of(&fault.ValueError{}, "item %d of versions: %w", i+1, err)
		}
		items[i] = item{given, parsed}
	}
	slices.SortStableFunc(items, func(a, b item) int { return a.parsed.Compare(b.parsed) })
	sorted := make([]any, len(items))
	for i, it := range items {
		sorted[i] = it.given
	}
	return sorted, nil
}

// versionOf returns the version in a Lua value, which may be a text.
func versionOf(v lua.LValue) (*semver.Version, error) {
	if ud, ok := v.(*lua.LUserData); ok {
		if v, ok := ud.Value.(*version); ok {
			return v.v, nil
		}
	}
	return semrange.ParseVersion(v.String())
}

// versionArg reads an argument as a version.
func versionArg(c *module.Call, name string) *semver.Version {
	v, err := versionOf(c.Value(name))
	if err != nil {
		c.Raise(fault.Of(&fault.ValueError{}, "argument %s: %w", name, err))
	}
	return v
}

// rangeArg reads an argument as a range.
func rangeArg(c *module.Call, name string) semrange.Range {
	r, err := semrange.Parse(c.String(name))
	if err != nil {
		c.Raise(fault.Of(&fault.ValueError{}, "argument %s: %w", name, err))
	}
	return r
}
