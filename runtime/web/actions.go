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
)

// action is something the page may do when started with --allow-actions. GET /actions/NAME shows a
// confirmation, POST carries it out.
type action struct {
	Title string
	Verb  string // on the button
	Hint  string
	Bad   bool // it removes something
	local bool // it needs no platform: c is nil
	// about describes the targets of the action, and refuses invalid ones.
	about func(ctx context.Context, c *client.Client, values url.Values) ([]string, error)
	// do carries the action out and returns the page to show next.
	do func(ctx context.Context, c *client.Client, values url.Values) (string, error)
}

// maxAtOnce limits the datasets that one form deletes or restores.
const maxAtOnce = 500

// actionRoutes registers the routes that change the platform. Each has a confirmation page and works without
// JavaScript.
func (s *Server) actionRoutes() {
	s.action("delete", action{Title: "Delete datasets", Verb: "Delete", Bad: true,
		Hint:  "They can be restored for some time, here or with transect restore.",
		about: aboutDatasets, do: s.deleteDatasets})
	s.action("restore", action{Title: "Restore datasets", Verb: "Restore",
		about: aboutDatasets, do: s.restoreDatasets})
	s.action("cancel", action{Title: "Cancel the product", Verb: "Cancel it", Bad: true,
		Hint:  "What it has computed so far is lost.",
		about: s.aboutProduct, do: cancelProduct})
	s.action("order-again", action{Title: "Order again", Verb: "Order",
		Hint:  "The same analytic is ordered with the same inputs and parameters.",
		about: s.aboutProduct, do: orderAgain})
	s.get("/actions/order", s.permitted(s.connected(s.orderPage)))
	s.post("/actions/order", s.permitted(bounded(s.connected(s.order))))
}

var errReadOnly = &refusal{"this page is read-only; start transect ui with --allow-actions to allow changes"}

// permitted wraps a handler that changes something: it refuses unless actions are allowed.
func (s *Server) permitted(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if !s.Actions {
			return errReadOnly
		}
		return h(w, r)
	}
}

// confirmation is the data of a confirmation page.
type confirmation struct {
	action
	Name   string
	About  []string
	Values url.Values
	Back   string
}

func (s *Server) action(name string, a action) {
	path := "/actions/" + name
	platform := func() (*client.Client, error) {
		if a.local {
			return nil, nil
		}
		return s.platform()
	}
	s.get(path, s.permitted(func(w http.ResponseWriter, r *http.Request) error {
		c, err := platform()
		if err != nil {
			return err
		}
		values := r.URL.Query()
		texts, err := a.about(r.Context(), c, values)
		if err != nil {
			return err
		}
		return s.render(w, r, "confirm.html", view{Title: a.Title, Section: subjectOf(values).section,
			Data: confirmation{a, name, texts, about(values), back(values)}})
	}))
	s.post(path, s.permitted(bounded(func(w http.ResponseWriter, r *http.Request) error {
		c, err := platform()
		if err != nil {
			return err
		}
		of := slices.Concat(slices.Collect(maps.Values(about(r.PostForm)))...)
		s.Logger.Info("the page was asked to "+strings.ToLower(a.Verb), "action", name, "of", strings.Join(of, " "))
		next, err := a.do(r.Context(), c, r.PostForm)
		if err != nil {
			return err
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
		return nil
	})))
}

// formSubject is the target of a form: its name in the form, its section, and the prefix of its page.
type formSubject struct{ name, section, page string }

var formSubjects = []formSubject{
	{"job", "/jobs", "/jobs/"},
	{"schedule", "/jobs", "/schedules/"},
	{"product", "/products", "/products/"},
	{"dataset", "/datasets", "/datasets/"},
}

// subjectOf returns the kind of target of a form.
func subjectOf(values url.Values) formSubject {
	for _, subject := range formSubjects {
		if values.Has(subject.name) {
			return subject
		}
	}
	return formSubject{"dataset", "/datasets", "/datasets/"}
}

// about returns the values of a form that name the targets.
func about(values url.Values) url.Values {
	targets := url.Values{}
	for _, subject := range formSubjects {
		if list := values[subject.name]; len(list) > 0 {
			targets[subject.name] = list
		}
	}
	return targets
}

// back returns the page that the form belongs to.
func back(values url.Values) string {
	subject := subjectOf(values)
	if list := values[subject.name]; len(list) == 1 {
		return subject.page + url.PathEscape(list[0])
	}
	return subject.section
}

// selectedDatasets returns the datasets in a form.
func selectedDatasets(values url.Values) (client.IDs, error) {
	ids := values["dataset"]
	if len(ids) == 0 {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "no dataset was chosen"), "go back and mark at least one")
	}
	if len(ids) > maxAtOnce {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "%d datasets are too many for one form", len(ids)),
			"choose at most %d, or use transect rm", maxAtOnce)
	}
	return client.IDs(ids), nil
}

func aboutDatasets(ctx context.Context, c *client.Client, values url.Values) ([]string, error) {
	ids, err := selectedDatasets(values)
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
	ids, err := selectedDatasets(values)
	if err == nil {
		_, err = c.Datasets.Delete(ctx, client.DatasetList{Dataset: ids})
	}
	if len(ids) > 1 {
		return "/datasets?deleted=1", err
	}
	return back(values), err
}

func (s *Server) restoreDatasets(ctx context.Context, c *client.Client, values url.Values) (string, error) {
	ids, err := selectedDatasets(values)
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
	return []string{strings.Join(slices.DeleteFunc([]string{rows[0].Title, rows[0].ProjectName, rows[0].MissionName,
		p.Status},
		func(text string) bool { return text == "" }), ", ")}, nil
}

func cancelProduct(ctx context.Context, c *client.Client, values url.Values) (string, error) {
	_, err := c.Products.Cancel(ctx, client.Ref{ID: client.ID(values.Get("product"))})
	return back(values), err
}

// maxForm limits the body of a form, in bytes.
const maxForm = 64 << 10

// post registers a route that changes something. Its form contains the token of the session ({{.Form}} as
// "form").
func (s *Server) post(path string, h handler) {
	s.mux.HandleFunc("POST "+path, s.answer(func(w http.ResponseWriter, r *http.Request) error {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if !s.gate.MayPost(r) {
			return &refusal{"the form is not from this page, or from before transect was restarted"}
		}
		return h(w, r)
	}))
}

// refusal is the error of an action that is not permitted.
type refusal struct{ why string }

func (e *refusal) Error() string { return e.why }

// anotherRoutes registers the page that creates an address for another browser.
func (s *Server) anotherRoutes() {
	const title = "Open in another browser"
	s.get("/another", func(w http.ResponseWriter, r *http.Request) error {
		return s.render(w, r, "another.html", view{Title: title})
	})
	s.post("/another", func(w http.ResponseWriter, r *http.Request) error {
		return s.render(w, r, "another.html", view{Title: title, Data: s.Address()})
	})
}
