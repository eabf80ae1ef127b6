package client

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"transect/client/declare"
	"transect/client/schema"
)

// contracted is one operation as the reviewed contract has it.
type contracted struct {
	name, effect string
	routes       []string
	params       []contractedParam
}

type contractedParam struct {
	name, kind, required, fallback, to string
	typ                                string
}

func readContract(t *testing.T) []contracted {
	f, err := os.Open("../testdata/contract.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []contracted
	for s := bufio.NewScanner(f); s.Scan(); {
		line := s.Text()
		words := strings.Fields(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "  "):
			p := contractedParam{name: words[0], kind: words[1], required: words[2], typ: words[3]}
			for _, w := range words[4:] {
				if v, ok := strings.CutPrefix(w, "default="); ok {
					p.fallback = v
				}
				if v, ok := strings.CutPrefix(w, "to="); ok {
					p.to = v
				}
			}
			op := &all[len(all)-1]
			op.params = append(op.params, p)
		default:
			op := contracted{name: words[0], effect: words[1]}
			for i := 2; i+1 < len(words); i += 2 {
				op.routes = append(op.routes, words[i]+" "+words[i+1])
			}
			all = append(all, op)
		}
	}
	return all
}

// shapedByCode are arguments that a Go method or a Shape puts into the body,
// so that their tags say "not sent"; the tests of their bodies cover them.
var shapedByCode = map[string]string{
	"datasets.create_file_dataset":    "components are counted",
	"datasets.create_mesh_dataset":    "components are counted",
	"datasets.create_raster_dataset":  "components follow the flags",
	"datasets.create_vector_dataset":  "components follow the flags",
	"datasets.upload_file":            "bytes and checksum travel with the transfer",
	"datasets.share_tiles":            "composed of other operations",
	"share_tokens.create":             "composed of other operations",
	"missions.create":                 "composed of other operations",
	"missions.create_survey":          "coordinates become a geometry",
	"missions.complete_survey_upload": "composed of flights.update_status",
	"analytics.describe_by_name":      "composed of searches",
	"analytics.expose":                "entries are grouped by company",
	"analytics.unexpose":              "entries are grouped by company",
	"analytics.enable":                "entries are grouped by company",
	"analytics.disable":               "entries are grouped by company",

	"annotations.create":                  "a target is always a dataset",
	"annotations.set_fill_color":          "opacity is the fourth number of the colour",
	"annotations.set_stroke_color":        "opacity is the fourth number of the colour",
	"features.update_features_properties": "the argument is the whole body",
	"features.delete_features_properties": "the argument is the whole body",
	"tags.create":                         "the target of a photo has two parts",
	"tags.search":                         "the target of a photo has two parts",
	"comments.create":                     "the target of a photo has two parts",
	"comments.search":                     "the target of a photo has two parts",
	"comments.mark_as_read":               "the target of a photo has two parts",
	"datastreamtemplates.search":          "exclude is spelled right, which the reference does not",
}

// composedHere are operations that the platform does not have: they are made of
// others, which the contract covers.
var composedHere = []string{"projects.find_or_create", "missions.find_or_create", "datasets.wait", "products.wait", "products.download_outputs"}

// furtherArguments are arguments we take and the contract does not name.
var furtherArguments = map[string]string{
	"fields":            "every search of the platform takes it as an extra argument",
	"sort":              "generators of the reference fix it; any order may be asked for here",
	"after":             "products.follow_logs goes on behind a line that was read before",
	"keyset_pagination": "documented as an extra argument of every generator",
	"return_total":      "carriers, carrier_models and teams: it chooses the shape of the result and is never sent",
	"name":              "a shorthand of the search, kept for its generator",
	"coordinates":       "missions.create hands it to create_survey",
	"geometry":          "missions.create hands it to create_survey",
	"area":              "missions.create hands it to create_survey",
}

func TestDeclarationsKeepTheContract(t *testing.T) {
	declared := map[string]*declare.Spec{}
	for _, m := range Declarations() {
		for _, s := range m.Ops() {
			declared[s.FullName()] = s
		}
	}
	seen := map[string]bool{}
	for _, want := range readContract(t) {
		seen[want.name] = true
		got, ok := declared[want.name]
		if !ok {
			t.Errorf("%s is not declared", want.name)
			continue
		}
		compareOperation(t, want, got)
	}
	for name, s := range declared {
		if slices.Contains(composedHere, name) && s.Composed && len(s.Routes) == 0 {
			continue
		}
		if !seen[name] && s.Name != "search_generator" {
			t.Errorf("%s is declared but not in the contract", name)
		}
	}
}

func compareOperation(t *testing.T, want contracted, got *declare.Spec) {
	if string(got.Effect) != want.effect {
		t.Errorf("%s: effect %s, contract %s", want.name, got.Effect, want.effect)
	}
	for _, route := range got.Routes {
		if !slices.Contains(want.routes, got.Method+" "+route) {
			t.Errorf("%s: route %s %s is not among %v", want.name, got.Method, route, want.routes)
		}
	}
	if len(got.Routes) == 0 && !got.Composed {
		t.Errorf("%s: no route", want.name)
	}
	known := map[string]bool{}
	for _, w := range want.params {
		known[w.name] = true
		p := got.Param(w.name)
		if p == nil {
			t.Errorf("%s: argument %s is missing", want.name, w.name)
			continue
		}
		compareParam(t, want.name, w, p)
	}
	for _, p := range got.Params {
		if _, explained := furtherArguments[p.Name]; !known[p.Name] && !explained {
			t.Errorf("%s: argument %s is not in the contract", want.name, p.Name)
		}
	}
}

func compareParam(t *testing.T, op string, w contractedParam, p *schema.Param) {
	if p.Required() != (w.required == "req") {
		t.Errorf("%s: %s required %t, contract %s", op, p.Name, p.Required(), w.required)
	}
	if p.Positional != (w.kind == "pos") {
		t.Errorf("%s: %s positional %t, contract %s", op, p.Name, p.Positional, w.kind)
	}
	if text, err := json.Marshal(p.Default); err != nil || w.fallback != "" && string(text) != w.fallback {
		t.Errorf("%s: %s default %s, contract %s", op, p.Name, text, w.fallback)
	}
	if !strings.HasPrefix(p.Type.String(), contractTypes[w.typ]) {
		t.Errorf("%s: %s is %s, contract %s", op, p.Name, p.Type, w.typ)
	}
	if _, byCode := shapedByCode[op]; byCode {
		return
	}
	where := strings.TrimSuffix(p.Key, ".$eq")
	switch {
	case p.In == schema.NotSent:
		where = "none"
	case p.In == schema.InPath:
		where = "path"
	case p.KeyMany != "" && !strings.HasPrefix(p.Key, "filter."):
		where += "|" + p.KeyMany
	}
	if where != w.to {
		t.Errorf("%s: %s travels as %s, contract %s", op, p.Name, where, w.to)
	}
}

// contractTypes are the contract's types and how ours start; "" takes any.
var contractTypes = map[string]string{
	"id": "id", "text": "", "integer": "integer", "boolean": "boolean", "id_or_list_of_id": "id or list of ids",
	"list_of_text": "list of", "list_of_object": "list of objects", "number": "number", "path": "path",
}
