package client

import (
	"encoding/json"
	"maps"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/schema"
)

// Features are geometries with properties, alone or in a collection.
type Features struct {
	Create                   Op[CreateFeature, Feature]              `create:"create-feature" unknown:"search collection" doc:"Create a feature."`
	CreateFeatures           Op[CreateFeatures, []Feature]           `create:"create-features" unknown:"search collection" doc:"Create many features in one request."`
	AddAttachments           Op[FeatureAttachments, None]            `set:"add-attachments" unknown:"probe attachments" doc:"Attach datasets to a feature."`
	RemoveAttachments        Op[FeatureAttachments, None]            `set:"remove-attachments" does:"delete" doc:"Detach datasets from a feature."`
	Delete                   Op[DeleteFeatures, None]                `delete:"delete-feature|delete-features|delete-feature-permanently|delete-features-permanently" chunk:"100" doc:"Delete one feature or a list of features, for good if asked to. Otherwise they can be restored."`
	Restore                  Op[Refs, None]                          `set:"restore-feature|restore-features" unknown:"probe deletion_date=none" doc:"Restore deleted features."`
	Describe                 Op[Refs, Some[Feature]]                 `read:"describe-feature|describe-features" chunk:"1000" doc:"Describe one feature or a list of features."`
	DeleteFeatureProperties  Op[DeleteFeatureProperties, Feature]    `set:"delete-feature-properties" does:"delete" doc:"Remove properties from a feature."`
	DeleteFeaturesProperties Op[DeleteFeaturesProperties, []Feature] `set:"delete-features-properties" extra:"no" does:"delete" doc:"Remove properties from many features in one request."`
	UpdateFeatureProperties  Op[UpdateFeatureProperties, Feature]    `set:"update-feature-properties" doc:"Set properties of a feature; the others stay."`
	UpdateFeaturesProperties Op[UpdateFeaturesProperties, []Feature] `set:"update-features-properties" extra:"no" doc:"Set properties of many features in one request; the others stay."`
	SetGeometry              Op[SetFeatureGeometry, None]            `set:"set-feature-geometry" doc:"Set the geometry."`
	Search                   SearchOp[Query, Feature]                `read:"search-features" page:"1" doc:"Find features."`
}

// Inputs of the feature operations.
type (
	CreateFeature struct {
		Geometry   Geometry `arg:"geometry" doc:"where it is, GeoJSON geometry"`
		Properties Object   `arg:"properties" doc:"properties of your own"`
		Collection ID       `arg:"collection" doc:"collection it belongs to"`
		Extra
	}
	CreateFeatures struct {
		Descriptions []CreateFeature `arg:"descriptions,req,pos" wire:"features" doc:"features, each a table with the arguments of create"`
		Extra
	}
	FeatureAttachments struct {
		Feature     ID   `arg:"feature,req" doc:"feature"`
		Attachments []ID `arg:"attachments,req" set:"yes" doc:"datasets"`
		Extra
	}
	DeleteFeatures struct {
		Refs
		Permanent bool `arg:"permanent" in:"none" default:"false" doc:"true deletes for good"`
	}
	DeleteFeatureProperties struct {
		Feature    ID       `arg:"feature,req,pos" doc:"feature"`
		Properties []string `arg:"properties,req,pos" set:"yes" doc:"names of the properties to remove"`
		Extra
	}
	DeleteFeaturesProperties struct {
		Properties Object `arg:"features_properties,req,pos" in:"none" doc:"feature id to a list of names of properties to remove"`
	}
	UpdateFeatureProperties struct {
		Feature    ID     `arg:"feature,req,pos" doc:"feature"`
		Properties Object `arg:"properties,req,pos" doc:"properties to set"`
		Extra
	}
	UpdateFeaturesProperties struct {
		Properties Object `arg:"features_properties,req,pos" in:"none" doc:"feature id to a table of properties to set"`
	}
	SetFeatureGeometry struct {
		Ref
		Geometry Geometry `arg:"geometry,req" doc:"where it is, GeoJSON geometry"`
	}
)

// Route takes the second pair of routes to delete for good.
func (in DeleteFeatures) Route(routes []string) []string {
	return restorableOrNot(routes, in.Permanent)
}

// Validate requires a table of properties for each feature.
func (in UpdateFeaturesProperties) Validate() error {
	for id, properties := range in.Properties {
		switch properties.(type) {
		case map[string]any, Object, schema.Empty:
		default:
			return fault.Of(&fault.ParameterError{}, "argument features_properties: feature %s needs a table of properties", id)
		}
	}
	return nil
}

// Shape makes the table the whole body.
func (in UpdateFeaturesProperties) Shape(body map[string]any) error {
	maps.Copy(body, in.Properties)
	return nil
}

// Validate requires a list of names for each feature.
func (in DeleteFeaturesProperties) Validate() error {
	for id, names := range in.Properties {
		if _, err := propertyNames(names); err != nil {
			return fault.Of(&fault.ParameterError{}, "argument features_properties: feature %s needs a list of property names",
				id)
		}
	}
	return nil
}

// Shape makes the table the whole body.
func (in DeleteFeaturesProperties) Shape(body map[string]any) (err error) {
	for id, names := range in.Properties {
		if body[id], err = propertyNames(names); err != nil {
			return err
		}
	}
	return nil
}

func propertyNames(v any) ([]string, error) {
	if _, none := v.(schema.Empty); none {
		return []string{}, nil
	}
	text, err := declare.Encode(v)
	if err != nil {
		return nil, err
	}
	var names []string
	if err := json.Unmarshal(text, &names); err != nil || names == nil {
		return nil, fault.Of(&fault.ParameterError{}, "not a list of names")
	}
	return names, nil
}

// Feature is a geometry with properties.
type Feature struct {
	Record      `doc:"Geometry with properties."`
	Geometry    json.RawMessage `json:"geometry" type:"geometry" doc:"the geometry"`
	Properties  map[string]any  `json:"properties" doc:"properties by name; ask for properties.NAME"`
	Collection  string          `json:"collection" type:"id" doc:"collection it belongs to"`
	Attachments []string        `json:"attachments" type:"[]id" doc:"datasets attached to it"`
	Company     string          `json:"company" type:"id" doc:"company that owns it"`
	History
}
