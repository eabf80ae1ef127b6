package stdlib

import (
	"path/filepath"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/formats/imagery"
	"transect/client/geodesic"
	"transect/runtime/module"
)

// viewOptions are the properties of a view that a script may override.
var viewOptions = []module.Param{
	{Name: "height", Type: "number",
		Doc: "metres above the ground; else relative_altitude, which is above the take-off point", Optional: true},
	{Name: "ground", Type: "number", Doc: "metres above sea level of the ground, from which altitude gives the height",
		Optional: true},
	{Name: "yaw", Type: "number", Doc: "degrees clockwise from north", Optional: true},
	{Name: "pitch", Type: "number", Doc: "degrees; 0 is level, -90 straight down", Optional: true},
	{Name: "roll", Type: "number", Doc: "degrees clockwise", Optional: true},
	{Name: "focal_length_35", Type: "number", Doc: "mm, for a 35 mm frame", Optional: true},
	{Name: "sensor_width", Type: "number", Doc: "mm, which goes with focal_length", Optional: true},
	{Name: "missing", Type: "string",
		Doc: "what missing facts do: error raises; assume takes a circle, of 50 m where height or lens are unknown, and " +
			"lists them in assumed", Default: "error", Choices: []string{"error", "assume"}},
}

var footprintFunc = module.Func{
	Name: "footprint", Doc: "Estimates the ground that one photo shows: the rays of its corners down to flat ground, " +
		"from position, height, angles and lens. " +
		"It ends 75 degrees from straight down; a photo of the sky is a ValueError. So is one with too little metadata: " +
		"the message names what is missing, and an option can give it.",
	Params: []module.Param{{Name: "photo", Type: "string|table", Doc: "a file, or what read, scan or each gave"},
		{Name: "options", Fields: viewOptions}},
	Returns: "a Feature with the polygon, and as properties name, area (square metres), height (metres), " +
		"ground_sample_distance (metres of ground a pixel in the middle shows), " +
		"cut (whether it shows more, farther away) and assumed (a list of the unknown facts)",
	Call: footprint,
}

func footprint(c *module.Call) (any, error) {
	p, name := photoArgument(c)
	applyViewOptions(c, &p)
	o := p.Outline()
	assumed := make([]string, len(o.Missing))
	for i, f := range o.Missing {
		assumed[i] = string(f)
	}
	switch {
	case !p.HasPosition:
		return nil, fault.Hinted(fault.Of(&fault.ValueError{}, "%s has no position", name),
			"write it into the photo's EXIF record, or pass a table with latitude and longitude")
	case len(assumed) > 0 && c.String("missing") == "error":
		return nil, fault.Hinted(fault.Of(&fault.ValueError{}, "%s has no %s", name, joinList(assumed)), "%s",
			viewHint(o.Missing))
	case o.Ring == nil:
		return nil, fault.Of(&fault.ValueError{}, "%s shows the sky or the horizon (pitch %v), and no ground nearby",
			name, *p.Pitch)
	}
	properties := map[string]any{"name": name, "area": geodesic.Area(o.Ring), "cut": o.Cut, "assumed": assumed}
	for name, v := range map[string]float64{"height": o.Height, "ground_sample_distance": o.Pixel} {
		if v > 0 {
			properties[name] = v
		}
	}
	return map[string]any{"type": "Feature", "properties": properties,
		"geometry": map[string]any{"type": "Polygon", "coordinates": []any{o.Ring}}}, nil
}

// viewHint explains how to supply missing facts.
func viewHint(facts []imagery.Fact) string {
	options := map[imagery.Fact]string{
		imagery.FactHeight: "height = metres above the ground, or ground = the ground's metres above sea level",
		imagery.FactView:   "focal_length_35 = mm, or sensor_width = mm",
		imagery.FactYaw:    "yaw = degrees",
		imagery.FactPitch:  "pitch = -90 for a camera that looks straight down",
	}
	var parts []string
	for _, f := range facts {
		if option, ok := options[f]; ok {
			parts = append(parts, option)
		}
	}
	return "pass " + strings.Join(parts, "; ") + "; or missing = \"assume\" for a circle"
}

// joinList joins a list for people.
func joinList(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

// photoArgument returns the photo of a call: read from its file, or from a table returned by read.
func photoArgument(c *module.Call) (p imagery.Photo, name string) {
	t := c.Table("photo")
	if t == nil {
		return readPhoto(c, c.String("photo")), filepath.Base(c.String("photo"))
	}
	name = "the photo"
	if text, ok := t.RawGetString("name").(lua.LString); ok {
		name = string(text)
	}
	number := func(field string) *float64 {
		v := t.RawGetString(field)
		n, ok := v.(lua.LNumber)
		if !ok && v != lua.LNil {
			c.Raise(fault.Of(&fault.ParameterError{}, "argument photo: %s must be a number, got a %s", field, v.Type()))
		}
		if !ok {
			return nil
		}
		return new(float64(n))
	}
	plain := func(field string) float64 {
		if n := number(field); n != nil {
			return *n
		}
		return 0
	}
	if lat, lon := number("latitude"), number("longitude"); lat != nil && lon != nil {
		if !(*lat >= -90 && *lat <= 90 && *lon >= -180 && *lon <= 180) {
			c.Raise(fault.Of(&fault.ValueError{}, "argument photo: latitude %v and longitude %v are not on the globe", *lat,
				*lon))
		}
		p.HasPosition, p.Latitude, p.Longitude = true, *lat, *lon
	}
	p.Width, p.Height = int(plain("width")), int(plain("height"))
	for name, to := range photoNumbers(&p) {
		*to = number(name)
	}
	for name, to := range photoLens(&p) {
		*to = plain(name)
	}
	return p, name
}

// applyViewOptions overrides a photo's values with the given options.
func applyViewOptions(c *module.Call, p *imagery.Photo) {
	for name, to := range photoNumbers(p) {
		if c.Has(name) {
			*to = new(c.Number(name))
		}
	}
	for name, to := range photoLens(p) {
		if !c.Has(name) {
			continue
		}
		if *to = c.Number(name); !(*to > 0) {
			c.Raise(fault.Of(&fault.ParameterError{}, "option %s must be positive, got %v", name, *to))
		}
	}
	if c.Has("sensor_width") && !c.Has("focal_length_35") {
		p.FocalLength35 = 0 // the script's camera takes precedence
	}
	switch {
	case c.Has("height") && c.Has("ground"):
		c.Raise(fault.Of(&fault.ParameterError{}, "give either height or ground"))
	case c.Has("height"):
		p.RelativeAltitude = new(c.Number("height"))
	case c.Has("ground"):
		if p.Altitude == nil {
			c.Raise(fault.Of(&fault.ValueError{},
				"the photo has no altitude to compute the height from"))
		}
		p.RelativeAltitude = new(*p.Altitude - c.Number("ground"))
	default:
		return
	}
	if h := *p.RelativeAltitude; !(h > 0) {
		c.Raise(fault.Of(&fault.ParameterError{}, "the height above the ground must be positive, got %v", h))
	}
}
