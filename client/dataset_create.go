package client

import (
	"fmt"
	"strconv"
	"strings"

	"transect/client/fault"
	"transect/client/schema"
)

// Inputs of dataset creation.
type (
	// DatasetCommon are the arguments every kind of dataset takes.
	DatasetCommon struct {
		Name          string   `arg:"name,req" doc:"name of the dataset"`
		Categories    []string `arg:"categories" set:"yes" doc:"names of categories"`
		Company       ID       `arg:"company" doc:"company that owns it; company or project is needed"`
		Project       ID       `arg:"project" doc:"project it belongs to; company or project is needed"`
		Mission       ID       `arg:"mission" doc:"mission it belongs to"`
		Hidden        *bool    `arg:"hidden" doc:"true keeps it from end users"`
		Published     *bool    `arg:"published" doc:"true when it is ready for delivery"`
		HorizontalSRS string   `arg:"horizontal_srs_wkt" doc:"horizontal reference system, WKT"`
		VerticalSRS   string   `arg:"vertical_srs_wkt" doc:"vertical reference system: WKT, or a name such as egm96, egm2008_feet, wgs84"`
		Format        string   `arg:"dataset_format" wire:"format" doc:"format of the files"`
		Geometry      Geometry `arg:"geometry" doc:"where it is, GeoJSON geometry"`
		Properties    Object   `arg:"properties" doc:"properties of your own"`
		Extra
	}
	CreateDatasets struct {
		Datasets []Object `arg:"datasets,req,pos" doc:"datasets, each {name, type, project, components = {{name = …}}, …}"`
		Extra
	}
	CreateFileDataset struct {
		DatasetCommon
		FileCount  *int  `arg:"file_count" in:"none" default:"1" doc:"number of components: file, or file_0, file_1 and so on"`
		Components []any `arg:"components" in:"none" raises:"TypeError" doc:"names of the components; wins over file_count"`
	}
	CreateImageDataset struct {
		DatasetCommon
		Flight          ID     `arg:"flight" doc:"flight it was taken in"`
		AcquisitionDate Date   `arg:"acquisition_date" omit:"falsy" doc:"when it was taken"`
		Width           *int   `arg:"width" omit:"falsy" doc:"pixels"`
		Height          *int   `arg:"height" omit:"falsy" doc:"pixels"`
		Sensor          Object `arg:"sensor" omit:"falsy" doc:"sensor, from the image's metadata"`
		Lens            Object `arg:"lens" omit:"falsy" doc:"lens, from the image's metadata"`
		Camera          any    `arg:"camera_parameters" type:"object|[]object" wrap:"yes" omit:"falsy" doc:"camera model, or a list of them"`
		Panel           Object `arg:"reflectance_calibration_panel" omit:"falsy" doc:"calibration panel the image shows"`
		ParseMetadata   *bool  `arg:"parse_metadata" wire:"ingestion.parameters.parse_metadata" doc:"fill attributes from the image's own metadata"`
	}
	CreateMeshDataset struct {
		DatasetCommon
		TextureCount  *int      `arg:"texture_count" in:"none" default:"1" doc:"number of texture components"`
		MaterialCount *int      `arg:"material_count" in:"none" default:"1" doc:"number of material components"`
		Offset        []float64 `arg:"offset" doc:"three numbers to add to the coordinates"`
	}
	CreatePclDataset    struct{ DatasetCommon }
	CreateRasterDataset struct {
		DatasetCommon
		Bands             []Object `arg:"bands" omit:"falsy" doc:"description of each band"`
		HasProjectionFile bool     `arg:"has_projection_file" in:"none" default:"false" doc:"there is a projection component"`
		HasWorldfile      bool     `arg:"has_worldfile" in:"none" default:"false" doc:"there is a worldfile component"`
		HasHeaderfile     bool     `arg:"has_headerfile" in:"none" default:"false" doc:"there is a header component"`
	}
	CreateVectorDataset struct {
		DatasetCommon
		Collection        ID   `arg:"collection" in:"none" doc:"collection of features the dataset shows, instead of files"`
		Origin            ID   `arg:"origin" in:"none" doc:"dataset the collection came from"`
		IsShapeFile       bool `arg:"is_shape_file" in:"none" default:"false" doc:"there are database and index components"`
		IsArchive         bool `arg:"is_archive" in:"none" default:"false" doc:"the only component is an archive"`
		HasProjectionFile bool `arg:"has_projection_file" in:"none" default:"false" doc:"there is a projection component"`
	}
)

// Validate requires a company or a project.
func (in DatasetCommon) Validate() error {
	if in.Company == "" && in.Project == "" {
		return fault.Of(&fault.ParameterError{}, "company or project is missing: one of them is needed")
	}
	return nil
}

// finish adds what every creation has: the type, the components, the source,
// and names of vertical reference systems.
func (in DatasetCommon) finish(body map[string]any, kind string, components []any) error {
	body["type"], body["components"] = kind, components
	if source, ok := body["source_name"]; ok {
		delete(body, "source_name")
		body["source"] = map[string]any{"name": source}
	}
	expandVertical(body)
	return nil
}

func expandVertical(dataset map[string]any) {
	if name, ok := dataset["vertical_srs_wkt"].(string); ok {
		dataset["vertical_srs_wkt"] = VerticalWKT(name)
	}
}

func named(names ...string) []any {
	components := make([]any, len(names))
	for i, n := range names {
		components[i] = map[string]any{"name": n}
	}
	return components
}

// counted names n components: none, "file", or "file_0", "file_1" and so on.
func counted(name string, n int) []string {
	if n == 1 {
		return []string{name}
	}
	var names []string
	for i := range n {
		names = append(names, name+"_"+strconv.Itoa(i))
	}
	return names
}

// Shape makes the components from names or a count.
func (in CreateFileDataset) Shape(body map[string]any) error {
	if in.Components == nil {
		return in.finish(body, "file", named(counted("file", *in.FileCount)...))
	}
	components := make([]any, len(in.Components))
	for i, c := range in.Components {
		switch c := c.(type) {
		case string:
			components[i] = map[string]any{"name": c}
		case map[string]any, Object:
			components[i] = c
		default:
			return fault.Of(&fault.TypeError{}, "components: item %d is neither a name nor a table", i+1)
		}
	}
	return in.finish(body, "file", components)
}

// Shape makes the only component.
func (in CreateImageDataset) Shape(body map[string]any) error {
	return in.finish(body, "image", named("image"))
}

// Shape makes the components from the counts.
func (in CreateMeshDataset) Shape(body map[string]any) error {
	names := append([]string{"mesh"}, counted("texture", *in.TextureCount)...)
	return in.finish(body, "mesh", named(append(names, counted("material", *in.MaterialCount)...)...))
}

// Validate requires three numbers for an offset.
func (in CreateMeshDataset) Validate() error {
	if in.Offset != nil && len(in.Offset) != 3 {
		return fault.Of(&fault.ParameterError{}, "argument offset: needs three numbers, got %d", len(in.Offset))
	}
	return in.DatasetCommon.Validate()
}

// Shape makes the only component.
func (in CreatePclDataset) Shape(body map[string]any) error {
	return in.finish(body, "pcl", named("pcl"))
}

// Shape makes the components from the flags.
func (in CreateRasterDataset) Shape(body map[string]any) error {
	names := []string{"raster"}
	names = appendIf(names, in.HasProjectionFile, "projection")
	names = appendIf(names, in.HasWorldfile, "worldfile")
	names = appendIf(names, in.HasHeaderfile, "header")
	return in.finish(body, "raster", named(names...))
}

func appendIf(names []string, when bool, more ...string) []string {
	if when {
		return append(names, more...)
	}
	return names
}

// Validate refuses flags that cannot be combined.
func (in CreateVectorDataset) Validate() error {
	switch {
	case in.Collection != "" && (in.IsShapeFile || in.IsArchive || in.HasProjectionFile || in.Format != ""):
		return fault.Of(&fault.ParameterError{},
			"collection cannot be combined with is_shape_file, is_archive, has_projection_file or dataset_format: "+
				"a collection has no files")
	case in.IsArchive && (in.IsShapeFile || in.HasProjectionFile):
		return fault.Of(&fault.ParameterError{},
			"is_archive cannot be combined with is_shape_file or has_projection_file: the archive holds those files")
	case in.Origin != "" && in.Collection == "":
		return fault.Of(&fault.ParameterError{}, "collection is missing: origin requires it")
	}
	return in.DatasetCommon.Validate()
}

// Shape makes the components from the flags.
func (in CreateVectorDataset) Shape(body map[string]any) error {
	if in.Collection != "" {
		component := map[string]any{"name": "collection", "collection": map[string]any{"id": string(in.Collection)}}
		if in.Origin != "" {
			component["origin"] = map[string]any{"id": string(in.Origin)}
		}
		body["source_name"] = "map-service"
		return in.finish(body, "vector", []any{component})
	}
	names := []string{"vector"}
	if in.IsArchive {
		names = []string{"archive"}
	}
	names = appendIf(names, in.IsShapeFile, "database", "index")
	names = appendIf(names, in.HasProjectionFile, "projection")
	return in.finish(body, "vector", named(names...))
}

// Shape expands names of vertical reference systems, and turns empty tables into lists where the field is one.
func (in CreateDatasets) Shape(body map[string]any) error {
	datasets, _ := body["datasets"].([]any)
	expanded := make([]any, len(datasets))
	for i, d := range datasets {
		own := map[string]any{}
		for k, v := range d.(map[string]any) {
			own[k] = v
			if _, empty := v.(schema.Empty); empty {
				f := RecordTypeOf("datasets").Field(k)
				if f != nil && strings.HasPrefix(f.Type, "list of") {
					own[k] = []any{}
				}
			}
		}
		expandVertical(own)
		expanded[i] = own
	}
	body["datasets"] = expanded
	return nil
}

// Vertical reference systems known by name, and the parts their WKT is made of.
// Codes are the EPSG registry's, grids the platform's.
var verticalDatums = map[string]struct {
	title, datum string
	code         int
	grid         string
	epsg         int
}{
	"arbitrary": {title: "Arbitrary", datum: "Arbitrary", code: 2000},
	"egm96":     {title: "EGM96 geoid", datum: "EGM96 geoid", code: 2005, grid: "egm96_15.gtx", epsg: 5171},
	"egm2008":   {title: "EGM2008 geoid", datum: "EGM2008 geoid", code: 2005, grid: "egm08_25.gtx", epsg: 1027},
	"wgs84":     {title: "WGS84 ellipsoid", datum: "Ellipsoid", code: 2002},
}

var verticalUnits = map[string]struct {
	title, unit, factor string
	epsg                int
}{
	"":         {" (meters)", "metre", "1", 9001},
	"_feet":    {" (feet)", "foot", "0.3048", 9002},
	"_feet_us": {" (feet US)", "US survey foot", "0.3048006096", 9003},
}

// VerticalWKT returns the WKT of a vertical reference system by its name
// (arbitrary, egm96, egm2008 or wgs84, alone or with _feet or _feet_us, in any
// case); any other text is returned unchanged.
func VerticalWKT(name string) string {
	lower := strings.ToLower(name)
	base, suffix := lower, ""
	if i := strings.Index(lower, "_"); i >= 0 {
		base, suffix = lower[:i], lower[i:]
	}
	datum, isDatum := verticalDatums[base]
	unit, ok := verticalUnits[suffix]
	if !isDatum || !ok {
		return name
	}
	title := datum.title + unit.title
	if base == "arbitrary" && suffix == "" {
		title = datum.title
	}
	authority := ""
	if datum.epsg != 0 {
		authority = fmt.Sprintf(`,EXTENSION["PROJ4_GRIDS","%s"],AUTHORITY["EPSG","%d"]`, datum.grid, datum.epsg)
	}
	return fmt.Sprintf(`VERT_CS["%s",VERT_DATUM["%s",%d%s],UNIT["%s",%s,AUTHORITY["EPSG","%d"]],AXIS["Up",UP]]`,
		title, datum.datum, datum.code, authority, unit.unit, unit.factor, unit.epsg)
}
