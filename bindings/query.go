package bindings

import (
	"maps"
	"math"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/schema"
	"transect/runtime/module"
)

// queryModule builds readable search filters. The results are plain filter tables: they can be printed,
// stored, and mixed with hand-written ones.
var queryModule = &module.Module{
	Name: "query",
	Doc: "Readable filters for searches. A condition names a property, dotted when nested; conditions used " +
		"together must all hold: " +
		"q.all(q.eq(\"type\", \"image\"), q.match(\"name\", \"dji\")).",
	Lazy: queryFuncs,
}

func queryFuncs() []module.Func {
	return append(comparisons(),
		module.Func{
			Name: "between", Doc: "The property is between two values, inclusive.",
			Params: []module.Param{property, {Name: "low", Type: "any", Doc: "a number, or a date as text"},
				{Name: "high", Type: "any", Doc: "of the same kind"}},
			Returns: "a filter",
			Call: func(c *module.Call) (any, error) {
				if c.Value("low") == lua.LNil || c.Value("high") == lua.LNil {
					return nil, fault.Of(&fault.ParameterError{}, "low and high must be given; for an open end use gte or lte")
				}
				return between(c.String("property"), c.Value("low"), c.Value("high")), nil
			},
		},
		module.Func{
			Name: "exists", Doc: "The property is present, or with false absent.",
			Params:  []module.Param{property, {Name: "there", Type: "boolean", Doc: "false finds what lacks it", Default: true}},
			Returns: "a filter",
			Call: func(c *module.Call) (any, error) {
				return condition(c.String("property"), "$exists", c.Bool("there")), nil
			},
		},
		module.Func{
			Name: "near",
			Doc: "The property, a point's coordinates, is in a square around a position. It suits geometry.coordinates.0 " +
				"and .1 of images.",
			Params: []module.Param{
				{Name: "longitude", Type: "number", Doc: "degrees"}, {Name: "latitude", Type: "number", Doc: "degrees"},
				{Name: "metres", Type: "number", Doc: "half the side of the square"},
				{Name: "property", Type: "string", Doc: "the geometry", Default: "geometry"},
			},
			Returns: "a filter",
			Call:    near,
		},
		module.Func{
			Name: "all", Doc: "All the filters hold.",
			Params:  []module.Param{{Name: "...", Type: "table", Doc: "filters"}},
			Returns: "a filter",
			Call:    func(c *module.Call) (any, error) { return combined(c, "$and") },
		},
		module.Func{
			Name: "any", Doc: "One of the filters holds, or several.",
			Params:  []module.Param{{Name: "...", Type: "table", Doc: "filters"}},
			Returns: "a filter",
			Call:    func(c *module.Call) (any, error) { return combined(c, "$or") },
		},
	)
}

var property = module.Param{Name: "property", Type: "string", Doc: "such as name or ingestion.status"}

// comparisons declares the operators with one value.
func comparisons() []module.Func {
	var funcs []module.Func
	for _, o := range []struct{ name, doc, value, typ string }{
		{"eq", "The property equals the value.", "a string, number, boolean or resource", "any"},
		{"ne", "The property differs from the value, or is absent.", "a string, number, boolean or resource", "any"},
		{"gt", "The property is greater than the value.", "a number, or a date as text", "any"},
		{"gte", "The property is the value or greater.", "a number, or a date as text", "any"},
		{"lt", "The property is less than the value.", "a number, or a date as text", "any"},
		{"lte", "The property is the value or less.", "a number, or a date as text", "any"},
		{"match", "The property contains the text, in any case.", "part of the text", "string"},
		{"in", "The property is one of the values.", "a list", "table"},
		{"nin", "The property is not one of the values.", "a list", "table"},
	} {
		name := o.name
		if name == "in" { // a word of Lua's own
			name = "one_of"
		} else if name == "nin" {
			name = "none_of"
		}
		funcs = append(funcs, module.Func{
			Name: name, Doc: o.doc,
			Params:  []module.Param{property, {Name: "value", Type: schema.Type(o.typ), Doc: o.value}},
			Returns: "a filter",
			Call: func(c *module.Call) (any, error) {
				if c.Value("value") == lua.LNil {
					return nil, fault.Hinted(fault.Of(&fault.ParameterError{}, "the value is nil"),
						"exists(property, false) finds what lacks a property")
				}
				property := c.String("property")
				if ud, ok := c.Value("value").(*lua.LUserData); ok {
					if r, ok := ud.Value.(*resource); ok {
						if why := wrongKind(r, property); why != "" {
							return nil, fault.Of(&fault.ParameterError{}, "%s", why)
						}
					}
				}
				return condition(property, "$"+o.name, c.Value("value")), nil
			},
		})
	}
	return funcs
}

func condition(property, operator string, value any) map[string]any {
	return map[string]any{property: map[string]any{operator: value}}
}

func between(property string, low, high any) map[string]any {
	return map[string]any{property: map[string]any{"$gte": low, "$lte": high}}
}

func combined(c *module.Call, operator string) (any, error) {
	if len(c.Rest()) == 0 {
		return nil, fault.Of(&fault.ParameterError{}, "needs one filter or more")
	}
	var list []any
	for i, f := range c.Rest() {
		if f.Type() != lua.LTTable {
			return nil, fault.Of(&fault.ParameterError{}, "filter %d is a %s, not a table", i+1, f.Type())
		}
		list = append(list, f)
	}
	return map[string]any{operator: list}, nil
}

// metresPerDegree is the length of a degree of latitude on a sphere of the
// Earth's mean radius, 6,371,008.8 m (IUGG).
const metresPerDegree = math.Pi * 6371008.8 / 180

// near bounds longitude and latitude of a point. The platform has no operator
// for distances; its comparisons can express a square.
func near(c *module.Call) (any, error) {
	longitude, latitude, metres := c.Number("longitude"), c.Number("latitude"), c.Number("metres")
	if math.Abs(latitude) > 89 || math.Abs(longitude) > 180 || metres <= 0 {
		return nil, fault.Of(&fault.ParameterError{},
			"needs a longitude, a latitude up to 89 degrees, and a distance above 0; got %v, %v, %v", longitude, latitude,
			metres)
	}
	north := metres / metresPerDegree
	east := north / math.Cos(latitude*math.Pi/180)
	point := c.String("property") + ".coordinates."
	square := between(point+"0", longitude-east, longitude+east)
	maps.Copy(square, between(point+"1", latitude-north, latitude+north))
	return square, nil
}
