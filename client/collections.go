package client

import (
	"context"
	"encoding/json"

	"transect/client/declare"
	"transect/client/transfer"
)

// Collections are named groups of features.
type Collections struct {
	Create            Op[CreateCollection, Collection]    `create:"create-collection" doc:"Create a collection."`
	CreateCollections Op[CreateCollections, []Collection] `create:"create-collections" doc:"Create many collections in one request."`
	Delete            Op[DeleteCollections, None]         `delete:"delete-collection|delete-collections|delete-collection-permanently|delete-collections-permanently" chunk:"100" doc:"Delete one collection or a list of collections, for good if asked to. Otherwise they can be restored."`
	Describe          Op[Refs, Some[Collection]]          `read:"describe-collection|describe-collections" chunk:"10" doc:"Describe one collection or a list of collections."`
	Export            Op[ExportCollection, Path]          `read:"export-collection" extra:"no" returns:"path of the file" doc:"Write a collection to a file, such as GeoJSON. An existing file is replaced once the new one is complete."`
	Restore           Op[Refs, None]                      `set:"restore-collection|restore-collections" doc:"Restore deleted collections."`
}

// Inputs of the collection operations.
type (
	CreateCollection struct {
		Name       string `arg:"name" doc:"name of the collection"`
		Features   []ID   `arg:"features" doc:"features it starts with"`
		Properties Object `arg:"properties" doc:"properties of your own"`
		Schema     Object `arg:"schema" doc:"JSON schema of the features' properties"`
		Extra
	}
	CreateCollections struct {
		Descriptions []CreateCollection `arg:"descriptions,req,pos" wire:"collections" doc:"collections, each a table with the arguments of create"`
		Extra
	}
	DeleteCollections struct {
		Refs
		Permanent bool `arg:"permanent" in:"none" default:"false" doc:"true deletes for good"`
	}
	ExportCollection struct {
		Collection ID     `arg:"collection,req,pos" doc:"collection"`
		TargetPath Path   `arg:"target_path,req,pos" in:"none" doc:"folder, made when missing"`
		TargetName string `arg:"target_name,req,pos" in:"none" doc:"name of the file"`
		Format     string `arg:"format_requested,pos" wire:"format" default:"geojson" doc:"format of the file"`
	}
)

// Route takes the second pair of routes to delete for good.
func (in DeleteCollections) Route(routes []string) []string {
	return restorableOrNot(routes, in.Permanent)
}

func restorableOrNot(routes []string, permanent bool) []string {
	if permanent {
		return routes[2:]
	}
	return routes[:2]
}

func (c *Client) exportCollection(ctx context.Context, in ExportCollection) (Path, error) {
	body, err := declare.Encode(map[string]any{"collection": string(in.Collection), "format": in.Format})
	if err != nil {
		return "", err
	}
	file, err := c.transfers.Download(ctx, transfer.Download{
		Path: "/map-service/features/export-collection", Body: body, TargetPath: string(in.TargetPath), TargetName: in.TargetName,
		Overwrite: true, Progress: transferOptions(ctx).Progress})
	return Path(file), err
}

// Collection is a named group of features.
type Collection struct {
	Record     `doc:"Named group of features."`
	Name       string          `json:"name" doc:"name of the collection"`
	Company    string          `json:"company" type:"id" doc:"company that owns it"`
	Features   []string        `json:"features" type:"[]id" doc:"its features"`
	Properties map[string]any  `json:"properties" doc:"properties of your own, by name"`
	Schema     json.RawMessage `json:"schema" type:"table" doc:"what the properties of its features are like"`
	History
}
