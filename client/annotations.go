package client

import (
	"cmp"
	"encoding/json"

	"transect/client/fault"
)

// Annotations are drawings on a map, a model or an image of a project.
type Annotations struct {
	Create             Op[CreateAnnotation, Annotation]      `create:"create-annotation" unknown:"search project,name,type" composed:"yes" raises:"ValueError: a colour or an opacity is out of range" doc:"Create an annotation. Files are uploaded as datasets first and attached."`
	CreateAnnotations  Op[CreateAnnotations, []Annotation]   `create:"create-annotations" unknown:"search project,name,type" composed:"yes" doc:"Create many annotations in one request. Their files are uploaded as datasets first and attached."`
	AddAttachments     Op[AddAnnotationAttachments, None]    `set:"add-attachments" unknown:"probe attachments" composed:"yes" doc:"Attach datasets and files to an annotation. Files are uploaded as datasets first."`
	RemoveAttachments  Op[RemoveAnnotationAttachments, None] `set:"remove-attachments" does:"delete" doc:"Detach datasets from an annotation."`
	Delete             Op[AnnotationList, None]              `delete:"delete-annotations" chunk:"100" doc:"Delete one annotation or a list of annotations. They can be restored."`
	Restore            Op[AnnotationList, None]              `set:"restore-annotations" unknown:"probe deletion_date=none" doc:"Restore deleted annotations."`
	Describe           Op[Refs, Some[Annotation]]            `read:"describe-annotation|describe-annotations" chunk:"1000" doc:"Describe one annotation or a list of annotations."`
	Rename             Op[Rename, None]                      `set:"rename-annotation" doc:"Rename an annotation."`
	Search             SearchOp[AnnotationQuery, Annotation] `read:"search-annotations" page:"1" doc:"Find annotations."`
	SetDescription     Op[SetAnnotationDescription, None]    `set:"set-annotation-description" doc:"Set the description."`
	SetFillColor       Op[SetAnnotationFill, None]           `set:"set-annotation-fill" does:"annotations.set_fill_opacity" doc:"Set the fill colour, and its opacity if given."`
	SetFillOpacity     Op[SetAnnotationFillOpacity, None]    `set:"set-annotation-fill-opacity" doc:"Set the opacity of the fill."`
	SetGeometry        Op[SetAnnotationGeometry, None]       `set:"set-annotation-geometry" doc:"Set the geometry."`
	SetIcon            Op[SetAnnotationIcon, None]           `set:"set-annotation-icon" doc:"Set the icon of a point annotation."`
	SetNormals         Op[SetAnnotationNormals, None]        `set:"set-annotation-normals" doc:"Set the normals of a 3d annotation."`
	SetStrokeColor     Op[SetAnnotationStroke, None]         `set:"set-annotation-stroke" does:"annotations.set_stroke_opacity" doc:"Set the stroke colour, and its opacity if given."`
	SetStrokeDasharray Op[SetAnnotationDashes, None]         `set:"set-annotation-stroke-dasharray" doc:"Set the dashes of the stroke."`
	SetStrokeOpacity   Op[SetAnnotationStrokeOpacity, None]  `set:"set-annotation-stroke-opacity" doc:"Set the opacity of the stroke."`
	SetStrokeWidth     Op[SetAnnotationStrokeWidth, None]    `set:"set-annotation-stroke-width" doc:"Set the width of the stroke."`
}

// Inputs of the annotation operations.
type (
	CreateAnnotation struct {
		Project       ID          `arg:"project,req" doc:"project it belongs to"`
		Mission       ID          `arg:"mission" doc:"mission it belongs to"`
		Geometry      Drawing     `arg:"geometry" null:"send" doc:"what is drawn, GeoJSON geometry; in degrees for type 2d"`
		Stroke        []int       `arg:"stroke" doc:"colour of the line: red, green, blue and optionally alpha, 0 to 255"`
		Dashes        []int       `arg:"stroke_dasharray" doc:"lengths of dashes and gaps of the line"`
		Icon          string      `arg:"icon" doc:"icon of a point: a name such as CONVEYOR, sdk.Icons.CONVEYOR, or a string; the platform shows ANNOTATE when absent"`
		StrokeWidth   *float64    `arg:"stroke_width" doc:"width of the line"`
		StrokeOpacity *float64    `arg:"stroke_opacity" doc:"opacity of the line, 0 to 1"`
		Fill          []int       `arg:"fill" doc:"colour of the area: red, green, blue and optionally alpha, 0 to 255"`
		FillOpacity   *float64    `arg:"fill_opacity" doc:"opacity of the area, 0 to 1"`
		Type          string      `arg:"type" default:"2d" choices:"2d|3d|image" raises:"ValueError" doc:"what it is drawn on: a map, a model or an image"`
		Target        any         `arg:"target" type:"id|object" doc:"dataset it is drawn on; or {type, id}"`
		Name          *string     `arg:"name" doc:"name of the annotation"`
		Description   *string     `arg:"description" doc:"description"`
		Followers     []ID        `arg:"followers" set:"yes" doc:"users notified of changes"`
		Attachments   []ID        `arg:"attachments" set:"yes" doc:"datasets to attach"`
		Normals       [][]float64 `arg:"normals" doc:"for type 3d: a vector of three numbers for each vertex"`
		FilePaths     []Path      `arg:"file_paths" in:"none" doc:"files to upload and attach, each as a dataset named after the file"`
		Extra
	}
	CreateAnnotations struct {
		Annotations []CreateAnnotation `arg:"annotations,req,pos" doc:"annotations, each a table with the arguments of create"`
		Extra
	}
	AddAnnotationAttachments struct {
		Ref
		Attachments []ID   `arg:"attachments" set:"yes" doc:"datasets to attach"`
		FilePaths   []Path `arg:"file_paths" in:"none" doc:"files to upload and attach, each as a dataset named after the file"`
	}
	RemoveAnnotationAttachments struct {
		Ref
		Attachments IDs `arg:"attachments,req" set:"yes" doc:"dataset to detach, or a list of datasets"`
	}
	AnnotationList struct {
		Annotation IDs `arg:"annotation,req,pos" set:"yes" wire:"annotations" wrap:"yes" doc:"annotation, or a list of annotations"`
		Extra
	}
	AnnotationQuery struct {
		Query
		Project ID `arg:"project" wire:"filter.project.$eq" only:"search" doc:"project, in place of a filter"`
	}
	SetAnnotationDescription struct {
		Ref
		Description string `arg:"description,req" doc:"new description"`
	}
	SetAnnotationFill struct {
		Ref
		Color   []int    `arg:"color,req" wire:"fill" doc:"red, green and blue, 0 to 255"`
		Opacity *float64 `arg:"opacity" in:"none" doc:"opacity of the fill, 0 to 1"`
	}
	SetAnnotationFillOpacity struct {
		Ref
		Opacity float64 `arg:"opacity,req" wire:"fill_opacity" doc:"opacity of the fill, 0 to 1"`
	}
	SetAnnotationGeometry struct {
		Ref
		Geometry Drawing `arg:"geometry,req" doc:"what is drawn, GeoJSON geometry"`
	}
	SetAnnotationIcon struct {
		Ref
		Icon string `arg:"icon" default:"ANNOTATE" doc:"a name such as CONVEYOR, sdk.Icons.CONVEYOR, or a string"`
	}
	SetAnnotationNormals struct {
		Ref
		Normals [][]float64 `arg:"normals,req" doc:"a vector of three numbers for each vertex"`
	}
	SetAnnotationStroke struct {
		Ref
		Color   []int    `arg:"color,req" wire:"stroke" doc:"red, green and blue, 0 to 255"`
		Opacity *float64 `arg:"opacity" in:"none" doc:"opacity of the line, 0 to 1"`
	}
	SetAnnotationDashes struct {
		Ref
		Dashes []float64 `arg:"dasharray,req" wire:"stroke_dasharray" doc:"lengths of dashes and gaps"`
	}
	SetAnnotationStrokeOpacity struct {
		Ref
		Opacity float64 `arg:"opacity,req" wire:"stroke_opacity" doc:"opacity of the line, 0 to 1"`
	}
	SetAnnotationStrokeWidth struct {
		Ref
		Width float64 `arg:"width,req" wire:"stroke_width" doc:"width of the line"`
	}
)

// Annotation is a drawing on a map, a model or an image of a project.
type Annotation struct {
	Record        `doc:"Drawing on a map, a model or an image of a project."`
	Project       string          `json:"project" type:"id" doc:"project it belongs to"`
	Mission       string          `json:"mission" type:"id" doc:"mission it belongs to"`
	Type          string          `json:"type" choices:"2d|3d|image" doc:"what it is drawn on"`
	Geometry      json.RawMessage `json:"geometry" type:"geometry" doc:"what is drawn"`
	Stroke        []float64       `json:"stroke" doc:"colour of the line: red, green, blue and perhaps opacity"`
	Dashes        []float64       `json:"stroke_dasharray" doc:"lengths of dashes and gaps of the line"`
	StrokeWidth   float64         `json:"stroke_width" doc:"width of the line"`
	StrokeOpacity float64         `json:"stroke_opacity" doc:"opacity of the line, 0 to 1"`
	Fill          []float64       `json:"fill" doc:"colour of the area: red, green, blue and perhaps opacity"`
	FillOpacity   float64         `json:"fill_opacity" doc:"opacity of the area, 0 to 1"`
	Icon          string          `json:"icon" doc:"icon of a point, as it travels: delair::icon::annotate"`
	Target        struct {
		Type string `json:"type" doc:"kind of what it is drawn on"`
		ID   string `json:"id" type:"id" doc:"what it is drawn on"`
	} `json:"target" doc:"what it is drawn on"`
	Name        string      `json:"name" doc:"name of the annotation"`
	Description string      `json:"description" doc:"description"`
	Followers   []string    `json:"followers" type:"[]id" doc:"users who follow it"`
	Attachments []string    `json:"attachments" type:"[]id" doc:"datasets attached to it"`
	Normals     [][]float64 `json:"normals" doc:"a vector of three numbers for each vertex, of type 3d"`
	Company     string      `json:"company" type:"id" doc:"company that owns it"`
	History
}

// colour checks a list of 3 or 4 integers.
func colour(argument string, c []int) error {
	if c == nil {
		return nil
	}
	if len(c) != 3 && len(c) != 4 {
		return fault.Of(&fault.ParameterError{}, "argument %s: needs red, green, blue and optionally alpha, got %d numbers",
			argument, len(c))
	}
	for i, n := range c {
		if n < 0 || n > 255 {
			return fault.Of(&fault.ValueError{}, "argument %s: number %d is %d, outside 0 to 255", argument, i+1, n)
		}
	}
	return nil
}

func opacity(argument string, o *float64) error {
	if o != nil && (*o < 0 || *o > 1) {
		return fault.Hinted(fault.Of(&fault.ValueError{}, "argument %s: %v is outside 0 to 1", argument, *o),
			"0 is invisible, 1 hides what is below")
	}
	return nil
}

// vectors checks normals.
func vectors(argument string, list [][]float64) error {
	for i, v := range list {
		if len(v) != 3 {
			return fault.Of(&fault.ParameterError{}, "argument %s: item %d needs three numbers, got %d", argument, i+1, len(v))
		}
	}
	return nil
}

// Validate checks colours, opacities, normals, the icon, and on a map that the
// geometry is within the globe's bounds.
func (in CreateAnnotation) Validate() error {
	if in.Type == "2d" && in.Geometry != nil {
		if err := Geometry(in.Geometry).Check(); err != nil {
			return fault.Of(&fault.QueryError{}, "argument geometry: %w", err)
		}
	}
	_, unknown := IconText(in.Icon)
	return cmp.Or(unknown, colour("stroke", in.Stroke), colour("fill", in.Fill),
		opacity("stroke_opacity", in.StrokeOpacity), opacity("fill_opacity", in.FillOpacity), vectors("normals", in.Normals))
}

// Shape writes the icon's text and spells out a target that is a dataset.
func (in CreateAnnotation) Shape(body map[string]any) error {
	if dataset, ok := in.Target.(string); ok {
		body["target"] = map[string]any{"type": "dataset", "id": dataset}
	}
	return putIcon(body)
}

// Validate requires an attachment.
func (in AddAnnotationAttachments) Validate() error {
	if in.Attachments == nil && in.FilePaths == nil {
		return fault.Of(&fault.ParameterError{}, "attachments or file_paths is missing: one of them is needed")
	}
	return nil
}

// Validate checks the icon.
func (in SetAnnotationIcon) Validate() error {
	_, err := IconText(in.Icon)
	return err
}

// Shape writes the icon's text.
func (SetAnnotationIcon) Shape(body map[string]any) error { return putIcon(body) }

// Validate checks the normals.
func (in SetAnnotationNormals) Validate() error { return vectors("normals", in.Normals) }

// Validate checks the colour.
func (in SetAnnotationFill) Validate() error { return seeThrough(in.Color, in.Opacity) }

// Shape appends the opacity to the colour.
func (in SetAnnotationFill) Shape(body map[string]any) error {
	appendOpacity(body, "fill", in.Opacity)
	return nil
}

// Validate checks the colour.
func (in SetAnnotationStroke) Validate() error { return seeThrough(in.Color, in.Opacity) }

// Shape appends the opacity to the colour.
func (in SetAnnotationStroke) Shape(body map[string]any) error {
	appendOpacity(body, "stroke", in.Opacity)
	return nil
}

// seeThrough checks a colour that comes with an opacity.
func seeThrough(c []int, o *float64) error {
	if o != nil && len(c) == 4 {
		return fault.Of(&fault.ParameterError{},
			"argument opacity: the colour has four numbers already, the fourth is its opacity")
	}
	return cmp.Or(colour("color", c), opacity("opacity", o))
}

// appendOpacity makes the opacity the fourth number of a colour.
func appendOpacity(body map[string]any, key string, o *float64) {
	if c, ok := body[key].([]any); ok && o != nil {
		body[key] = append(c[:len(c):len(c)], *o)
	}
}

// Validate checks the opacity.
func (in SetAnnotationFillOpacity) Validate() error { return opacity("opacity", &in.Opacity) }

// Validate checks the opacity.
func (in SetAnnotationStrokeOpacity) Validate() error { return opacity("opacity", &in.Opacity) }
