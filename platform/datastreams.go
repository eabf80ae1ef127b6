package platform

import "transect/platform/store"

var (
	datastreams = kind{name: "datastream", plural: "datastreams", firstPage: 0, limit: 50}

	// Found files and watched assets are what a running datastream notes of
	// its source. The local platform reaches out to no source, so it adds none
	// by itself; searches answer with what there is.
	datastreamFiles  = kind{name: "file", plural: "datastream_files", firstPage: 0, limit: 50}
	datastreamAssets = kind{name: "asset", plural: "datastream_assets", firstPage: 0, limit: 50}
)

func datastreamRoutes() []route {
	return []route{
		write(dataflowRoot+"create-datastream", createDatastream),
		write(dataflowRoot+"delete-datastream", datastreams.one(deleteDatastream)),
		read(dataflowRoot+"describe-datastream", datastreams.describe),
		read(dataflowRoot+"search-datastreams", datastreams.search),
	}
}

func datastreamFileRoutes() []route {
	return []route{read(dataflowRoot+"search-datastreams-files", datastreamFiles.search)}
}

func datastreamAssetRoutes() []route {
	return []route{read(dataflowRoot+"search-datastreams-assets-monitoring", datastreamAssets.search)}
}

// createDatastream makes a datastream of the company of its template.
func createDatastream(r *Request) (any, error) {
	a := r.args()
	a.text("name")
	a.optText("description")
	start, end := a.date("start_date"), a.date("end_date")
	if a.err == nil && end < start {
		a.wrong("end_date", "is before start_date")
	}
	a.datastreamSource()
	template := a.id("template")
	if a.err != nil {
		return nil, a.err
	}
	parent, err := r.need(datastreamTemplates, template, "template")
	if err != nil {
		return nil, err
	}
	if given := a.optID("company"); a.err == nil && given != "" && given != store.Text(parent, "company") {
		a.wrong("company", "%s is not the company of template %s", given, template)
	}
	if a.err != nil {
		return nil, a.err
	}
	doc, err := r.extras()
	if err != nil {
		return nil, err
	}
	doc["company"], doc["start_date"], doc["end_date"] = parent["company"], start, end
	return doc, r.create(datastreams, doc)
}

// datastreamSource checks where files come from.
func (a *args) datastreamSource() {
	inner := within(a.object("source"), a.at+"source")
	if a.err != nil {
		return
	}
	inner.text("url")
	inner.optText("regex")
	synchronisation := within(inner.optObject("synchronisation"), inner.at+"synchronisation")
	synchronisation.optText("type")
	a.err = inner.err
	if a.err == nil {
		a.err = synchronisation.err
	}
}

// deleteDatastream deletes a datastream with what is noted of its source.
func deleteDatastream(r *Request, id string) error {
	doc, err := r.get(datastreams, id)
	if err != nil {
		return err
	}
	for _, k := range []kind{datastreamFiles, datastreamAssets} {
		if err := r.deleteWhere(k, store.Doc{"datastream": id}); err != nil {
			return err
		}
	}
	return r.softDelete(datastreams, doc)
}
