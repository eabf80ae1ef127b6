// Package web is the page of transect ui: the map, the datasets, the products
// and the runs of one connection, for a browser.
//
// New makes the http.Handler. server.go has its options and routes, auth.go
// who may enter, render.go templates and errors, events.go what is live. A
// section is a file with a method that registers its routes (map.go,
// datasets.go, products.go, runs.go, folder.go), listed in sections. Templates
// are in templates, one a page, on top of layout.html; styles and modules in
// static. The package knows the client and the history of runs, not the
// platform's inside.
//
// Texts and tables work without JavaScript. Nothing is fetched from another
// host, but for the background tiles that Options name.
package web
