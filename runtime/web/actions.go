package web

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"transect/client"
	"transect/client/fault"
	"transect/runtime/web/board"
)

// action is something the page may do, when it was started with --allow-actions.
// GET /actions/NAME asks, POST does it.
type action struct {
	title string
	verb  string // on the button
	hint  string
	bad   bool // it removes something
	local bool // it needs no platform: c is nil
	// about says what it would be done to, and refuses what cannot be.
	about func(ctx context.Context, c *client.Client, values url.Values) ([]string, error)
	// do does it and returns the page to go on with.
	do func(ctx context.Context, c *client.Client, values url.Values) (string, error)
}

// maxAtOnce is how many datasets one form deletes or restores.
const maxAtOnce = 500

// actionRoutes registers what changes the platform. All of it has a page that
// asks first, and works without JavaScript.
func (s *Server) actionRoutes() {
	s.action("delete", action{title: "Delete datasets", verb: "Delete", bad: true,
		hint:  "They can be restored for some time, here or with transect restore.",
		about: aboutDatasets, do: s.deleteDatasets})
	s.action("restore", action{title: "Restore datasets", verb: "Restore",
		about: aboutDatasets, do: s.restoreDatasets})
	s.action("cancel", action{title: "Cancel the product", verb: "Cancel it", bad: true,
		hint:  "What it has computed so far is lost.",
		about: s.aboutProduct, do: cancelProduct})
	s.action("order-again", action{title: "Order again", verb: "Order",
		hint:  "The same analytic is ordered with the same inputs and parameters.",
		about: s.aboutProduct, do: orderAgain})
	s.orderRoutes()
}

var errReadOnly = &refusal{"this page only reads; start transect ui with --allow-actions to change something"}

// permitted refuses what changes something unless actions are allowed.
func (s *Server) permitted(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if !s.Actions {
			return errReadOnly
		}
		return h(w, r)
	}
}

// confirmation is the page that asks.
type confirmation struct {
	Title, Verb, Hint string
	Bad               bool
	Name              string
	About             []string
	Values            url.Values
	Back              string
}

func (s *Server) action(name string, a action) {
	path := "/actions/" + name
	s.get(path, s.permitted(func(w http.ResponseWriter, r *http.Request) error {
		c, err := s.platformOf(a)
		if err != nil {
			return err
		}
		values := r.URL.Query()
		texts, err := a.about(r.Context(), c, values)
		if err != nil {
			return err
		}
		return s.render(w, r, "confirm.html", view{Title: a.title, Section: sectionOf(values), Data: confirmation{Title: a.title, Verb: a.verb, Hint: a.hint,
			Bad: a.bad, Name: name, About: texts, Values: about(values), Back: back(values)}})
	}))
	s.post(path, s.permitted(bounded(func(w http.ResponseWriter, r *http.Request) error {
		c, err := s.platformOf(a)
		if err != nil {
			return err
		}
		s.Logger.Info("the page was asked to "+strings.ToLower(a.verb), "action", name, "of", strings.Join(slices.Concat(slices.Collect(maps.Values(about(r.PostForm)))...), " "))
		next, err := a.do(r.Context(), c, r.PostForm)
		if err != nil {
			return err
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
		return nil
	})))
}

// about are the values of a form that name what something is done to.
func about(values url.Values) url.Values {
	named := url.Values{}
	for _, name := range []string{"dataset", "product", "job", "schedule"} {
		if list := values[name]; len(list) > 0 {
			named[name] = list
		}
	}
	return named
}

// platformOf is the platform that an action needs.
func (s *Server) platformOf(a action) (*client.Client, error) {
	if a.local {
		return nil, nil
	}
	return s.platform()
}

func sectionOf(values url.Values) string {
	if values.Has("job") || values.Has("schedule") {
		return "/jobs"
	}
	if values.Has("product") {
		return "/products"
	}
	return "/datasets"
}

// back is where one came from.
func back(values url.Values) string {
	if id := values.Get("job"); id != "" {
		return "/jobs/" + url.PathEscape(id)
	}
	if name := values.Get("schedule"); name != "" {
		return board.ScheduleLink(name)
	}
	if id := values.Get("product"); id != "" {
		return "/products/" + url.PathEscape(id)
	}
	if list := values["dataset"]; len(list) == 1 {
		return "/datasets/" + url.PathEscape(list[0])
	}
	return "/datasets"
}

// chosen are the datasets of a form.
func chosen(values url.Values) (client.IDs, error) {
	ids := values["dataset"]
	if len(ids) == 0 {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "no dataset was chosen"), "go back and mark some")
	}
	if len(ids) > maxAtOnce {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "%d datasets are too many for one form", len(ids)), "at most %d; for more there is transect rm", maxAtOnce)
	}
	return client.IDs(ids), nil
}

func aboutDatasets(ctx context.Context, c *client.Client, values url.Values) ([]string, error) {
	ids, err := chosen(values)
	if err != nil {
		return nil, err
	}
	found, err := describeDatasets(ctx, c, ids)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, d := range found {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s (%s) %s", d.Name, kindName(d.Type), size(d.Size))))
	}
	return list, nil
}

func (s *Server) deleteDatasets(ctx context.Context, c *client.Client, values url.Values) (string, error) {
	ids, err := chosen(values)
	if err == nil {
		_, err = c.Datasets.Delete(ctx, client.DatasetList{Dataset: ids})
	}
	if len(ids) > 1 {
		return "/datasets?deleted=1", err
	}
	return back(values), err
}

func (s *Server) restoreDatasets(ctx context.Context, c *client.Client, values url.Values) (string, error) {
	ids, err := chosen(values)
	if err == nil {
		_, err = c.Datasets.Restore(ctx, client.DatasetList{Dataset: ids})
	}
	return back(values), err
}

func (s *Server) aboutProduct(ctx context.Context, c *client.Client, values url.Values) ([]string, error) {
	p, err := c.Products.Describe(ctx, client.Ref{ID: client.ID(values.Get("product"))})
	if err != nil {
		return nil, err
	}
	rows, err := s.productRows(ctx, []client.Product{p})
	if err != nil {
		return nil, err
	}
	return []string{strings.Join(slices.DeleteFunc([]string{rows[0].Title, rows[0].ProjectName, rows[0].MissionName, p.Status},
		func(text string) bool { return text == "" }), ", ")}, nil
}

func cancelProduct(ctx context.Context, c *client.Client, values url.Values) (string, error) {
	_, err := c.Products.Cancel(ctx, client.Ref{ID: client.ID(values.Get("product"))})
	return back(values), err
}

// maxForm bounds the body of a form.
const maxForm = 64 << 10

// post registers a route that changes something. Its form brings along the token
// of the session ({{.Form}} as "form").
func (s *Server) post(path string, h handler) {
	s.mux.HandleFunc("POST "+path, s.answer(func(w http.ResponseWriter, r *http.Request) error {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if !s.gate.MayPost(r) {
			return &refusal{"the form is not from this page, or from before transect was restarted"}
		}
		return h(w, r)
	}))
}

// refusal is the error of what is not permitted.
type refusal struct{ why string }

func (e *refusal) Error() string { return e.why }

// anotherRoutes registers the page that makes an address for another browser.
func (s *Server) anotherRoutes() {
	page := func(w http.ResponseWriter, r *http.Request, address string) error {
		v := view{Title: "Open in another browser"}
		if address != "" {
			v.Data = address
		}
		return s.render(w, r, "another.html", v)
	}
	s.get("/another", func(w http.ResponseWriter, r *http.Request) error { return page(w, r, "") })
	s.post("/another", func(w http.ResponseWriter, r *http.Request) error { return page(w, r, s.Address()) })
}
