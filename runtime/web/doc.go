// Package web is the page of transect ui: the map, the datasets, the products and the runs of one connection,
// for a browser.
//
// New makes the http.Handler. server.go has its options and routes, auth.go access control, render.go
// templates and errors, events.go live updates. A section is a file with a method that registers its routes
// (map.go, datasets.go, products.go, runs.go, folder.go), listed in sections. Templates are in templates, one
// per page, on top of layout.html; styles and modules in static. The package uses the client and the history
// of runs, not the internals of the platform.
//
// Texts and tables work without JavaScript. Nothing is fetched from other hosts, except the background tiles
// in Options.
package web
