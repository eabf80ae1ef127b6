package web

import "net/http"

// folderRoutes registers the page of a folder before it is sent.
func (s *Server) folderRoutes() {
	if s.Folder != "" {
		s.get("/folder", s.folderPage)
	}
}

func (s *Server) folderPage(w http.ResponseWriter, r *http.Request) error {
	return s.render(w, r, "folder.html", view{Title: "Folder", Section: "/folder", Data: s.Folder})
}
