package platform

import (
	"slices"
	"strconv"
	"strings"

	"transect/platform/store"
)

// The states of a component.
const (
	componentPending   = "pending"
	componentCompleted = "completed"
)

// maxComponents is how many components a dataset may have.
const maxComponents = 10_000

// optionalParts are the components that a dataset type may have beside its main one.
var optionalParts = map[string][]string{
	"raster": {"projection", "worldfile", "header"},
	"vector": {"database", "index", "projection"},
	"mesh":   {"texture", "material"},
}

// components reads the components of a dataset to be created.
func (a *args) components(kind string) []any {
	var names []string
	components := []any{}
	list := a.list("components")
	if len(list) > maxComponents {
		a.wrong("components", "holds more than %d", maxComponents)
		return nil
	}
	for i, v := range list {
		object, ok := v.(map[string]any)
		if !ok {
			a.wrong("components", "element %d must be an object with a name", i)
			return nil
		}
		inner := within(object, a.at+"components["+itoa(i)+"]")
		name := inner.text("name")
		if slices.Contains(names, name) {
			inner.wrong("name", "%q is listed twice", name)
		}
		names = append(names, name)
		component := store.Doc{"name": name, "status": componentPending}
		if name == "collection" && inner.has("collection") {
			collection := within(inner.object("collection"), inner.at+"collection")
			component["collection"] = store.Doc{"id": collection.id("id")}
			component["status"] = componentCompleted
			if origin := inner.optObject("origin"); origin != nil {
				component["origin"] = origin
			}
			if inner.err == nil {
				inner.err = collection.err
			}
		}
		if a.err == nil {
			a.err = inner.err
		}
		components = append(components, component)
	}
	if a.err == nil {
		if problem := checkComponents(kind, names); problem != "" {
			a.wrong("components", "%s", problem)
		}
	}
	return components
}

// checkComponents returns what is wrong with the components of a dataset type, or "".
func checkComponents(kind string, names []string) string {
	switch kind {
	case "file":
		return ""
	case "vector":
		if slices.Equal(names, []string{"archive"}) || slices.Equal(names, []string{"collection"}) {
			return ""
		}
	}
	if !slices.Contains(names, kind) {
		return "a dataset of type " + kind + " needs a component " + kind
	}
	for _, name := range names {
		if name != kind && !slices.Contains(optionalParts[kind], unnumbered(name)) {
			return "a dataset of type " + kind + " has no component " + name
		}
	}
	return ""
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

// component returns the component of a dataset with a name.
func component(dataset store.Doc, name string) (store.Doc, bool) {
	list, _ := dataset["components"].([]any)
	for _, v := range list {
		if c, ok := v.(map[string]any); ok && c["name"] == any(name) {
			return c, true
		}
	}
	return nil, false
}

// componentOf returns the dataset and its component that a request is about.
func (r *Request) componentOf(dataset, name string) (doc, c store.Doc, err error) {
	if doc, err = r.get(datasets, dataset); err != nil {
		return nil, nil, err
	}
	c, ok := component(doc, name)
	if !ok {
		return nil, nil, fail(404, "ResourceNotFound", "dataset %s has no component %q", dataset, name)
	}
	if c["collection"] != nil {
		return nil, nil, invalid("component: %q is a collection of features and has no file", name)
	}
	return doc, c, nil
}

func itoa(i int) string { return strconv.Itoa(i) }
