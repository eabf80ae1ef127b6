package stdlib

import (
	"context"
	"slices"
	"strings"

	"github.com/paulmach/orb"
	lua "github.com/yuin/gopher-lua"

	"transect/client/atomicfile"
	"transect/client/fault"
	"transect/client/formats"
	"transect/client/geojson"
	"transect/client/schema"
	"transect/client/suggest"
	"transect/runtime/engine/table"
	"transect/runtime/module"
	"transect/runtime/vm"
)

// geoPackage is a GeoPackage being written, in the temporary file that close moves to its name.
type geoPackage struct {
	name    string
	file    *atomicfile.File
	data    *formats.Package
	columns map[string][]formats.Column // of each table
	closed  bool
}

// columnTypes are the types of columns by their names in scripts.
var columnTypes = map[string]string{"string": "TEXT", "integer": "INTEGER", "number": "REAL", "boolean": "BOOLEAN",
	"time": "DATETIME"}

// geometries are the types of the geometries of a table.
var geometries = []string{"Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon",
	"GeometryCollection", "Geometry"}

var geoPackageFunc = module.Func{
	Name: "geopackage",
	Doc: "Begins a GeoPackage: tables of features in longitude and latitude, which GDAL and QGIS open. Heights of " +
		"geometries are left out.",
	Params: []module.Param{pathParam("the file, written by close"),
		{Name: "tables", Type: "table", Doc: "a list of { name, geometry, columns }: geometry is Point, LineString, " +
			"Polygon, another type of GeoJSON, Geometry for any, or nothing; columns is a list of { name, type }, where " +
			"type is string, integer, number, boolean or time (text in ISO 8601)"}},
	Returns: "a geopackage",
	Call:    func(c *module.Call) (any, error) { return createGeoPackage(c) },
}

var geoPackageType = &module.Type{
	Name: "geopackage", Doc: "A GeoPackage that is written feature by feature.",
	Methods: []module.Func{
		{
			Name: "add", Doc: "Adds a feature to a table.",
			Params: []module.Param{{Name: "table", Type: "string", Doc: "its name"},
				{Name: "row", Type: "table", Doc: "the values by column, and its geometry; absent ones are empty"}},
			Call: func(c *module.Call) (any, error) { return nil, c.Self.(*geoPackage).add(c) },
		},
		{
			Name: "close", Doc: "Moves the file to its name. Further calls do nothing.",
			Call: func(c *module.Call) (any, error) { return nil, c.Self.(*geoPackage).close(c) },
		},
		{
			Name: "discard", Doc: "Discards what was written; an existing file stays unchanged.",
			Call: func(c *module.Call) (any, error) { c.Self.(*geoPackage).discard(); return nil, nil },
		},
	},
	Text: func(self any) string { return "geopackage (" + self.(*geoPackage).name + ")" },
}

func createGeoPackage(c *module.Call) (any, error) {
	p := &geoPackage{name: c.String("path"), file: changeAt(c, c.In.Create), columns: map[string][]formats.Column{}}
	complete := false
	defer func() {
		if !complete {
			p.discard()
		}
	}()
	var err error
	if p.data, err = formats.CreatePackage(context.WithoutCancel(c.Context()), p.file.Name()); err != nil {
		return nil, err
	}
	list := c.Table("tables")
	for i := range table.Length(list) {
		if err := p.table(c, table.Element(list, i+1)); err != nil {
			return nil, err
		}
	}
	complete = true
	in := c.In
	in.OnClose(func() {
		if !p.closed {
			in.Options().Logger.Warn("geo: " + p.name + " was never closed, so it was not written")
			p.discard()
		}
	})
	return module.NewObject(c.L, geoPackageType, p), nil
}

// table adds one of the tables that were given.
func (p *geoPackage) table(c *module.Call, v lua.LValue) error {
	t, ok := v.(*lua.LTable)
	if !ok {
		return fault.Of(&fault.ParameterError{}, "each of tables must be a table { name, geometry, columns }")
	}
	name, kind := t.RawGetString("name"), t.RawGetString("geometry")
	list, ok := t.RawGetString("columns").(*lua.LTable)
	if _, text := name.(lua.LString); !text || !ok {
		return fault.Of(&fault.ParameterError{}, "each of tables needs a name and columns")
	}
	geometry := ""
	if kind != lua.LNil {
		if !slices.Contains(geometries, kind.String()) {
			return fault.Of(&fault.ParameterError{}, "table %s: there is no geometry %s%s", name, kind,
				suggest.Suffix(kind.String(), geometries))
		}
		geometry = strings.ToUpper(kind.String())
	}
	columns := make([]formats.Column, table.Length(list))
	for i := range columns {
		pair, ok := table.Element(list, i+1).(*lua.LTable)
		if !ok {
			return fault.Of(&fault.ParameterError{}, "table %s: column %d must be { name, type }", name, i+1)
		}
		kind := table.Element(pair, 2).String()
		columns[i] = formats.Column{Name: table.Element(pair, 1).String(), Type: columnTypes[kind]}
		if columns[i].Type == "" {
			types := schema.SortedKeys(columnTypes)
			return fault.Of(&fault.ParameterError{}, "table %s, column %s: there is no type %s%s", name, columns[i].Name, kind,
				suggest.Suffix(kind, types))
		}
	}
	p.columns[name.String()] = columns
	return p.data.Table(c.Context(), name.String(), geometry, columns)
}

func (p *geoPackage) add(c *module.Call) error {
	name, row := c.String("table"), c.Table("row")
	columns, ok := p.columns[name]
	switch {
	case p.closed:
		return fault.Of(&fault.RuntimeError{}, "%s is closed already", p.name)
	case !ok:
		return fault.Of(&fault.ParameterError{}, "there is no table %s%s", name,
			suggest.Suffix(name, schema.SortedKeys(p.columns)))
	}
	values, known := make([]any, len(columns)), 0
	for i, column := range columns {
		v := row.RawGetString(column.Name)
		if v != lua.LNil {
			known++
		}
		var err error
		if values[i], err = columnValue(column, v); err != nil {
			return err
		}
	}
	var g orb.Geometry
	if v := row.RawGetString("geometry"); v != lua.LNil {
		known++
		if v != vm.Null {
			value, err := vm.FromLua(c.L, v)
			if err != nil {
				return err
			}
			object, _ := value.(map[string]any)
			if g, ok = geojson.Shape(object); !ok {
				return fault.Of(&fault.ValueError{}, "geometry is not GeoJSON")
			}
		}
	}
	if err := p.unknown(name, row, known); err != nil {
		return err
	}
	vm.Work(c.L, len(columns))
	return p.data.Add(context.WithoutCancel(c.Context()), name, g, values)
}

// unknown refuses a row with keys that are not columns.
func (p *geoPackage) unknown(name string, row *lua.LTable, known int) (err error) {
	given := 0
	row.ForEach(func(lua.LValue, lua.LValue) { given++ })
	if given == known {
		return nil
	}
	names := []string{"geometry"}
	for _, column := range p.columns[name] {
		names = append(names, column.Name)
	}
	row.ForEach(func(k, _ lua.LValue) {
		if err == nil && !slices.Contains(names, k.String()) {
			err = fault.Of(&fault.ParameterError{}, "table %s has no column %s%s", name, k, suggest.Suffix(k.String(), names))
		}
	})
	return err
}

// columnValue converts a value for its column.
func columnValue(column formats.Column, v lua.LValue) (any, error) {
	switch v := v.(type) {
	case *lua.LNilType:
		return nil, nil
	case lua.LBool:
		if column.Type == "BOOLEAN" {
			return bool(v), nil
		}
	case lua.LNumber:
		switch {
		case column.Type == "INTEGER" && v == lua.LNumber(int64(v)):
			return int64(v), nil
		case column.Type == "REAL":
			return float64(v), nil
		case column.Type == "TEXT":
			return v.String(), nil
		}
	case *lua.LUserData:
		if v == vm.Null {
			return nil, nil
		}
	}
	if text, ok := fieldText(v); ok && (column.Type == "TEXT" || column.Type == "DATETIME") {
		return text, nil
	}
	return nil, fault.Of(&fault.ParameterError{}, "column %s cannot hold %s", column.Name, vm.TypeName(v))
}

func (p *geoPackage) close(c *module.Call) error {
	if p.closed {
		return nil
	}
	defer p.discard()
	return namedFile(p.name, c.Blocking(func(ctx context.Context) error {
		if err := p.data.Close(ctx); err != nil {
			return err
		}
		return p.file.Commit()
	}))
}

func (p *geoPackage) discard() {
	if p.closed {
		return
	}
	p.closed = true
	if p.data != nil {
		p.data.Discard()
	}
	p.file.Discard()
}
