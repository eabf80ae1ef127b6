package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"transect/client"
	"transect/client/fault"
	"transect/client/human"
	"transect/client/transport"
	"transect/runtime/unattended/history"
)

// datasetView is the data of a dataset's page.
type datasetView struct {
	datasetRow
	Version     string // changes with the files
	MapLink     string
	Facts       []fact
	Source      origin
	Problem     string // of the ingestion
	Record      string // the platform's whole record
	ProductName string
	Steps       []ingestionStep
	Features    *featureTable // of a vector, nil without properties
}

// fact is a line of metadata.
type fact struct{ Name, Value string }

// origin describes where a dataset came from: the properties that an ingest stores, and the run in the
// history of this machine.
type origin struct {
	File, Run, Modified, Replaces, Problem string
	Size                                   int64
	Known                                  *history.Summary // nil when the run is not from this machine
}

// otherFields lists fields shown elsewhere on the page, or of no use to people.
var otherFields = []string{"_id", "name", "type", "project", "mission", "components", "properties", "ingestion",
	"source", "size",
	"acquisition_date", "geometry", "width", "height", "tiles", "footprint", "preview", "creation_date",
	"modification_date", "deletion_date", "creation_user", "modification_user", "deletion_user"}

func (s *Server) datasetPage(w http.ResponseWriter, r *http.Request, c *client.Client) error {
	found, err := describeDatasets(r.Context(), c, client.IDs{r.PathValue("dataset")})
	if err != nil {
		return err
	}
	d := found[0]
	rows, err := s.datasetRows(r.Context(), []client.Dataset{d})
	if err != nil {
		return err
	}
	v := datasetView{datasetRow: rows[0], MapLink: mapLink(d, d.Geometry, d.ID), Problem: d.Ingestion.Error.Message,
		Record: indented(d.JSON())}
	for _, part := range d.Components {
		v.Version += part.Checksum
	}
	v.Version = v.Version[:min(64, len(v.Version))]
	v.Source = s.origin(r.Context(), d)
	v.Steps = ingestionSteps(d.JSON())
	if d.Type == "vector" {
		v.Features = s.features(r.Context(), c, d)
	}
	var record map[string]json.RawMessage
	if err := json.Unmarshal(d.JSON(), &record); err != nil {
		return err
	}
	v.Facts = facts("", record, otherFields)
	properties := map[string]json.RawMessage{}
	if json.Unmarshal(record["properties"], &properties) == nil {
		v.Facts = append(v.Facts, facts("", properties, []string{"transect"})...)
	}
	if d.Source.Product != "" {
		v.ProductName = d.Source.Product
		if p, err := c.Products.Describe(r.Context(), client.Ref{ID: client.ID(d.Source.Product)}); err == nil {
			v.ProductName = strings.TrimSpace(cmp.Or(p.Name, p.AnalyticName, p.ID) + " " + p.AnalyticVersion)
		}
	}
	return s.render(w, r, "dataset.html", view{Title: cmp.Or(d.Name, d.ID), Section: "/datasets", Data: v,
		Topics: []string{"platform"}})
}

// describeDatasets describes datasets, including deleted ones.
func describeDatasets(ctx context.Context, c *client.Client, ids client.IDs) ([]client.Dataset, error) {
	found, err := c.Datasets.Describe(ctx, client.Refs{IDs: ids})
	if fault.Status(err) != http.StatusNotFound {
		if err == nil && len(found) == 0 {
			return nil, notFound("there is no dataset %s", ids[0])
		}
		return found, err
	}
	deleted := func(yes bool) map[string]any { return map[string]any{"deletion_date": map[string]any{"$exists": yes}} }
	filter := among("_id", ids)
	filter["$or"] = []any{deleted(true), deleted(false)}
	page, failed := c.Datasets.Search.Page(ctx, client.DatasetQuery{Query: client.Query{Limit: new(len(ids)),
		Filter: filter}})
	if failed != nil || len(page.Results) == 0 {
		return nil, err
	}
	return page.Results, nil
}

// origin returns where a dataset came from.
func (s *Server) origin(ctx context.Context, d client.Dataset) origin {
	p := gjson.GetBytes(d.JSON(), "properties.transect")
	o := origin{File: p.Get("file").String(), Run: runOf(p), Modified: p.Get("modified").String(),
		Size:     p.Get("size").Int(),
		Replaces: p.Get("replaces").String(), Problem: p.Get("problem").String()}
	if report := p.Get("problem"); report.IsObject() {
		o.Problem = sentence(report.Get("cause").Str)
		if hint := report.Get("hint").Str; hint != "" {
			o.Problem += " " + sentence(hint)
		}
	}
	if run, _, err := s.findRun(ctx, o.Run); err == nil && run.ID == o.Run {
		o.Known = run
	} else {
		o.Known = s.runOfIngest(o.Run)
	}
	return o
}

// ingestTime is the layout that the ID of an ingest begins with.
const ingestTime = "20060102-150405.000"

// runOfIngest returns the run on this machine that an ingest was part of, or nil.
func (s *Server) runOfIngest(id string) *history.Summary {
	if len(id) < len(ingestTime) {
		return nil
	}
	at, err := time.Parse(ingestTime, id[:len(ingestTime)])
	if err != nil {
		return nil
	}
	runs, err := s.History.List(20, func(run *history.Summary) bool {
		return !run.Started.After(at) && (run.End == nil || !run.End.At.Before(at))
	})
	if err != nil {
		return nil
	}
	for _, run := range runs {
		if p, err := s.History.Progress(run.ID); err == nil && slices.Contains(p.Ingests, id) {
			return run
		}
	}
	return nil
}

// runOf returns the ID of the run that made a dataset, as its ingest recorded it: the script's run, or the
// ingest itself.
func runOf(p gjson.Result) string {
	return cmp.Or(p.Get("part_of").String(), p.Get("run").String())
}

// facts lists the fields of an object by name, except some. Objects nested twice are one line of JSON.
func facts(prefix string, record map[string]json.RawMessage, without []string) (list []fact) {
	for name, value := range record {
		if slices.Contains(without, name) {
			continue
		}
		text := string(value)
		var plain string
		var nested map[string]json.RawMessage
		switch {
		case text == "null", text == `""`, text == "[]", text == "{}":
			continue
		case json.Unmarshal(value, &plain) == nil:
			text = plain
		case prefix == "" && json.Unmarshal(value, &nested) == nil:
			list = append(list, facts(name+".", nested, nil)...)
			continue
		}
		list = append(list, fact{prefix + name, readable(prefix+name, text)})
	}
	slices.SortFunc(list, func(a, b fact) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// units maps the fields of a dataset to their declared units.
var units = sync.OnceValue(func() map[string]string {
	units := map[string]string{}
	for field := range reflect.TypeFor[client.Dataset]().Fields() {
		if unit := field.Tag.Get("unit"); unit != "" {
			units[field.Tag.Get("json")] = unit
		}
	}
	return units
})

// readable formats a value for people: numbers rounded and with their unit, reference systems by name.
func readable(name, text string) string {
	if strings.HasSuffix(name, "_wkt") {
		if _, rest, ok := strings.Cut(text, `["`); ok {
			if name, _, ok := strings.Cut(rest, `"`); ok && name != "" {
				return name
			}
		}
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		text = strconv.FormatFloat(n, 'g', 9, 64)
		switch {
		case strings.HasSuffix(name, "_count"):
			text = human.Number(int64(n))
		case name == "resolution":
			text = strconv.FormatFloat(n, 'g', 3, 64)
		case n == math.Trunc(n) && math.Abs(n) < 1<<53:
			text = strconv.FormatFloat(n, 'f', -1, 64)
		}
		text = strings.TrimSpace(text + " " + units()[name])
	}
	return human.Shorten(text, 2000)
}

// indented formats a record for people, without possible secrets.
func indented(raw []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return ""
	}
	return human.Shorten(transport.Redact(b.String()), 200_000)
}

// ingestionStep is a line about the processing of a dataset.
type ingestionStep struct {
	What, State, When, Message string
	Bad                        bool // the message is an error
}

// ingestionSteps lists the steps of a dataset on the platform: its creation, the arrival of its files, and
// the results of ingestion, tiles and preview with the platform's messages.
func ingestionSteps(record []byte) (steps []ingestionStep) {
	d := gjson.ParseBytes(record)
	add := func(what, state, when string, report gjson.Result) {
		step := ingestionStep{What: what, State: state, When: when}
		if step.Message = report.Get("error.message").Str; step.Message != "" {
			step.Bad = true
		} else {
			step.Message = cmp.Or(report.Get("warning.message").Str, report.Get("message").Str)
		}
		steps = append(steps, step)
	}
	add("Created", "", d.Get("creation_date").Str, gjson.Result{})
	arrived, parts := 0, d.Get("components").Array()
	for _, part := range parts {
		if part.Get("status").Str == "completed" {
			arrived++
		}
	}
	if len(parts) > 0 {
		add("Files", human.Number(arrived)+" of "+human.Number(len(parts))+" uploaded", d.Get("modification_date").Str,
			gjson.Result{})
	}
	for _, s := range [][2]string{{"Ingestion", "ingestion"}, {"Tiles", "tiles"}, {"Preview", "preview"}} {
		if report := d.Get(s[1]); report.Get("status").Str != "" {
			add(s[0], report.Get("status").Str, report.Get("date").Str, report)
		}
	}
	if deleted := d.Get("deletion_date").Str; deleted != "" {
		add("Deleted", "", deleted, gjson.Result{})
	}
	return steps
}
