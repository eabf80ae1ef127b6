package client

import (
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/geojson"
	"transect/client/schema"
)

// The words of the declarations, for those who use the client from Go.
type (
	// Op is one operation, called like a method.
	Op[In, Out any] = declare.Op[In, Out]
	// ID is the identifier of one resource.
	ID = schema.ID
	// IDs is one identifier or a list of them.
	IDs = schema.IDs
	// Strings is one text or a list of them.
	Strings = schema.Strings
	// Date is a point in time, "2006-01-02" or RFC 3339.
	Date = schema.Date
	// Path names a local file or folder.
	Path = schema.Path
	// Object is a JSON object.
	Object = schema.Object
	// Geometry is a GeoJSON geometry.
	Geometry = schema.Geometry
	// Drawing is a GeoJSON geometry whose positions need not be degrees.
	Drawing = schema.Drawing
	// Filter is a search filter: property to operator object.
	Filter = schema.Filter
	// Sort is an order of results.
	Sort = schema.Sort
	// Extra are keyword arguments sent as they are.
	Extra = schema.Extra
	// None is the result of operations that return nothing.
	None = declare.None
	// Some is the result of operations on one id or several.
	Some[T any] = declare.Some[T]
	// Page is one page of a search.
	Page[T any] = declare.Page[T]
	// Cursor goes through records, page by page.
	Cursor[T any] = declare.Cursor[T]
	// Record is embedded in every resource: its id, and all that the platform sent.
	Record = declare.Record
)

// SearchOp is a search and its generator.
type SearchOp[In, T any] = declare.Search[In, T]

// Inputs that many managers share. An @ is replaced by what one of a manager's
// resources is called: the argument of projects.describe is project.
type (
	// Ref names one resource.
	Ref struct {
		ID ID `arg:"@,req,pos" doc:"@"`
		Extra
	}
	// Refs names one resource or a list of them.
	Refs struct {
		IDs IDs `arg:"@,req,pos" set:"yes" many:"@s" doc:"@, or a list of @s"`
		Extra
	}
)

// Changes that several managers make alike.
type (
	// Rename renames a resource.
	Rename struct {
		Ref
		Name string `arg:"name,req" doc:"new name"`
	}
	// UpdateBbox sets a bounding box.
	UpdateBbox struct {
		Ref
		RealBbox Geometry `arg:"real_bbox,req" raises:"BoundingBoxError" doc:"bounding box, GeoJSON geometry"`
	}
	// UpdateGeometry sets an outline.
	UpdateGeometry struct {
		Ref
		Geometry Geometry `arg:"geometry,req" doc:"outline, GeoJSON geometry"`
	}
	// UpdateSurveyDate sets when a survey was flown.
	UpdateSurveyDate struct {
		Ref
		SurveyDate Date `arg:"survey_date,req" doc:"new survey date"`
	}
)

// Validate refuses a box without positions.
func (in UpdateBbox) Validate() error {
	if shape, ok := geojson.Shape(in.RealBbox); !ok || shape.Bound().IsEmpty() {
		return fault.Of(&fault.BoundingBoxError{}, "argument real_bbox: the geometry is empty")
	}
	return nil
}

// Query are the arguments of most searches.
type Query struct {
	Filter      Filter `arg:"filter" default:"{}" doc:"conditions: property to operator object, such as {name = {[\"$eq\"] = \"North\"}}"`
	Limit       *int   `arg:"limit" doc:"maximum number of results"`
	Page        *int   `arg:"page" doc:"number of the page to return"`
	Sort        Sort   `arg:"sort" doc:"order of the results: {attribute = 1} ascending, -1 descending"`
	Fields      Object `arg:"fields" doc:"properties to return: {include = {names}} or {exclude = {names}}, not both"`
	ReturnTotal bool   `arg:"return_total" in:"none" default:"false" only:"search" doc:"return {total, results} instead of the list alone"`
	Extra
}

// Validate refuses fields that both include and exclude.
func (q Query) Validate() error { return oneChoice(&fault.SearchError{}, q.Fields) }

func oneChoice(f fault.Fault, fields Object) error {
	if fields["include"] != nil && fields["exclude"] != nil {
		return fault.Of(f, "fields: include and exclude cannot be combined; give one of them")
	}
	for key := range fields {
		if key != "include" && key != "exclude" {
			return fault.Of(f, "fields: unknown key %s, there are include and exclude", key)
		}
	}
	return nil
}

// Tables of a known form that several arguments take.
type (
	// Quantity is a measured value.
	Quantity struct {
		Value *float64 `arg:"value,req" doc:"the number"`
		Unit  string   `arg:"unit,req" doc:"its unit, such as m/s"`
	}
	// Weight is a quantity whose units are few.
	Weight struct {
		Value *float64 `arg:"value,req" doc:"the number"`
		Unit  string   `arg:"unit,req" choices:"g|kg" doc:"its unit"`
	}
	// DateRange is a period of time.
	DateRange struct {
		StartDate Date `arg:"start_date" doc:"when it starts"`
		EndDate   Date `arg:"end_date" doc:"when it ends"`
	}
	// Overlap is how much neighbouring images share.
	Overlap struct {
		Forward *float64 `arg:"forward" doc:"with the next image of the line"`
		Lateral *float64 `arg:"lateral" doc:"with the images of the next line"`
	}
	// Band is a part of the spectrum a sensor sees.
	Band struct {
		Name                 string   `arg:"name" doc:"name of the band"`
		FullWidthHalfMaximum *float64 `arg:"full_width_half_maximum" doc:"width in nanometres where sensitivity is half its peak"`
		CentralWavelength    *float64 `arg:"central_wavelength" doc:"wavelength of its centre in nanometres"`
	}
)

// Validate refuses a period that ends before it starts.
func (in DateRange) Validate() error {
	start, end := in.StartDate.Time(), in.EndDate.Time()
	if !start.IsZero() && !end.IsZero() && end.Before(start) {
		return fault.Of(&fault.ParameterError{}, "end_date %s is before start_date %s", in.EndDate, in.StartDate)
	}
	return nil
}
