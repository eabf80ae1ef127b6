package platform

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"transect/client/formats"
	"transect/client/schema"
	"transect/platform/internal/store"
)

// maxComponents is how many components a dataset may have.
const maxComponents = 10_000

// optionalParts lists the components of a dataset type besides its main one.
var optionalParts = map[string][]string{
	"raster": {"projection", "worldfile", "header"},
	"vector": {"database", "index", "projection"},
	"mesh":   {"texture", "material"},
}

// newComponents reads the components of a dataset to be created.
func newComponents(kind string, v any) []any {
	check((&schema.Param{Type: "[]object", Distinct: true,
		Fields: fields{{Name: "name", Type: "word"}}}).CheckJSON("components", v))
	given := v.([]any)
	if len(given) > maxComponents {
		panic(wrong("components", "has more than %d elements", maxComponents))
	}
	names, components := make([]string, len(given)), make([]any, len(given))
	for i, v := range given {
		c := v.(map[string]any)
		if names[i] = store.Text(c, "name"); slices.Contains(hiddenComponents, names[i]) {
			panic(wrong("components", "the name %q is reserved", names[i]))
		}
		component := store.Doc{"name": names[i], "status": statusPending}
		if names[i] == "collection" && c["collection"] != nil {
			component["collection"] = store.Doc{"id": store.Lookup(c, "collection.id")}
			component["status"] = statusCompleted
			if c["origin"] != nil {
				component["origin"] = c["origin"]
			}
		}
		components[i] = component
	}
	checkComponents(kind, names)
	return components
}

// needCollections checks the collections that a new dataset of a company is to
// show, and the datasets they come from.
func (r *Request) needCollections(components []any, company string) {
	shown := []ref{{"collection.id", collections, leave}, {"origin.id", datasets, leave}}
	for i, v := range components {
		c := v.(map[string]any)
		if c["collection"] == nil {
			continue
		}
		inElement("components", i, func() {
			found := r.resolve(shown, c)
			if store.Text(c, "collection.id") == "" {
				panic(wrong("collection.id", "is required"))
			}
			checkCompanies(store.Doc{"company": company}, found)
		})
	}
}

// checkComponents refuses components that a dataset type does not have.
func checkComponents(kind string, names []string) {
	if kind == "file" || kind == "vector" && (slices.Equal(names, []string{"archive"}) ||
		slices.Equal(names, []string{"collection"})) {
		return
	}
	if !slices.Contains(names, kind) {
		panic(wrong("components", "a dataset of type %s needs a component %s", kind, kind))
	}
	for _, name := range names {
		if name != kind && !slices.Contains(optionalParts[kind], unnumbered(name)) {
			panic(wrong("components", "a dataset of type %s has no component %s", kind, name))
		}
	}
}

// unnumbered removes the number from "texture_0".
func unnumbered(name string) string {
	if i := strings.LastIndexByte(name, '_'); i > 0 {
		if _, err := strconv.ParseUint(name[i+1:], 10, 32); err == nil {
			return name[:i]
		}
	}
	return name
}

// componentOf returns a dataset and one of its components.
func (r *Request) componentOf(dataset, name string) (doc, c store.Doc) {
	doc = r.get(datasets, dataset)
	for _, v := range listOf(doc, "components") {
		switch c := v.(map[string]any); {
		case c["name"] != any(name):
		case c["collection"] != nil:
			panic(invalid("component: %q is a collection of features and has no file", name))
		default:
			return doc, c
		}
	}
	panic(fail(http.StatusNotFound, "ResourceNotFound", "dataset %s has no component %q", dataset, name))
}

// checkFormat refuses a file whose content does not match its extension. It checks the main file of a
// dataset, archives and JSON files; other files may be of any kind.
func checkFormat(ctx context.Context, file formats.File, further bool) error {
	extension := strings.ToLower(filepath.Ext(file.Name))
	if extension == ".json" || extension == ".geojson" {
		return formats.CheckJSON(ctx, file)
	}
	if further && extension != ".zip" {
		return nil
	}
	content, err := formats.Recognise(file)
	if err == nil && content.Damage != "" {
		err = fmt.Errorf("%s: %s", file.Name, content.Damage)
	}
	return err
}
