package client

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"transect/client/fault"
	"transect/client/schema"
)

// Inputs of the operations that wait for the platform.
type (
	Waiting struct {
		Timeout  *float64        `arg:"timeout" in:"none" unit:"seconds" doc:"most seconds to wait; without it there is no limit"`
		Any      *bool           `arg:"any" in:"none" default:"false" doc:"true returns as soon as one has ended, instead of all"`
		OnChange schema.Callback `arg:"on_change" in:"none" doc:"function called with the new state whenever it has changed"`
	}
	WaitForDatasets struct {
		Datasets IDs    `arg:"datasets,pos" in:"none" doc:"dataset, or a list of datasets; or give filter"`
		Filter   Filter `arg:"filter" in:"none" doc:"conditions on the datasets: property to operator object; those without an upload are not waited for"`
		Waiting
	}
	WaitForProducts struct {
		Product IDs `arg:"product,req,pos" in:"none" doc:"product, or a list of products"`
		Waiting
		MustSucceed *bool `arg:"must_succeed" in:"none" default:"true" doc:"false returns a product that failed, was rejected or cancelled instead of raising an error"`
	}
)

// IngestionState counts datasets by the state of their ingestion.
type IngestionState struct {
	Pending   int64 `json:"pending"` // or running
	Completed int64 `json:"completed"`
	Failed    int64 `json:"failed"`
}

// Validate requires a selection of datasets.
func (in WaitForDatasets) Validate() error {
	if (in.Datasets == nil) == (in.Filter == nil) {
		return fault.Of(&fault.ParameterError{}, "exactly one of datasets and filter is needed")
	}
	return nil
}

// poll calls check until it is done, calling on_change whenever the state it
// returns has changed. Polls are frequent while something happens.
func poll[T comparable](ctx context.Context, c *Client, in Waiting, what string,
	check func() (state T, value any, done bool, err error)) error {
	began, wait := time.Now(), shortestPoll
	var last T
	for n := 0; ; n++ {
		state, value, done, err := check()
		if err != nil {
			return err
		}
		if n == 0 || state != last {
			last, wait = state, shortestPoll
			if in.OnChange != nil {
				if err := in.OnChange(value); err != nil {
					return err
				}
			}
		}
		if done {
			return nil
		}
		if in.Timeout != nil {
			left := time.Duration(*in.Timeout*float64(time.Second)) - time.Since(began)
			if left <= 0 {
				return fault.Hinted(fault.Of(&fault.TimeoutError{}, "%s after %v seconds", what, *in.Timeout),
					"give it more time with timeout, or run again later")
			}
			wait = min(wait, left)
		}
		if err := c.Pause(ctx, wait); err != nil {
			return err
		}
		wait = min(wait*3/2, 5*time.Second)
	}
}

func (c *Client) waitForDatasets(ctx context.Context, in WaitForDatasets) (IngestionState, error) {
	filter := in.Filter
	if in.Datasets != nil {
		filter = Filter{"_id": map[string]any{"$in": []string(in.Datasets)}}
	}
	count := func(status map[string]any) (int64, error) {
		one := 1
		match := Filter{"$and": []any{map[string]any(filter), status}}
		page, err := c.Datasets.Search.Page(ctx, DatasetQuery{Query: Query{Filter: match, Limit: &one, ReturnTotal: true}})
		return max(page.Total, int64(len(page.Results))), err
	}
	var state IngestionState
	is := func(status string) map[string]any {
		return map[string]any{"ingestion.status": map[string]any{"$eq": status}}
	}
	pending := is("pending")
	if in.Filter != nil { // a failed upload must not hold up the others
		pending["components.status"] = map[string]any{"$ne": "pending"}
	}
	check := func() (_ IngestionState, _ any, _ bool, err error) {
		// An upload that is no longer pending keeps one of the two other states.
		if state.Pending, err = count(map[string]any{"$or": []any{is("running"), pending}}); err == nil {
			var ended errgroup.Group
			ended.Go(func() (err error) {
				state.Failed, err = count(is("failed"))
				return err
			})
			ended.Go(func() (err error) {
				state.Completed, err = count(is("completed"))
				return err
			})
			err = ended.Wait()
		}
		return state, state, state.Pending == 0 || *in.Any && state.Completed+state.Failed > 0, err
	}
	err := poll(ctx, c, in.Waiting, "datasets are still being ingested", check)
	return state, err
}

func (c *Client) waitForProducts(ctx context.Context, in WaitForProducts) (Some[Product], error) {
	products := make(Some[Product], len(in.Product))
	check := func() (states string, _ any, _ bool, err error) {
		for i, id := range in.Product {
			before := products[i].Status
			if ended[before] {
				continue
			}
			if products[i], err = c.Products.Describe(ctx, Ref{ID: ID(id)}); err != nil {
				return "", nil, false, err
			}
			if products[i].Status != before && in.OnChange != nil {
				if err := in.OnChange(products[i]); err != nil {
					return "", nil, false, err
				}
			}
		}
		over := 0
		for _, p := range products {
			states += p.Status + " "
			if ended[p.Status] {
				over++
			}
		}
		return states, nil, over == len(products) || *in.Any && over > 0, nil
	}
	silent := in.Waiting
	silent.OnChange = nil // check calls it, for each product
	what := fmt.Sprintf("product %s has not ended", strings.Join(in.Product, ", "))
	if err := poll(ctx, c, silent, what, check); err != nil {
		return nil, err
	}
	for _, p := range products {
		if *in.MustSucceed && ended[p.Status] && p.Status != "available" {
			return nil, fault.Hinted(fault.Of(&fault.RuntimeError{}, "product %s ended as %s", p.ID, p.Status),
				"products.retrieve_logs shows why")
		}
	}
	return products, nil
}
