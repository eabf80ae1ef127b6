package platform

import "transect/platform/internal/store"

// Datastreams are made from templates. Found files and monitored assets are recorded by a running datastream.
// The local platform contacts no source, so it adds none itself.
var (
	datastreamTemplates = &resource{name: "datastreamtemplate", plural: "datastreamtemplates",
		unique: []string{"company", "name"}}
	datastreams      = &resource{name: "datastream", plural: "datastreams"}
	datastreamFiles  = &resource{name: "file", plural: "datastream_files"}
	datastreamAssets = &resource{name: "asset", plural: "datastream_assets"}
)

func serveDatastreams() {
	datastreamTemplates.refs = []ref{{"company", companies, leave}}
	datastreamTemplates.rules = fields{
		{Name: "description", Type: "string"}, {Name: "source", Type: "object", Fields: fields{{Name: "type", Type: "word"}}},
		{Name: "contextualisation", Type: "object"}, {Name: "transform", Type: "object"}, {Name: "aggregate", Type: "object"},
		{Name: "import", Type: "object", Fields: fields{
			{Name: "dataset_parameters", Type: "object", Optional: true, Fields: optional(fields{
				{Name: "type", Type: "string", Choices: datasetTypes}, {Name: "categories", Type: "[]word"},
				{Name: "horizontal_srs_wkt", Type: "string"}, {Name: "ingestion", Type: "object"}})}}},
	}
	datastreamTemplates.complete = owned

	datastreams.refs = []ref{{"template", datastreamTemplates, refuse}}
	datastreams.rules = fields{{Name: "description", Type: "string"}, {Name: "source", Type: "object", Fields: fields{
		{Name: "url", Type: "word"}, {Name: "regex", Type: "string", Optional: true},
		{Name: "synchronisation", Type: "object", Optional: true, Fields: optional(fields{{Name: "type", Type: "string"}})}}}}
	datastreams.complete = completeDatastream

	datastreamFiles.refs = []ref{{"datastream", datastreams, cascade}}
	datastreamAssets.refs = []ref{{"datastream", datastreams, cascade}}

	serve("datastreamtemplates", datastreamTemplates, map[string]endpoint{
		"search": do(searchDatastreamTemplates, "exlude"), // some clients misspell it
	})
	serve("datastreams", datastreams, nil)
	serve("datastreamsfiles", datastreamFiles, nil)
	serve("datastreamsassetsmonitored", datastreamAssets, nil)
}

// completeDatastream sets a datastream's company to its template's.
func completeDatastream(r *Request, _, doc store.Doc) {
	checkPeriod(doc)
	template := r.get(datastreamTemplates, store.Text(doc, "template"))
	if given := doc["company"]; given != nil && given != template["company"] {
		panic(wrong("company", "%s is not the company of template %s", given, template["_id"]))
	}
	doc["company"] = template["company"]
}

// searchDatastreamTemplates also takes a list of keys to leave out.
func searchDatastreamTemplates(r *Request) any {
	q := datastreamTemplates.query(r)
	for _, key := range []string{"exclude", "exlude"} {
		if r.body[key] == nil {
			continue
		}
		checkAs("[]word", key, r.body[key])
		q.Fields.Exclude = append(q.Fields.Exclude, r.texts(key)...)
		if q.Fields.Include != nil {
			panic(wrong(key, "cannot be given together with fields.include"))
		}
	}
	return must(r.Search(datastreamTemplates.plural, q))
}
