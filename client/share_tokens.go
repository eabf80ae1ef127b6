package client

import (
	"cmp"
	"context"
	"slices"

	"transect/client/declare"
	"transect/client/fault"
)

// ShareTokens open the tiles of datasets to whoever holds them. Only admins
// and managers of a company may use these operations.
type ShareTokens struct {
	Create Op[CreateShareToken, ShareToken] `create:"create-share-token" composed:"yes" doc:"Create a token for one dataset or several of one company."`
	Revoke Op[RevokeShareToken, None]       `delete:"revoke-share-token" doc:"Make a token worthless."`
	Search SearchOp[TokenQuery, ShareToken] `read:"search-share-tokens" page:"1" doc:"Find share tokens. They cannot be sorted."`
}

// Inputs of the share token operations.
type (
	CreateShareToken struct {
		Dataset  IDs  `arg:"dataset,req,pos" wire:"scope.datasets" wrap:"yes" doc:"dataset, or a list of datasets of one company"`
		Duration *int `arg:"duration" doc:"seconds until it expires; it never does when absent"`
		Extra
	}
	RevokeShareToken struct {
		Token string `arg:"token,req,pos" secret:"yes" doc:"the token"`
		Extra
	}
	TokenQuery struct {
		Filter      Filter `arg:"filter" default:"{}" doc:"which to find: property to operator object"`
		Limit       *int   `arg:"limit" doc:"most results to return"`
		Page        *int   `arg:"page" doc:"number of the page to return"`
		ReturnTotal bool   `arg:"return_total" in:"none" default:"false" only:"search" doc:"return {total, results} instead of the list alone"`
		Extra
	}
)

// Shape drops an order: the route knows none.
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
func (c *Client) shareDatasets(ctx context.Context, datasets []Dataset, company ID, args declare.Args) (ShareToken, error) {
	var companies []string
	for _, d := range datasets {
		if !slices.Contains(companies, d.Company) {
			companies = append(companies, d.Company)
		}
	}
	if len(companies) != 1 {
		return ShareToken{}, fault.Hinted(fault.Of(&fault.RuntimeError{}, "the datasets belong to %d companies; a token opens those of one", len(companies)),
			"create one token per company")
	}
	if company = cmp.Or(company, ID(companies[0])); company == "" {
		return ShareToken{}, fault.Of(&fault.RuntimeError{}, "the platform does not tell which company the datasets belong to")
	}
	if args.Extra == nil {
		args.Extra = map[string]any{}
	}
	args.Extra["company"] = string(company)
	return declare.Proceed[ShareToken](ctx, c.operation("share_tokens", "create"), args)
}
