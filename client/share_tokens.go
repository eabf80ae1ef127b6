package client

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/schema"
)

// ShareTokens open the tiles of datasets to whoever holds them. Only admins
// and managers of a company may use these operations.
type ShareTokens struct {
	Create Op[CreateShareToken, ShareToken] `create:"create-share-token" unknown:"search" composed:"yes" raises:"RuntimeError: the datasets belong to several companies" doc:"Create a token for one dataset or several of one company."`
	Revoke Op[RevokeShareToken, None]       `delete:"revoke-share-token" doc:"Revoke a token."`
	Search SearchOp[TokenQuery, ShareToken] `read:"search-share-tokens" page:"1" doc:"Find share tokens. They cannot be sorted."`
}

// Inputs of the share token operations.
type (
	CreateShareToken struct {
		Dataset  IDs  `arg:"dataset,req,pos" set:"yes" wire:"scope.datasets" wrap:"yes" doc:"dataset, or a list of datasets of one company"`
		Duration *int `arg:"duration" doc:"seconds until it expires; never when absent"`
		Extra
	}
	RevokeShareToken struct {
		Token string `arg:"token,req,pos" secret:"yes" doc:"the token"`
		Extra
	}
	TokenQuery struct {
		Filter      Filter `arg:"filter" default:"{}" doc:"conditions: property to operator object"`
		Limit       *int   `arg:"limit" doc:"maximum number of results"`
		Page        *int   `arg:"page" doc:"number of the page to return"`
		Fields      Object `arg:"fields" only:"generator" doc:"properties to return: {include = {names}} or {exclude = {names}}, not both"`
		Sort        Sort   `arg:"sort" in:"none" only:"generator" doc:"accepted without effect: tokens come in the platform's order"`
		ReturnTotal bool   `arg:"return_total" in:"none" default:"false" only:"search" doc:"return {total, results} instead of the list alone"`
		Extra
	}
)

// Validate refuses fields that both include and exclude.
func (q TokenQuery) Validate() error { return oneChoice(&fault.SearchError{}, q.Fields) }

// Shape drops the sort: the route has none.
func (TokenQuery) Shape(body map[string]any) error {
	delete(body, "sort")
	return nil
}

func (c *Client) createShareToken(ctx context.Context, in CreateShareToken) (ShareToken, error) {
	datasets, err := c.Datasets.Describe(ctx, Refs{IDs: in.Dataset,
		Extra: Extra{Extra: map[string]any{"fields": map[string]any{"include": []any{"company"}}}}})
	if err != nil {
		return ShareToken{}, err
	}
	return c.shareDatasets(ctx, datasets, "", declare.Running(ctx))
}

// shareDatasets creates a token for datasets that are already described, for the
// company they belong to unless another is named.
func (c *Client) shareDatasets(ctx context.Context, datasets []Dataset, company ID, args declare.Args) (ShareToken,
	error) {
	var companies []string
	for _, d := range datasets {
		if !slices.Contains(companies, d.Company) {
			companies = append(companies, d.Company)
		}
	}
	if len(companies) != 1 {
		return ShareToken{}, fault.Hinted(fault.Of(&fault.RuntimeError{},
			"the datasets belong to %d companies; a token opens datasets of one company", len(companies)),
			"create one token per company")
	}
	if company = cmp.Or(company, ID(companies[0])); company == "" {
		return ShareToken{}, fault.Of(&fault.RuntimeError{},
			"the platform does not report which company the datasets belong to")
	}
	if args.Extra == nil {
		args.Extra = map[string]any{}
	}
	args.Extra["company"] = string(company)
	return declare.Proceed[ShareToken](ctx, c.operation("share_tokens", "create"), args)
}

// Limits of tile addresses.
const (
	maxSharedRasters = 150
	longestTileURL   = 2000 // what every browser and server takes
)

// shareTiles checks everything before it creates the token, so that a refusal
// leaves no token behind.
func (c *Client) shareTiles(ctx context.Context, in ShareTiles) (string, error) {
	if c.Revision() == 3 && len(in.Dataset) > 1 {
		return "", fault.Hinted(fault.Of(&fault.ParameterError{},
			"argument dataset: revision 3 shares one dataset at a time, got %d", len(in.Dataset)),
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
	base := c.transport.BaseURL()
	if token.Tileserver != nil {
		if *token.Tileserver == "" {
			c.unserved.Do(func() {
				c.log.Warn("the links to tiles do not work: the local platform is not served; keep transect platform serve " +
					"running, and share again")
			})
		}
		base = cmp.Or(*token.Tileserver, base)
	}
	address := strings.TrimRight(base, "/") + path + "?access_token=" + url.QueryEscape(token.Token)
	if len(address) > longestTileURL {
		c.log.Warn("the tile address is so long that some programs will refuse it", "characters", len(address), "datasets",
			len(datasets))
	}
	return address, nil
}

func unsupported(format string, args ...any) error {
	return fault.Of(&fault.UnsupportedResourceError{}, format, args...)
}

func tilePath(datasets []Dataset) (string, error) {
	if len(datasets) == 0 {
		return "", fault.Of(&fault.ParameterError{}, "argument dataset: needs at least one dataset")
	}
	first := datasets[0]
	var ids []string
	for _, d := range datasets {
		switch {
		case !Ingested(d.Ingestion.Status):
			return "", fault.Hinted(fault.Of(&fault.UnsupportedResourceError{}, "dataset %s is not ingested: its status is %q",
				d.ID, d.Ingestion.Status),
				"wait until ingestion.status is completed")
		case d.Tiles.Error.Message != "":
			return "", unsupported("raster %s has no tiles: %s", d.ID, d.Tiles.Error.Message)
		case d.Type != first.Type:
			return "", unsupported("the datasets are of different types, %s and %s", first.Type, d.Type)
		case tileFormat(d) != tileFormat(first):
			return "", unsupported("the rasters have tiles of different formats, %s and %s", tileFormat(first), tileFormat(d))
		}
		ids = append(ids, d.ID)
	}
	switch {
	case first.Type == "raster" && len(datasets) > maxSharedRasters:
		return "", fault.Of(&fault.RuntimeError{}, "%d rasters are too many for one address, the limit is %d",
			len(datasets), maxSharedRasters)
	case first.Type == "raster":
		return "/tileserver/tiles/" + strings.Join(ids, ",") + "/{z}/{x}/{y}." + tileFormat(first), nil
	case first.Type != "vector":
		return "", unsupported("%s has no tiles; rasters and vectors have", schema.Article(first.Type))
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
