package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"transect/client"
	"transect/client/human"
)

// productRoutes registers the list of products and the pages of products.
func (s *Server) productRoutes() {
	s.get("/products", s.connected(s.productList))
	s.get("/products/{product}", s.connected(s.productPage))
	s.topic("products", s.watchProducts)
	s.topic("log", s.followProductLog)
}

var productStates = []string{"pending", "running", "available", "failed", "rejected", "cancelled"}

// ended reports whether a product's status is final.
func ended(status string) bool { return status != "pending" && status != "running" }

// productRow is a product with the names of its project and mission.
type productRow struct {
	client.Product
	ProjectName, MissionName string
	Title                    string // analytic and version
	Problem                  string
	Made                     int // number of datasets
	Took                     string
}

type productTable struct {
	Rows           []productRow
	State, Project string
	States         []string
	Values         url.Values
	Everything     bool
	pager
}

const productsOnPage = 50

func (s *Server) productList(w http.ResponseWriter, r *http.Request, c *client.Client) error {
	values := r.URL.Query()
	t := productTable{Values: values, State: values.Get("state"), Project: values.Get("project"), States: productStates,
		pager: pagerOf(values)}
	filter := client.Filter{}
	if slices.Contains(productStates, t.State) {
		filter["status"] = map[string]any{"$eq": t.State}
	}
	for _, key := range []string{"project", "mission"} {
		if id := values.Get(key); id != "" {
			filter[key] = map[string]any{"$eq": id}
		}
	}
	t.Everything = len(filter) == 0
	page, err := c.Products.Search.Page(r.Context(),
		client.ProductQuery{Query: client.Query{Filter: filter, Limit: new(productsOnPage), Page: new(t.Page - 1),
			Sort: newestFirst}})
	if err != nil {
		return err
	}
	t.found(page.Total, productsOnPage, len(page.Results))
	if t.Rows, err = s.productRows(r.Context(), page.Results); err != nil {
		return err
	}
	return s.render(w, r, "products.html", view{Title: "Products", Section: "/products", Data: t,
		Topics: []string{"platform", "products"}})
}

func (s *Server) productRows(ctx context.Context, list []client.Product) ([]productRow, error) {
	var projects, missions []string
	for _, p := range list {
		projects, missions = append(projects, p.Project), append(missions, p.Mission)
	}
	names, err := s.names(ctx, projects, missions)
	if err != nil {
		return nil, err
	}
	rows := make([]productRow, len(list))
	for i, p := range list {
		rows[i] = productRow{Product: p, ProjectName: names[p.Project], MissionName: names[p.Mission], Title: productTitle(p),
			Problem: gjson.GetBytes(p.Error, "message").String(), Made: len(outputs(p)), Took: s.took(p)}
	}
	return rows, nil
}

func productTitle(p client.Product) string {
	return strings.TrimSpace(cmp.Or(p.AnalyticName, p.Name, p.ID) + " " + p.AnalyticVersion)
}

// took returns the duration of a product.
func (s *Server) took(p client.Product) string {
	from, ok := moment(p.StartDate)
	if !ok {
		return ""
	}
	to, ok := moment(p.EndDate)
	if !ok {
		if ended(p.Status) {
			return ""
		}
		to = s.Now()
	}
	return human.Duration(to.Sub(from))
}

// outputs returns the ids of the datasets that a product made.
func outputs(p client.Product) (ids []string) {
	if json.Unmarshal(p.Outputs, &ids) != nil {
		return nil
	}
	return ids
}

// watchProducts emits when a product was ordered or changed its state.
func (s *Server) watchProducts(ctx context.Context, _, after string, emit emitter) error {
	c, err := s.platform()
	if err != nil {
		return nil
	}
	last := after
	return follow(ctx, after, s.Poll, emit, func() (version string, news any, ended bool, err error) {
		page, err := c.Products.Search.Page(ctx, client.ProductQuery{Query: client.Query{
			Limit: new(productsOnPage), Sort: newestFirst, Fields: only("status")}})
		if err != nil {
			return "", nil, false, err
		}
		states := sha256.New()
		for _, p := range page.Results {
			io.WriteString(states, p.ID+p.Status)
		}
		version = hex.EncodeToString(states.Sum(nil)[:8])
		news = map[string]any{"changed": last != ""}
		last = version
		return version, news, false, nil
	})
}
