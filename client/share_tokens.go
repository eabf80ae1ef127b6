package client

import (
	"cmp"
	"context"
	"slices"

	"transect/client/fault"
)

// ShareTokens open the tiles of datasets to whoever holds them. Only admins
// and managers of a company may use these operations.
type ShareTokens struct {
	Create Op[CreateShareToken, ShareToken] `create:"create-share-token" composed:"yes" doc:"Create a token for one dataset or several of one company."`
	Revoke Op[RevokeShareToken, None]       `delete:"revoke-share-token" doc:"Make a token worthless."`
	Search SearchOp[TokenQuery, ShareToken] `read:"search-share-tokens" page:"1" doc:"Find share tokens. They cannot be sorted."`
	Issue  Op[IssueShareToken, ShareToken]  `create:"create-share-token" hidden:"yes" name:"create" doc:"Create a token for datasets of a company that is known."`
}

// Inputs of the share token operations.
type (
	CreateShareToken struct {
		Dataset  IDs  `arg:"dataset,req,pos" doc:"dataset, or a list of datasets of one company"`
		Duration *int `arg:"duration" doc:"seconds until it expires; it never does when absent"`
		Extra
	}
	IssueShareToken struct {
		Datasets IDs  `arg:"datasets,req" wire:"scope.datasets" wrap:"yes" doc:"datasets of the company"`
		Company  ID   `arg:"company,req" doc:"company they belong to"`
		Duration *int `arg:"duration" doc:"seconds until it expires"`
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
	return c.shareDatasets(ctx, datasets, IssueShareToken{Duration: in.Duration, Extra: in.Extra})
}

// shareDatasets issues a token for datasets that are already described, for the
// company they belong to unless another is named.
func (c *Client) shareDatasets(ctx context.Context, datasets []Dataset, in IssueShareToken) (ShareToken, error) {
	var companies []string
	for _, d := range datasets {
		in.Datasets = append(in.Datasets, d.ID)
		if !slices.Contains(companies, d.Company) {
			companies = append(companies, d.Company)
		}
	}
	if len(companies) != 1 {
		return ShareToken{}, fault.Hinted(fault.Of(&fault.RuntimeError{}, "the datasets belong to %d companies; a token opens those of one", len(companies)),
			"create one token per company")
	}
	if in.Company = cmp.Or(in.Company, ID(companies[0])); in.Company == "" {
		return ShareToken{}, fault.Of(&fault.RuntimeError{}, "the platform does not tell which company the datasets belong to")
	}
	return c.ShareTokens.Issue(ctx, in)
}
