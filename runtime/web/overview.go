package web

import "net/http"

// overviewRoutes registers the start page: projects and missions, what is wrong
// first.
func (s *Server) overviewRoutes() { s.get("/", s.overview) }

func (s *Server) overview(w http.ResponseWriter, r *http.Request) error {
	return s.render(w, r, "overview.html", view{Title: "Overview", Section: "/"})
}
