package web

import "net/http"

// runRoutes registers the runs of this machine.
func (s *Server) runRoutes() { s.get("/runs", s.runList) }

func (s *Server) runList(w http.ResponseWriter, r *http.Request) error {
	runs, err := s.History.List(50, nil)
	if err != nil {
		return err
	}
	return s.render(w, r, "runs.html", view{Title: "Runs", Section: "/runs", Data: runs})
}
