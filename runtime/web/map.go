package web

import "net/http"

// mapRoutes registers the map and what it shows.
func (s *Server) mapRoutes() { s.get("/map", s.mapPage) }

func (s *Server) mapPage(w http.ResponseWriter, r *http.Request) error {
	return s.render(w, r, "map.html", view{Title: "Map", Section: "/map", Wide: true})
}
