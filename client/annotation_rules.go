package client

import (
	"cmp"

	"transect/client/fault"
)

// colour checks a list of 3 or 4 integers.
func colour(argument string, c []int) error {
	if c == nil {
		return nil
	}
	if len(c) != 3 && len(c) != 4 {
		return fault.Of(&fault.ParameterError{}, "argument %s: wants red, green, blue and perhaps alpha, got %d numbers", argument, len(c))
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
			return fault.Of(&fault.ParameterError{}, "argument %s: item %d wants three numbers, got %d", argument, i+1, len(v))
		}
	}
	return nil
}

// Validate checks colours, opacities, normals, the icon, and on a map that the
// geometry lies on the globe.
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

// Validate wants something to attach.
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

// seeThrough checks a colour with an opacity beside it.
func seeThrough(c []int, o *float64) error {
	if o != nil && len(c) == 4 {
		return fault.Of(&fault.ParameterError{}, "argument opacity: the colour has four numbers already, the fourth is its opacity")
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
