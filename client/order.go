package client

import (
	"context"
	"strings"

	"github.com/Masterminds/semver/v3"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/semrange"
)

func (c *Client) describeByName(ctx context.Context, in AnalyticByName) (Analytic, error) {
	a, err := c.findAnalytic(ctx, in)
	if err != nil || a.ID == "" || a.JSON() != nil {
		return a, err
	}
	// The versions were listed with few fields: fetch the whole record.
	return c.Analytics.Describe(ctx, Ref{ID: ID(a.ID)})
}

// findAnalytic finds an exact version by a search, and the highest of a range
// by going through all versions of that name. The latter comes with its id
// alone. There is no id when there is no such analytic.
func (c *Client) findAnalytic(ctx context.Context, in AnalyticByName) (Analytic, error) {
	filter := Filter{"name": map[string]any{"$eq": in.Name}}
	if in.Name == "" {
		return Analytic{}, nil
	}
	if in.Version != nil && exactly(*in.Version) {
		filter["version"] = map[string]any{"$eq": *in.Version}
		one := 1
		page, err := c.Analytics.Search.Page(ctx, AnalyticQuery{Query: Query{Filter: filter, Limit: &one}})
		if err != nil || len(page.Results) == 0 {
			return Analytic{}, err
		}
		return page.Results[0], nil
	}
	id, err := c.highest(ctx, filter, in.Version)
	return Analytic{Record: Record{ID: id}}, err
}

// exactly tells whether text is a version as versions are stored. With a v in
// front, or blanks around it, it is a range that holds one version.
func exactly(text string) bool {
	return semrange.IsExact(text) && text[0] != 'v' && text == strings.TrimSpace(text)
}

// highest returns the id of the highest version that a range allows, "" when
// there is none.
func (c *Client) highest(ctx context.Context, filter Filter, version *string) (string, error) {
	if version != nil {
		if _, err := semrange.Parse(*version); err != nil {
			return "", nil
		}
	}
	ids := map[string]string{}
	var versions []string
	query := AnalyticQuery{Query: Query{Filter: filter, Fields: Object{"include": []any{"_id", "name", "version"}}}}
	for a, err := range c.Analytics.Search.All(ctx, query) {
		if err != nil {
			return "", err
		}
		if a.Version != "" {
			ids[a.Version] = a.ID
			versions = append(versions, a.Version)
		}
	}
	if version != nil {
		best, _ := semrange.Highest(versions, *version)
		return ids[best], nil
	}
	return ids[newest(versions)], nil
}

// newest is the highest version, prereleases included: without a range every
// version counts.
func newest(versions []string) string {
	best := ""
	var highest *semver.Version
	for _, text := range versions {
		v, err := semrange.ParseVersion(text)
		if err == nil && (highest == nil || v.GreaterThan(highest)) {
			best, highest = text, v
		}
	}
	return best
}

func (c *Client) orderAnalytic(ctx context.Context, in OrderAnalytic) (Product, error) {
	args := declare.Running(ctx)
	if in.Name != "" {
		a, err := c.findAnalytic(ctx, AnalyticByName{Name: in.Name, Version: in.Version})
		if err != nil {
			return Product{}, err
		}
		if a.ID == "" {
			wanted := in.Name
			if in.Version != nil {
				wanted += " " + *in.Version
			}
			return Product{}, fault.Hinted(fault.Of(&fault.ParameterError{}, "no analytic %s", wanted),
				"analytics.search{name = %q} lists the versions there are", in.Name)
		}
		args.Values["analytic"] = a.ID
	} else if in.Version != nil {
		c.log.Warn("version goes with name and is ignored", "operation", "analytics.order", "version", *in.Version)
	}
	delete(args.Values, "name")
	delete(args.Values, "version")
	return declare.Proceed[Product](ctx, c.operation("analytics", "order"), args)
}

// Shape asks for optional deliverables as an object of nulls.
func (in OrderAnalytic) Shape(body map[string]any) error {
	if len(in.Deliverables) > 0 {
		asked := map[string]any{}
		for _, name := range in.Deliverables {
			asked[name] = nil
		}
		body["deliverables"] = asked
	}
	return nil
}
