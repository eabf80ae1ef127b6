package web

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"transect/client"
	"transect/client/fault"
)

// orderForm is the data of the page that orders an analytic for a mission: first the analytic, then its
// inputs and parameters.
type orderForm struct {
	Mission, MissionName string
	Project, ProjectName string
	Analytics            []choice
	Analytic             *client.Analytic // nil before it is chosen
	Inputs, Parameters   []slot
	Deliverables         []slot // optional ones
}

// slot is an input, parameter or deliverable as an analytic declares it.
type slot struct {
	Name, Title, Doc, Value, Kind string
	Required                      bool
	Choices                       []string
}

func (s *Server) orderPage(w http.ResponseWriter, r *http.Request, c *client.Client) error {
	values := r.URL.Query()
	found, err := c.Missions.Describe(r.Context(), client.Refs{IDs: client.IDs{values.Get("mission")}})
	if err != nil {
		return err
	}
	m := found.One()
	names, err := s.names(r.Context(), []string{m.Project}, nil)
	if err != nil {
		return err
	}
	f := orderForm{Mission: m.ID, MissionName: m.Name, Project: m.Project, ProjectName: names[m.Project]}
	if id := values.Get("analytic"); id != "" {
		a, err := c.Analytics.Describe(r.Context(), client.Ref{ID: client.ID(id)})
		if err != nil {
			return err
		}
		f.Analytic = &a
		f.Inputs, f.Parameters = slots(a.Inputs), slots(a.Parameters)
		for i := range f.Inputs {
			if in := &f.Inputs[i]; in.Kind == "mission" || in.Name == "mission" {
				in.Value = m.ID
			}
		}
		for _, d := range slots(a.Deliverables) {
			if !d.Required {
				f.Deliverables = append(f.Deliverables, d)
			}
		}
	} else if f.Analytics, err = analytics(r.Context(), c); err != nil {
		return err
	}
	return s.render(w, r, "order.html", view{Title: "Order", Section: "/products", Data: f})
}

// analytics lists the analytics that can be ordered, by name and version.
func analytics(ctx context.Context, c *client.Client) (list []choice, err error) {
	page, err := c.Analytics.Search.Page(ctx, client.AnalyticQuery{Query: client.Query{Limit: new(maxChoices),
		Fields: only("name", "version", "display_name"), Sort: byName}})
	for _, a := range page.Results {
		name := a.Name + " " + a.Version
		if a.DisplayName != "" && a.DisplayName != a.Name {
			name += " – " + a.DisplayName
		}
		list = append(list, choice{a.ID, name})
	}
	return list, err
}

// slots converts a list of declarations.
func slots(raw json.RawMessage) (list []slot) {
	for _, v := range gjson.ParseBytes(raw).Array() {
		in := slot{Name: v.Get("name").String(), Title: cmp.Or(v.Get("display_name").String(), v.Get("name").String()),
			Doc:      v.Get("description").String(),
			Required: v.Get("required").Bool(), Kind: cmp.Or(v.Get("source.resource").String(), v.Get("scheme.type").String())}
		if d := v.Get("scheme.default"); d.Exists() {
			in.Value = d.String()
		}
		for _, e := range v.Get("scheme.enum").Array() {
			in.Choices = append(in.Choices, e.String())
		}
		list = append(list, in)
	}
	return list
}

func (s *Server) order(w http.ResponseWriter, r *http.Request, c *client.Client) error {
	in := client.OrderAnalytic{Analytic: client.ID(r.PostForm.Get("analytic")),
		Mission: client.ID(r.PostForm.Get("mission")), Project: client.ID(r.PostForm.Get("project")),
		Inputs: client.Object{}, Parameters: client.Object{}, Deliverables: r.PostForm["deliverable"]}
	for name, list := range r.PostForm {
		text := strings.TrimSpace(list[0])
		if text == "" {
			continue
		}
		if input, ok := strings.CutPrefix(name, "input."); ok {
			in.Inputs[input] = text
		}
		if parameter, ok := strings.CutPrefix(name, "parameter."); ok {
			in.Parameters[parameter] = jsonOrText(text)
		}
	}
	p, err := c.Analytics.Order(r.Context(), in)
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/products/"+p.ID, http.StatusSeeOther)
	return nil
}

// jsonOrText reads a value like transect order does: JSON, else text.
func jsonOrText(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		return v
	}
	return text
}

func orderAgain(ctx context.Context, c *client.Client, values url.Values) (string, error) {
	p, err := c.Products.Describe(ctx, client.Ref{ID: client.ID(values.Get("product"))})
	if err != nil {
		return "", err
	}
	in := client.OrderAnalytic{Analytic: client.ID(analyticID(p)), Project: client.ID(p.Project),
		Mission: client.ID(p.Mission)}
	if in.Analytic == "" {
		return "", fault.Hinted(fault.Of(&fault.UsageError{}, "the product does not name its analytic"),
			"order it with transect order")
	}
	for raw, into := range map[*json.RawMessage]*client.Object{&p.Inputs: &in.Inputs, &p.Parameters: &in.Parameters} {
		if len(*raw) > 0 && json.Unmarshal(*raw, into) != nil {
			return "", fault.Of(&fault.UsageError{}, "the inputs of the product cannot be read")
		}
	}
	a, err := c.Analytics.Describe(ctx, client.Ref{ID: in.Analytic})
	if err != nil {
		return "", err
	}
	deliverables := gjson.ParseBytes(p.Deliverables).Map()
	for _, d := range slots(a.Deliverables) {
		if _, ok := deliverables[d.Name]; ok && !d.Required {
			in.Deliverables = append(in.Deliverables, d.Name)
		}
	}
	slices.Sort(in.Deliverables)
	again, err := c.Analytics.Order(ctx, in)
	return "/products/" + again.ID, err
}

// analyticID returns the id of a product's analytic, which is an id or an object with one.
func analyticID(p client.Product) string {
	v := gjson.ParseBytes(p.Analytic)
	return cmp.Or(v.Get("_id").String(), v.String())
}
