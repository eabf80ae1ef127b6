package client

import (
	"context"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"transect/client/fault"
	"transect/client/schema"
	"transect/client/semrange"
	"transect/client/suggest"
)

// Analytics are the algorithms one can order.
type Analytics struct {
	Create                  Op[CreateAnalytic, Analytic]        `create:"create-analytic" unknown:"key name,version" raises:"KeyError: a value is not supported, or an entry of inputs, parameters, credentials or deliverables lacks its name or has an unsupported key" doc:"Create a version of an analytic. Name and version together are unique."`
	Delete                  Op[AnalyticIDs, None]               `delete:"delete-analytic-permanently" chunk:"1" extra:"over" doc:"Delete analytics for good, one request each."`
	Describe                Op[Ref, Analytic]                   `read:"describe-analytic" doc:"Describe an analytic."`
	DescribeByName          Op[AnalyticByName, Analytic]        `read:"" composed:"yes" extra:"no" returns:"analytic, or nil" doc:"Describe the highest version of an analytic, all versions or those in a range."`
	Order                   Op[OrderAnalytic, Product]          `create:"order-analytic" unknown:"search analytic,project,mission" makes:"products" composed:"yes" extra:"over" doc:"Order an analytic, by id or by name and version range. The product shows its progress."`
	Search                  SearchOp[AnalyticQuery, Analytic]   `read:"search-analytics" page:"0" doc:"Find analytics."`
	Expose                  Op[ExposeAnalytics, Object]         `set:"expose-analytics" doc:"Show analytics on the domains of root companies."`
	Unexpose                Op[UnexposeAnalytics, Object]       `set:"unexpose-analytics" does:"delete" doc:"Hide analytics from the domains of root companies."`
	Enable                  Op[EnableAnalytics, Object]         `set:"enable-analytics" doc:"Let companies order analytics that are exposed on their domain."`
	Disable                 Op[DisableAnalytics, Object]        `set:"disable-analytics" does:"delete" doc:"Keep companies from ordering analytics."`
	SetContainerCredentials Op[SetContainerCredentials, Object] `set:"set-analytic-docker-credentials" alias:"set_docker_credentials" extra:"over" doc:"Set the credentials the container image is fetched with."`
	AssignCredentials       Op[AssignCredentials, None]         `set:"assign-analytic-credentials" extra:"over" doc:"Assign credentials of a company to an analytic."`
	UnassignCredentials     Op[UnassignCredentials, None]       `set:"unassign-analytic-credentials" extra:"over" does:"delete" doc:"Unassign credentials from an analytic."`
	ShareWithCompany        Op[ShareAnalytic, None]             `set:"" composed:"yes" deprecated:"analytics.expose and analytics.enable" doc:"Has no effect."`
	UnshareWithCompany      Op[ShareAnalytic, None]             `set:"" composed:"yes" deprecated:"analytics.unexpose and analytics.disable" does:"delete" doc:"Has no effect."`
}

// Inputs of the analytic operations.
type (
	CreateAnalytic struct {
		Name                     string   `arg:"name,req" raises:"KeyError" doc:"name of the analytic"`
		Version                  string   `arg:"version,req" raises:"KeyError" doc:"semantic version"`
		ContainerImage           string   `arg:"container_image,req" alias:"docker_image" wire:"algorithm.docker_image" raises:"KeyError" doc:"image reference with the registry's address"`
		ContainerCredentialsName string   `arg:"container_credentials_name,req" alias:"docker_credentials_name" wire:"algorithm.docker_credentials_name" raises:"KeyError" doc:"name of the credentials for the registry"`
		Company                  ID       `arg:"company,req" doc:"company that owns it"`
		DisplayName              string   `arg:"display_name" omit:"falsy" raises:"KeyError" doc:"name people see"`
		Description              string   `arg:"description" omit:"falsy" raises:"KeyError" doc:"what it does"`
		InstanceType             string   `arg:"instance_type" wire:"instance.type" omit:"falsy" raises:"KeyError" doc:"kind of machine it runs on"`
		VolumeSize               *int     `arg:"volume_size" wire:"instance.volume" omit:"falsy" raises:"KeyError" doc:"disk in gigabytes"`
		Inputs                   []Object `arg:"inputs" omit:"falsy" raises:"KeyError" doc:"inputs it takes"`
		Parameters               []Object `arg:"parameters" omit:"falsy" raises:"KeyError" doc:"parameters it takes"`
		Credentials              []Object `arg:"credentials" omit:"falsy" raises:"KeyError" doc:"credentials it needs"`
		Deliverables             []Object `arg:"deliverables" omit:"falsy" raises:"KeyError" doc:"deliverables it makes"`
		Outputs                  []Object `arg:"outputs" omit:"falsy" raises:"KeyError" doc:"outputs it makes"`
		Tags                     []string `arg:"tags" set:"yes" omit:"falsy" raises:"KeyError" doc:"tags"`
		Groups                   []string `arg:"groups" set:"yes" omit:"falsy" raises:"KeyError" doc:"groups of a catalogue it belongs to"`
		Extra
	}
	AnalyticIDs struct {
		Analytic IDs `arg:"analytic,req,pos" set:"yes" doc:"analytic, or a list of analytics"`
		Extra
	}
	AnalyticByName struct {
		Name    string  `arg:"name,req,pos" doc:"name of the analytic"`
		Version *string `arg:"version" doc:"version or range, such as 1.x or ^1.2; the highest of all when absent"`
	}
	AnalyticQuery struct {
		Query
		Name string `arg:"name" wire:"filter.name.$eq" omit:"falsy" only:"search" doc:"exact name, in place of a filter"`
	}
	ExposeAnalytics struct {
		Analytics     Strings `arg:"analytics,req,pos" set:"yes" in:"none" doc:"name, or a list of names"`
		RootCompanies IDs     `arg:"root_companies,req,pos" set:"yes" in:"none" doc:"root company of a domain, or a list"`
		Extra
	}
	UnexposeAnalytics ExposeAnalytics
	EnableAnalytics   struct {
		Analytics Strings `arg:"analytics,req,pos" set:"yes" in:"none" doc:"name, or a list of names"`
		Companies IDs     `arg:"companies,req,pos" set:"yes" in:"none" doc:"company, or a list of companies"`
		Extra
	}
	DisableAnalytics        EnableAnalytics
	SetContainerCredentials struct {
		Name                     string `arg:"name,req,pos" doc:"name of the analytic"`
		Version                  string `arg:"version,req,pos" doc:"its version"`
		Company                  ID     `arg:"company,req,pos" doc:"company that owns it"`
		ContainerCredentialsName string `arg:"container_credentials_name,req,pos" alias:"docker_credentials_name" wire:"docker_credentials_name" doc:"name of the credentials"`
		Extra
	}
	AssignCredentials struct {
		AnalyticName string `arg:"analytic_name,req,pos" doc:"name of the analytic"`
		VersionRange string `arg:"analytic_version_range,req,pos" doc:"versions meant, such as 1.x"`
		Company      ID     `arg:"company,req,pos" doc:"company the credentials belong to"`
		Credentials  Object `arg:"credentials,req,pos" doc:"the analytic's credential field to the company's credential name"`
		Extra
	}
	UnassignCredentials struct {
		AnalyticName    string   `arg:"analytic_name,req,pos" doc:"name of the analytic"`
		VersionRange    string   `arg:"analytic_version_range,req,pos" doc:"versions meant, such as 1.x"`
		Company         ID       `arg:"company,req,pos" doc:"company the credentials belong to"`
		CredentialNames []string `arg:"credential_names,req,pos" set:"yes" doc:"names of the credential fields"`
		Extra
	}
	ShareAnalytic struct {
		Analytic ID `arg:"analytic,req,pos" in:"none" doc:"analytic"`
		Company  ID `arg:"company,req" in:"none" doc:"company"`
		Extra
	}
)

// entryKeys are the keys of what an analytic takes and makes, by argument.
var entryKeys = map[string][]string{
	"inputs":       {"name", "display_name", "description", "scheme", "source", "required"},
	"deliverables": {"name", "display_name", "description", "scheme", "source", "required"},
	"parameters":   {"name", "display_name", "description", "scheme", "required"},
	"credentials":  {"name", "display_name", "description", "scheme", "required"},
}

// Validate refuses entries without a name, and with keys that look misspelt.
func (in CreateAnalytic) Validate() error {
	for _, list := range []struct {
		argument string
		entries  []Object
	}{{"inputs", in.Inputs}, {"parameters", in.Parameters}, {"credentials", in.Credentials},
		{"deliverables", in.Deliverables}} {
		keys := entryKeys[list.argument]
		for i, entry := range list.entries {
			if name, _ := entry["name"].(string); name == "" {
				return fault.Hinted(fault.Of(&fault.KeyError{}, "argument %s[%d]: the key name is missing", list.argument, i+1),
					"an entry has the keys %s", strings.Join(keys, ", "))
			}
			for _, key := range schema.SortedKeys(entry) {
				if hint := suggest.Hint(key, keys); hint != "" && !slices.Contains(keys, key) {
					return fault.Hinted(fault.Of(&fault.KeyError{}, "argument %s[%d]: the key %s is not supported", list.argument,
						i+1, key), "%s", hint)
				}
			}
		}
	}
	return nil
}

// grants writes one entry per company: {verb: [{company, analytics_names}]}.
func grants(body map[string]any, verb, company string, companies IDs, names Strings) error {
	if _, given := body[verb]; given {
		return nil // an extra argument of that name wins
	}
	entries := make([]any, len(companies))
	for i, id := range companies {
		entries[i] = map[string]any{company: id, "analytics_names": []string(names)}
	}
	body[verb] = entries
	return nil
}

// Shape writes one entry per company.
func (in ExposeAnalytics) Shape(body map[string]any) error {
	return grants(body, "expose", "root_company", in.RootCompanies, in.Analytics)
}

// Shape writes one entry per company.
func (in UnexposeAnalytics) Shape(body map[string]any) error {
	return grants(body, "unexpose", "root_company", in.RootCompanies, in.Analytics)
}

// Shape writes one entry per company.
func (in EnableAnalytics) Shape(body map[string]any) error {
	return grants(body, "enable", "company", in.Companies, in.Analytics)
}

// Shape writes one entry per company.
func (in DisableAnalytics) Shape(body map[string]any) error {
	return grants(body, "disable", "company", in.Companies, in.Analytics)
}

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

// exactly reports whether text is a version as versions are stored. With a v in
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

// newest returns the highest version, prereleases included: without a range
// every version counts.
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
