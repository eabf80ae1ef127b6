package web

import "net/http"

// productRoutes registers the list of products and the page of one.
func (s *Server) productRoutes() { s.get("/products", s.productList) }

func (s *Server) productList(w http.ResponseWriter, r *http.Request) error {
	return s.render(w, r, "products.html", view{Title: "Products", Section: "/products"})
}
