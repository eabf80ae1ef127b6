package client

import (
	"context"
	"net/url"
	"strings"

	"transect/client/declare"
	"transect/client/fault"
)

// Limits of tile addresses.
const (
	mostSharedRasters = 150
	longestTileURL    = 2000 // what every browser and server takes
)

// shareTiles checks everything before it creates the token, so that a refusal
// leaves no token behind.
func (c *Client) shareTiles(ctx context.Context, in ShareTiles) (string, error) {
	if c.revision == 3 && len(in.Dataset) > 1 {
		return "", fault.Hinted(fault.Of(&fault.ParameterError{}, "argument dataset: revision 3 shares one dataset at a time, got %d", len(in.Dataset)),
			"a connection of revision 1 shares several rasters")
	}
	datasets, err := c.Datasets.Describe(ctx, Refs{IDs: in.Dataset})
	if err != nil {
		return "", err
	}
	path, err := tilePath(datasets)
	if err != nil {
		return "", err
	}
	args := declare.Args{Values: map[string]any{"dataset": []string(in.Dataset)}}
	if in.Duration != nil {
		args.Values["duration"] = int64(*in.Duration)
	}
	token, err := c.shareDatasets(ctx, datasets, in.Company, args)
	if err != nil {
		return "", err
	}
	address := strings.TrimRight(c.transport.BaseURL(), "/") + path + "?access_token=" + url.QueryEscape(token.Token)
	if len(address) > longestTileURL {
		c.log.Warn("the tile address is so long that some programs will refuse it", "characters", len(address), "datasets", len(datasets))
	}
	return address, nil
}

func unsupported(format string, args ...any) error {
	return fault.Of(&fault.UnsupportedResourceError{}, format, args...)
}

func tilePath(datasets []Dataset) (string, error) {
	if len(datasets) == 0 {
		return "", fault.Of(&fault.ParameterError{}, "argument dataset: wants at least one dataset")
	}
	first := datasets[0]
	var ids []string
	for _, d := range datasets {
		switch {
		case d.Ingestion.Status != "completed":
			return "", fault.Hinted(fault.Of(&fault.UnsupportedResourceError{}, "dataset %s is not ingested: its status is %q", d.ID, d.Ingestion.Status),
				"wait until ingestion.status is completed")
		case d.Type != first.Type:
			return "", unsupported("the datasets are of different types, %s and %s", first.Type, d.Type)
		case tileFormat(d) != tileFormat(first):
			return "", unsupported("the rasters have tiles of different formats, %s and %s", tileFormat(first), tileFormat(d))
		}
		ids = append(ids, d.ID)
	}
	switch {
	case first.Type == "raster" && len(datasets) > mostSharedRasters:
		return "", fault.Of(&fault.RuntimeError{}, "%d rasters are too many for one address, the limit is %d", len(datasets), mostSharedRasters)
	case first.Type == "raster":
		return "/tileserver/tiles/" + strings.Join(ids, ",") + "/{z}/{x}/{y}." + tileFormat(first), nil
	case first.Type != "vector":
		return "", unsupported("a %s has no tiles; rasters and vectors have", first.Type)
	case len(datasets) > 1:
		return "", unsupported("vectors are shared one at a time, got %d", len(datasets))
	case first.Source.Name != "map-service":
		return "", unsupported("vector %s is a file; only vectors made from a collection have tiles", first.ID)
	}
	for _, component := range first.Components {
		if component.Name == "collection" && component.Collection.ID != "" {
			return "/map-service/features/collection-mvt/" + component.Collection.ID + "/{z}/{x}/{y}.pbf", nil
		}
	}
	return "", unsupported("vector %s names no collection", first.ID)
}

func tileFormat(d Dataset) string {
	if d.Tiles.Format == "" {
		return "png"
	}
	return d.Tiles.Format
}
