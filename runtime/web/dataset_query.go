package web

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"transect/client"
	"transect/client/calendar"
)

// datasetQuery is a search in the table of datasets, parsed from its address.
type datasetQuery struct {
	Values url.Values // as given

	Name, Kind, State         string
	Project, Mission, Product string
	Run                       string
	Since, Until, Box         string
	Deleted                   bool
	Sort                      string // key of a column; descending with a prefix -
	Limit                     int
	pager
	Columns      []string
	Problems     []string // invalid parameters
	box          *[4]float64
	since, until time.Time
}

var (
	datasetKinds  = []string{"image", "raster", "vector", "pcl", "mesh", "file"}
	datasetStates = []string{"pending", "running", "completed", "failed"}
	pageSizes     = []int{25, 50, 100, 500}
)

// column is a column of the table and of the CSV file.
type column struct {
	Key   string // in addresses
	Title string
	Sort  string // property that the platform sorts by; "" for none
	Num   bool
	shown bool // unless others are chosen
}

var datasetColumns = []column{
	{"name", "Name", "name", false, true},
	{"kind", "Kind", "type", false, true},
	{"state", "State", "ingestion.status", false, true},
	{"project", "Project", "", false, true},
	{"mission", "Mission", "", false, true},
	{"taken", "Taken", "acquisition_date", false, true},
	{"size", "Size", "size", true, true},
	{"created", "Created", "creation_date", false, false},
	{"position", "Position", "", false, false},
	{"pixels", "Pixels", "", true, false},
	{"file", "File", "properties.transect.file", false, false},
	{"checksum", "Checksum", "", false, false},
	{"problem", "Problem", "", false, false},
	{"id", "ID", "", false, false},
}

func readDatasetQuery(values url.Values, now time.Time) *datasetQuery {
	text := func(name string) string { return strings.TrimSpace(values.Get(name)) }
	q := &datasetQuery{Values: values, Name: text("name"), Kind: text("kind"), State: text("state"),
		Project: text("project"),
		Mission: text("mission"), Product: text("product"), Run: text("run"), Since: text("since"), Until: text("until"),
		Box:     text("box"),
		Deleted: text("deleted") != "", Sort: text("sort"), Limit: 50, pager: pagerOf(values)}
	wrong := func(format string, args ...any) { q.Problems = append(q.Problems, fmt.Sprintf(format, args...)) }
	if q.Kind != "" && !slices.Contains(datasetKinds, q.Kind) {
		wrong("There is no kind %q.", q.Kind)
		q.Kind = ""
	}
	if q.State != "" && !slices.Contains(datasetStates, q.State) {
		wrong("There is no state %q.", q.State)
		q.State = ""
	}
	day := func(name, text string, days int) (t time.Time) {
		if text == "" {
			return t
		}
		t, err := calendar.Day(text, now)
		if err != nil {
			wrong("%s: %q is not a date; %v.", name, text, err)
			return time.Time{}
		}
		return t.AddDate(0, 0, days)
	}
	q.since, q.until = day("Since", q.Since, 0), day("Until", q.Until, 1)
	if q.Box != "" {
		if q.box = readBox(q.Box); q.box == nil {
			wrong("Box: %q is not a box; write west,south,east,north in degrees, such as 4.8,50.7,4.9,50.8.", q.Box)
		}
	}
	if n, err := strconv.Atoi(text("limit")); err == nil && slices.Contains(pageSizes, n) {
		q.Limit = n
	}
	if c := columnOf(strings.TrimPrefix(q.Sort, "-")); q.Sort != "" && (c == nil || c.Sort == "") {
		wrong("The table cannot be sorted by %q.", q.Sort)
		q.Sort = ""
	}
	for _, key := range values["col"] {
		if columnOf(key) != nil && !slices.Contains(q.Columns, key) {
			q.Columns = append(q.Columns, key)
		}
	}
	if q.Columns == nil {
		for _, c := range datasetColumns {
			if c.shown {
				q.Columns = append(q.Columns, c.Key)
			}
		}
	}
	return q
}

func columnOf(key string) *column {
	for i := range datasetColumns {
		if datasetColumns[i].Key == key {
			return &datasetColumns[i]
		}
	}
	return nil
}

// readBox parses west,south,east,north in degrees.
func readBox(text string) *[4]float64 {
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
	if len(parts) != 4 {
		return nil
	}
	var box [4]float64
	for i, part := range parts {
		n, err := strconv.ParseFloat(part, 64)
		if err != nil || math.IsNaN(n) || math.Abs(n) > 180 {
			return nil
		}
		box[i] = n
	}
	if box[1] > box[3] {
		return nil
	}
	return &box
}

// empty reports whether the search has no conditions.
func (q *datasetQuery) empty() bool { return len(q.filter()) == 0 }

// OnlyDeleted reports whether being deleted is the only condition.
func (q *datasetQuery) OnlyDeleted() bool { return q.Deleted && len(q.filter()) == 1 }

// filter returns the search as a filter of the platform.
func (q *datasetQuery) filter() client.Filter {
	f := client.Filter{}
	equal := func(key, value string) {
		if value != "" {
			f[key] = map[string]any{"$eq": value}
		}
	}
	if q.Name != "" {
		f["name"] = map[string]any{"$match": q.Name}
	}
	equal("type", q.Kind)
	equal("project", q.Project)
	equal("mission", q.Mission)
	equal("source.product", q.Product)
	if q.Run != "" {
		is := map[string]any{"$eq": q.Run}
		f["$or"] = []any{map[string]any{"properties.transect.part_of": is}, map[string]any{"properties.transect.run": is}}
	}
	if q.State == "completed" {
		f["ingestion.status"] = map[string]any{"$in": []any{"completed", "complete"}}
	} else {
		equal("ingestion.status", q.State)
	}
	dates := map[string]any{}
	if !q.since.IsZero() {
		dates["$gte"] = platformDate(q.since)
	}
	if !q.until.IsZero() {
		dates["$lt"] = platformDate(q.until)
	}
	var all []any
	if len(dates) > 0 { // acquisition date of images, creation date of other datasets
		all = append(all, map[string]any{"$or": []any{
			map[string]any{"acquisition_date": dates},
			map[string]any{"acquisition_date": map[string]any{"$exists": false}, "creation_date": dates},
		}})
	}
	if q.box != nil {
		all = append(all, touching(*q.box))
	}
	if q.Deleted {
		f["deletion_date"] = map[string]any{"$exists": true}
	}
	if len(all) > 0 {
		f["$and"] = all
	}
	return f
}

func platformDate(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// outlineCorners is how many corners of an outline a search in a box tests.
const outlineCorners = 12

// touching returns a filter for datasets that touch a box: points in it, and outlines whose first corners
// surround it. The platform's searches do not support geometry, only the numbers in it.
func touching(box [4]float64) map[string]any {
	west, south, east, north := box[0], box[1], box[2], box[3]
	number := func(operator string, n float64) map[string]any { return map[string]any{operator: n} }
	in := func(west, east float64) map[string]any {
		corner := func(axis int, operator string, n float64) map[string]any {
			var any1 []any
			for i := range outlineCorners {
				any1 = append(any1, map[string]any{fmt.Sprintf("geometry.coordinates.0.%d.%d", i, axis): number(operator, n)})
			}
			return map[string]any{"$or": any1}
		}
		return map[string]any{"$or": []any{
			map[string]any{"geometry.type": map[string]any{"$eq": "Point"},
				"geometry.coordinates.0": map[string]any{"$gte": west, "$lte": east},
				"geometry.coordinates.1": map[string]any{"$gte": south, "$lte": north}},
			map[string]any{"geometry.type": map[string]any{"$eq": "Polygon"}, "$and": []any{
				corner(0, "$gte", west), corner(0, "$lte", east), corner(1, "$gte", south), corner(1, "$lte", north)}},
		}}
	}
	if west <= east {
		return in(west, east)
	}
	return map[string]any{"$or": []any{in(west, 180), in(-180, east)}} // across the date line
}

// sort returns the requested order, by default newest first.
func (q *datasetQuery) sort() client.Sort {
	key, direction := strings.TrimPrefix(q.Sort, "-"), 1
	if q.Sort != key {
		direction = -1
	}
	if c := columnOf(key); c != nil && c.Sort != "" {
		return client.Sort{{Attribute: c.Sort, Direction: direction}, {Attribute: "_id", Direction: direction}}
	}
	return newestFirst
}

// Link returns the address of the search with changed parameters.
func (q *datasetQuery) Link(pairs ...any) (string, error) { return query(q.Values, pairs...) }

// SortLink returns an address that sorts by a column, or reverses its direction.
func (q *datasetQuery) SortLink(c column) (string, error) {
	next := c.Key
	if q.Sort == c.Key {
		next = "-" + c.Key
	}
	return query(q.Values, "sort", next, "page", "")
}

// Order returns the ARIA sort attribute of a column's header.
func (q *datasetQuery) Order(c column) string {
	switch q.Sort {
	case c.Key:
		return "ascending"
	case "-" + c.Key:
		return "descending"
	}
	return ""
}

// Has reports whether a column is shown.
func (q *datasetQuery) Has(key string) bool { return slices.Contains(q.Columns, key) }
