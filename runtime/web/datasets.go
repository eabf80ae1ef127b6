package web

import "net/http"

// datasetRoutes registers the table of datasets and the page of one.
func (s *Server) datasetRoutes() { s.get("/datasets", s.datasetTable) }

func (s *Server) datasetTable(w http.ResponseWriter, r *http.Request) error {
	return s.render(w, r, "datasets.html", view{Title: "Datasets", Section: "/datasets"})
}
