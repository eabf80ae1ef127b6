package platform

import "transect/platform/store"

var datastreamTemplates = kind{name: "datastreamtemplate", plural: "datastreamtemplates", firstPage: 0, limit: 50}

// dataflowRoot is where the routes of datastreams and their templates lie.
const dataflowRoot = "dataflow/"

func datastreamTemplateRoutes() []route {
	return []route{
		write(dataflowRoot+"create-datastream-template", createDatastreamTemplate),
		write(dataflowRoot+"delete-datastream-template", datastreamTemplates.one(deleteDatastreamTemplate)),
		read(dataflowRoot+"describe-datastream-template", datastreamTemplates.describe),
		read(dataflowRoot+"describe-datastream-templates", datastreamTemplates.describeMany),
		read(dataflowRoot+"search-datastream-templates", searchDatastreamTemplates),
	}
}

func createDatastreamTemplate(r *Request) (any, error) {
	a := r.args()
	name := a.text("name")
	a.optText("description")
	source, imported := within(a.object("source"), "source"), within(a.object("import"), "import")
	for _, key := range []string{"contextualisation", "transform", "aggregate"} {
		a.optObject(key)
	}
	if a.err == nil {
		source.text("type")
		a.err = source.err
	}
	if a.err == nil {
		a.err = imported.datasetParameters()
	}
	company, err := r.owner(a)
	if err != nil {
		return nil, err
	}
	if err := r.needFree(datastreamTemplates, company, name, ""); err != nil {
		return nil, err
	}
	doc, err := r.extras()
	if err != nil {
		return nil, err
	}
	doc["company"] = company
	return doc, r.create(datastreamTemplates, doc)
}

// datasetParameters checks what the datasets made of files are to be like.
func (a *args) datasetParameters() error {
	parameters := a.optObject("dataset_parameters")
	if parameters == nil || a.err != nil {
		return a.err
	}
	inner := within(parameters, a.at+"dataset_parameters")
	if inner.has("type") {
		inner.oneOf("type", datasetTypes...)
	}
	if inner.has("categories") {
		inner.texts("categories")
	}
	inner.optText("horizontal_srs_wkt")
	inner.optObject("ingestion")
	return inner.err
}

// deleteDatastreamTemplate deletes a template that no datastream is made from.
func deleteDatastreamTemplate(r *Request, id string) error {
	doc, err := r.get(datastreamTemplates, id)
	if err != nil {
		return err
	}
	used, err := r.tx.Search(datastreams.plural, store.Query{Filter: store.Doc{"template": id}, Limit: 1, NoTotal: true})
	if err != nil {
		return err
	}
	if len(used.Results) > 0 {
		return conflict("datastreams are made from template %s; delete them first", id)
	}
	return r.softDelete(datastreamTemplates, doc)
}

// searchDatastreamTemplates also takes a list of keys to leave out; clients
// are known that misspell it.
func searchDatastreamTemplates(r *Request) (any, error) {
	q, err := datastreamTemplates.query(r)
	if err != nil {
		return nil, err
	}
	a := r.args()
	for _, key := range []string{"exclude", "exlude"} {
		if !a.has(key) {
			continue
		}
		q.Fields.Exclude = append(q.Fields.Exclude, a.texts(key)...)
		if q.Fields.Include != nil {
			a.wrong(key, "cannot be given together with fields.include")
		}
	}
	if a.err != nil {
		return nil, a.err
	}
	return r.tx.Search(datastreamTemplates.plural, q)
}
