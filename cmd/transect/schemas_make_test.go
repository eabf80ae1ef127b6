package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"transect/bindings/ingest"
	"transect/client"
	"transect/client/preflight"
	"transect/client/verdict"
	"transect/cmd/transect/cli"
	"transect/runtime"
	"transect/runtime/meter"
	"transect/runtime/plan"
	"transect/runtime/reference"
	"transect/runtime/unattended/history"
	"transect/scripts"
)

// The JSON Schemas of what programs read are made here, in the tests, as the program has no use for them: go generate
// runs TestSchemas with -write.

// schemaVersion is the version of all schemas. A field that is added is none; one that is removed or means something
// else makes the next.
const schemaVersion = 1

// schemaFolder is the folder of the schemas within that of the reference.
const schemaFolder = "schemas/"

// What scripts print with --json: each line is one of these, or a record.
type (
	gotFile struct {
		Path    string `json:"path"`
		Size    int64  `json:"size,omitempty"`
		Dataset string `json:"dataset" jsonschema:"id"`
		Verdict string `json:"verdict" jsonschema:"downloaded, already_there, different or failed"`
		Cause   string `json:"cause,omitempty"`
	}
	awaited struct {
		Name      string `json:"name"`
		ID        string `json:"id"`
		Kind      string `json:"kind" jsonschema:"dataset, mission or project"`
		Completed int64  `json:"completed" jsonschema:"datasets"`
		Failed    int64  `json:"failed"`
		Never     int64  `json:"never_uploaded"`
	}
	removed struct {
		Kind    string `json:"kind"`
		ID      string `json:"id"`
		Name    string `json:"name,omitempty"`
		Deleted bool   `json:"deleted" jsonschema:"false in a dry run"`
	}
	wouldRestore struct {
		ID string `json:"id" jsonschema:"of the dataset, in a dry run"`
	}
	copiedOne struct {
		Kind    string `json:"kind" jsonschema:"dataset, annotation, tag or comment"`
		ID      string `json:"id"`
		Name    string `json:"name,omitempty"`
		Verdict string `json:"verdict" jsonschema:"copied, already_there, left_out or failed"`
		Cause   string `json:"cause,omitempty"`
	}
	logged struct {
		Time    string         `json:"timestamp"`
		Record  map[string]any `json:"record"`
		Product string         `json:"product,omitempty" jsonschema:"id, with --follow"`
	}
	part struct {
		Component string `json:"component"`
		Path      string `json:"path"`
		Size      int64  `json:"size"`
		MD5       string `json:"md5,omitempty"`
	}
	sentFile struct {
		Name      string `json:"name"`
		Path      string `json:"path"`
		Size      int64  `json:"size"`
		Verdict   string `json:"verdict"`
		Kind      string `json:"kind,omitempty"`
		Dataset   string `json:"dataset,omitempty" jsonschema:"id"`
		Component string `json:"component,omitempty"`
		MD5       string `json:"md5,omitempty"`
		Cause     string `json:"cause,omitempty"`
		Hint      string `json:"hint,omitempty"`
		Files     []part `json:"files,omitempty" jsonschema:"those that form one dataset"`
	}
	ingested struct {
		ID      string  `json:"id" jsonschema:"of the ingest"`
		Total   int64   `json:"total"`
		Bad     int64   `json:"bad" jsonschema:"files that need attention: exit code 3"`
		Seconds float64 `json:"seconds"`
		DryRun  bool    `json:"dry_run,omitempty"`
		verdict.Counts
		Failures  []sentFile       `json:"failures"`
		Preflight preflight.Report `json:"preflight" jsonschema:"what the check of the files found"`
	}
	exported struct {
		Collections int64 `json:"collections,omitempty" jsonschema:"of STAC: missions"`
		Items       int64 `json:"items,omitempty" jsonschema:"of STAC: datasets"`
		Files       int64 `json:"files,omitempty"`
		Failed      int64 `json:"failed,omitempty" jsonschema:"files: exit code 3"`
		Photos      int64 `json:"photos,omitempty"`
		Footprints  int64 `json:"footprints,omitempty"`
		FlightLines int64 `json:"flight_lines,omitempty"`
		Datasets    int64 `json:"datasets,omitempty" jsonschema:"all but photos"`
		Annotations int64 `json:"annotations,omitempty"`
		Features    int64 `json:"features,omitempty"`
		TileLayers  int64 `json:"tile_layers,omitempty" jsonschema:"of the project of QGIS"`
	}
	imported struct {
		Item    string `json:"item" jsonschema:"its id in the catalogue"`
		Name    string `json:"name"`
		Verdict string `json:"verdict" jsonschema:"imported, already_there, left_out or failed"`
		Cause   string `json:"cause,omitempty"`
	}
	finding struct {
		Name    string `json:"name"`
		Verdict string `json:"verdict"`
		Path    string `json:"path,omitempty"`
		Size    int64  `json:"size,omitempty"`
		Dataset string `json:"dataset,omitempty" jsonschema:"id"`
		Cause   string `json:"cause,omitempty"`
	}
	verified struct {
		OK         bool      `json:"ok"`
		Total      int64     `json:"total"`
		Bad        int64     `json:"bad" jsonschema:"files that need attention: exit code 3"`
		There      int64     `json:"already_there"`
		Different  int64     `json:"different"`
		Missing    int64     `json:"missing"`
		Extra      int64     `json:"extra" jsonschema:"only on the platform"`
		Refused    int64     `json:"refused"`
		Damaged    int64     `json:"damaged"`
		Incomplete int64     `json:"incomplete"`
		Duplicate  int64     `json:"duplicate"`
		LeftOut    int64     `json:"left_out"`
		Failed     int64     `json:"failed"`
		Findings   []finding `json:"findings"`
	}
)

// everydayTypes lists what each command that is a script prints with --json, besides the records everydayRecords.
func everydayTypes() map[string]reflect.Type {
	return map[string]reflect.Type{
		"copy": reflect.TypeFor[copiedOne](), "export": reflect.TypeFor[exported](), "get": reflect.TypeFor[gotFile](),
		"import": reflect.TypeFor[imported](), "logs": reflect.TypeFor[logged](),
		"put": reflect.TypeFor[ingested](), "restore": reflect.TypeFor[wouldRestore](), "rm": reflect.TypeFor[removed](),
		"verify": reflect.TypeFor[verified](), "wait": reflect.TypeFor[awaited](),
	}
}

// everydayRecords lists the records that commands print, by manager.
func everydayRecords() map[string][]string {
	return map[string][]string{
		"find": {"projects", "missions", "datasets", "products"}, "order": {"products"}, "restore": {"datasets"},
		"ls":   {"projects", "missions", "datasets", "products", "analytics"},
		"show": {"projects", "missions", "datasets", "products", "analytics"}, "wait": {"products"},
	}
}

// schemasOf returns the schemas of what programs read, and a page that lists them.
func schemasOf(a *cli.App) ([]reference.File, error) {
	s := schemas{}
	s.add("report", "File of `transect run --report`", "A run of a script, written when it ends.",
		reflect.TypeFor[history.Summary]())
	s.add("log", "Line of `--log-format json`, on standard error", "An error that ended the run, a state of a display of "+
		"progress, the sum of an ingest, an exchange of --trace, or a message with fields of its own.",
		reflect.TypeFor[runtime.ErrorLine](), reflect.TypeFor[meter.Line](), reflect.TypeFor[ingest.Line](),
		reflect.TypeFor[runtime.ExchangeLine](), reflect.TypeFor[logMessage]())
	s.addCodes()
	s.add("plan", "Line of `transect plan --json`, and of a saved plan", "The head comes first, the digest last.",
		plan.Lines()...)
	p := *a.Process
	p.Args = nil
	for _, script := range scripts.Commands() { // which are declared when named
		p.Args = append(p.Args, script.Name)
	}
	s.addCommands(a.On(&p).Root(nil))
	var files []reference.File
	page := schemaPage
	for _, name := range slices.Sorted(maps.Keys(s)) {
		text, err := s[name].text(name)
		if err != nil {
			return nil, fmt.Errorf("the schema %s: %w", name, err)
		}
		files = append(files, reference.File{Path: schemaFolder + name + ".json", Text: text})
		page += fmt.Sprintf("| [%s.json](%[1]s.json) | %s |\n", name, s[name].title)
	}
	return append(files, reference.File{Path: schemaFolder + "README.md", Text: page}), nil
}

const schemaPage = `# JSON Schemas

What programs read of transect, as [JSON Schema](https://json-schema.org) 2020-12, generated from the encoded types by
go generate. The number at the end of each $id is the version: it is raised when a field is removed or means something
else. A release may add fields; the schemas list those of this one. Commands that list print one object per line, and
the schema is that of a line. Records may have more fields than listed: the platform's own.

| schema | of |
| --- | --- |
`

// logMessage is a line of the log that a script or the program wrote. It has fields of its own.
type logMessage struct {
	Time    string `json:"time"`
	Level   string `json:"level" jsonschema:"DEBUG, INFO, WARN or ERROR"`
	Message string `json:"msg"`
}

// described is one of several alternatives.
type described struct {
	title, doc string
	types      []reflect.Type
	records    []string // by manager
	whole      *jsonschema.Schema
}

type schemas map[string]*described

func (s schemas) add(name, title, doc string, types ...reflect.Type) {
	s[name] = &described{title: title, doc: doc, types: types}
}

// addCodes adds the exit codes as an enumeration with meanings.
func (s schemas) addCodes() {
	whole := &jsonschema.Schema{Type: "integer"}
	for _, c := range history.Codes {
		text := c.Meaning
		if c.Next != "" {
			text += ". Next: " + c.Next
		}
		whole.AnyOf = append(whole.AnyOf, &jsonschema.Schema{Const: jsonschema.Ptr[any](c.Number), Title: c.Outcome,
			Description: text})
	}
	own, _ := history.Meaning(-1)
	whole.AnyOf = append(whole.AnyOf, &jsonschema.Schema{Minimum: jsonschema.Ptr(0.0), Maximum: jsonschema.Ptr(255.0),
		Title: history.Outcome(-1), Description: own})
	s["exit-codes"] = &described{title: "Exit code of `transect run`, and of all commands", whole: whole}
}

// addCommands adds what the commands below one print with --json.
func (s schemas) addCommands(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		s.addCommands(c)
	}
	flag, path := cmd.Flags().Lookup("json"), strings.TrimPrefix(cmd.CommandPath(), "transect ")
	name := strings.ReplaceAll(path, " ", "-")
	_, listed := s[name]
	if flag == nil || listed || name == "doc" { // which prints pages of the reference
		return
	}
	of := &described{title: "Output of `" + cmd.CommandPath() + " --json`", doc: cmd.Short + "."}
	if v, ok := flag.Value.(interface{ Prints() reflect.Type }); ok {
		of.types = append(of.types, v.Prints())
	}
	if _, ok := scripts.Find(name); ok {
		of.records = everydayRecords()[name]
		if t := everydayTypes()[name]; t != nil {
			of.types = append(of.types, t)
		}
	}
	s[name] = of
}

// text formats the schema as its file.
func (s *described) text(name string) (string, error) {
	whole := s.whole
	if whole == nil {
		var all []*jsonschema.Schema
		for _, t := range s.types {
			one, err := schemaOf(t)
			if err != nil {
				return "", err
			}
			all = append(all, one)
		}
		for _, manager := range s.records {
			all = append(all, recordSchema(client.RecordTypeOf(manager)))
		}
		switch len(all) {
		case 0:
			return "", fmt.Errorf("what it describes is not declared: see everydayTypes and JSONFlag")
		case 1:
			whole = all[0]
		default:
			whole = &jsonschema.Schema{AnyOf: all}
		}
	}
	whole.Schema, whole.ID = "https://json-schema.org/draft/2020-12/schema", fmt.Sprintf("urn:transect:%s:%d", name,
		schemaVersion)
	whole.Title, whole.Description = strings.ReplaceAll(s.title, "`", ""), s.doc
	text, err := json.MarshalIndent(whole, "", "  ")
	return string(text) + "\n", err
}

// schemaOf returns the schema of a Go type as encoding/json writes it.
func schemaOf(t reflect.Type) (*jsonschema.Schema, error) {
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {}}})
	if err != nil {
		return nil, err
	}
	if t == reflect.TypeFor[logMessage]() { // which a line of another kind is not
		s.AdditionalProperties = nil
		s.Not = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Required: []string{"exit_code"}},
			{Required: []string{"exchange"}}}}
	}
	optional(t, s)
	return s, nil
}

// optional makes fields optional that an embedded pointer has: they are absent when it is nil.
func optional(t reflect.Type, s *jsonschema.Schema) {
	if t.Kind() != reflect.Struct {
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.Anonymous || f.Type.Kind() != reflect.Pointer {
			continue
		}
		for _, inner := range reflect.VisibleFields(f.Type.Elem()) {
			name, _, _ := strings.Cut(inner.Tag.Get("json"), ",")
			s.Required = slices.DeleteFunc(s.Required, func(r string) bool { return r == name })
		}
	}
}

// recordSchema returns the schema of a record as the platform sends it, with its identifier under both names.
func recordSchema(r *client.RecordType) *jsonschema.Schema {
	s := fieldsSchema(r.Fields)
	s.Title, s.Description = r.Name, r.Doc
	s.Properties["_id"] = &jsonschema.Schema{Type: "string", Description: "the same as id"}
	s.Properties["id"] = &jsonschema.Schema{Type: "string", Description: "identifier"}
	s.Required = []string{"_id", "id"}
	return s
}

// jsonTypes maps types of fields to those of JSON Schema. Others can be anything.
func jsonTypes() map[string]string {
	return map[string]string{"string": "string", "date": "string", "id": "string", "number": "number",
		"integer": "integer", "boolean": "boolean", "table": "object", "geometry": "object"}
}

func fieldsSchema(fields []client.RecordField) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, f := range fields {
		if f.Wire != "" { // a second name
			continue
		}
		kind, list := strings.CutPrefix(f.Type, "list of ")
		one := &jsonschema.Schema{}
		if f.Fields != nil {
			one = fieldsSchema(f.Fields)
			one.Types, one.Type = []string{"null", "object"}, ""
		} else if t := jsonTypes()[strings.TrimSuffix(kind, "s")]; t != "" {
			one.Types = []string{"null", t}
		}
		if list {
			one = &jsonschema.Schema{Types: []string{"null", "array"}, Items: one}
		}
		one.Description = f.Doc
		if f.Unit != "" {
			one.Description += ", " + f.Unit
		}
		s.Properties[f.Name] = one
	}
	return s
}
