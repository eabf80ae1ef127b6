package web

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"transect/client"
)

// datasetRoutes registers the table of datasets and the pages of datasets.
func (s *Server) datasetRoutes() {
	s.get("/datasets", s.connected(s.datasetTable))
	s.stream("/datasets.csv", s.connected(s.datasetCSV))
	s.get("/datasets/{dataset}", s.connected(s.datasetPage))
	s.stream("/datasets/{dataset}/files/{component}", s.connected(s.download))
}

// datasetRow is a line of the table.
type datasetRow struct {
	client.Dataset
	ProjectName, MissionName string
	Position                 string // latitude and longitude
	File, Run                string // that it was made from
}

// choice is an entry of a selection list.
type choice struct{ ID, Name string }

type datasetTable struct {
	*datasetQuery
	Rows               []datasetRow
	First, Last        int
	Shown, All         []column
	Projects, Missions []choice
	Kinds, States      []string
	Limits             []int
	CSV                string // address
	Everything         bool   // the search has no conditions
}

// maxChoices limits the length of selection lists.
const maxChoices = 500

// rowFields lists the fields of a dataset that the table reads.
var rowFields = []any{"name", "type", "project", "mission", "ingestion", "acquisition_date", "creation_date",
	"deletion_date", "size", "geometry",
	"width", "height", "properties.transect", "components", "source"}

func (s *Server) datasetTable(w http.ResponseWriter, r *http.Request, c *client.Client) error {
	q := readDatasetQuery(r.URL.Query(), s.Now())
	page, err := c.Datasets.Search.Page(r.Context(),
		client.DatasetQuery{Query: client.Query{Filter: q.filter(), Sort: q.sort(), Limit: new(q.Limit),
			Page: new(q.Page - 1), Fields: only(rowFields...)}})
	if err != nil {
		return err
	}
	t := datasetTable{datasetQuery: q, Everything: q.empty(), All: datasetColumns, Kinds: datasetKinds,
		States: datasetStates, Limits: pageSizes}
	if t.Rows, err = s.datasetRows(r.Context(), page.Results); err != nil {
		return err
	}
	if n := len(t.Rows); n > 0 {
		t.First, t.Last = (q.Page-1)*q.Limit+1, (q.Page-1)*q.Limit+n
	}
	t.found(page.Total, q.Limit, len(t.Rows))
	for _, column := range datasetColumns {
		if q.Has(column.Key) {
			t.Shown = append(t.Shown, column)
		}
	}
	if t.Projects, t.Missions, err = s.choices(r.Context(), c, q.Project); err != nil {
		return err
	}
	link, err := query(q.Values, "page", "", "limit", "")
	if err != nil {
		return err
	}
	t.CSV = "/datasets.csv" + link
	return s.render(w, r, "datasets.html", view{Title: "Datasets", Section: "/datasets", Data: t,
		Topics: []string{"platform"}})
}

// choices returns the projects by name, and the missions of the selected one.
func (s *Server) choices(ctx context.Context, c *client.Client, project string) (projects, missions []choice,
	err error) {
	q := client.Query{Limit: new(maxChoices), Sort: byName, Fields: only("name")}
	found, err := c.Projects.Search.Page(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range found.Results {
		projects = append(projects, choice{p.ID, p.Name})
	}
	if project == "" {
		return projects, nil, nil
	}
	q.Filter = equals("project", project)
	within, err := c.Missions.Search.Page(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range within.Results {
		missions = append(missions, choice{m.ID, m.Name})
	}
	return projects, missions, nil
}

// datasetRows adds the names that the records refer to by id.
func (s *Server) datasetRows(ctx context.Context, list []client.Dataset) ([]datasetRow, error) {
	var projects, missions []string
	for _, d := range list {
		projects, missions = append(projects, d.Project), append(missions, d.Mission)
	}
	names, err := s.names(ctx, projects, missions)
	if err != nil {
		return nil, err
	}
	rows := make([]datasetRow, len(list))
	for i, d := range list {
		origin := gjson.GetBytes(d.JSON(), "properties.transect")
		rows[i] = datasetRow{Dataset: d, ProjectName: names[d.Project], MissionName: names[d.Mission],
			Position: position(d.Geometry),
			File:     origin.Get("file").String(), Run: runOf(origin)}
	}
	return rows, nil
}

// position formats a point for people: latitude, longitude in degrees.
func position(geometry []byte) string {
	g := gjson.ParseBytes(geometry)
	if g.Get("type").String() != "Point" {
		return ""
	}
	at := g.Get("coordinates").Array()
	if len(at) < 2 {
		return ""
	}
	return fmt.Sprintf("%.6f, %.6f", at[1].Float(), at[0].Float())
}

// Checksum returns the checksum of the main file.
func (r datasetRow) Checksum() string {
	if len(r.Components) == 0 {
		return ""
	}
	return r.Components[0].Checksum
}

// Pixels returns the size of an image.
func (r datasetRow) Pixels() string {
	if r.Width == 0 || r.Height == 0 {
		return ""
	}
	return fmt.Sprintf("%d × %d", r.Width, r.Height)
}

// datasetCSV streams all results of the search as a CSV file.
func (s *Server) datasetCSV(w http.ResponseWriter, r *http.Request, c *client.Client) error {
	q := readDatasetQuery(r.URL.Query(), s.Now())
	in := client.DatasetQuery{Query: client.Query{Filter: q.filter(), Fields: only(rowFields...)}}
	if q.Sort != "" {
		in.Sort = q.sort()
	}
	cursor, err := c.Datasets.Search.Cursor(r.Context(), in)
	if err != nil {
		return err
	}
	defer cursor.Close()
	d, more, err := cursor.Next(r.Context())
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	attach(w, "datasets.csv")
	out := csv.NewWriter(w)
	out.Write([]string{"name", "kind", "state", "project", "mission", "taken", "created", "size_bytes", "latitude",
		"longitude",
		"width", "height", "components", "checksum", "file", "run", "problem", "id"})
	var batch []client.Dataset
	for ; more; d, more, err = cursor.Next(r.Context()) {
		if batch = append(batch, d); len(batch) == 100 {
			if err := s.writeCSV(r.Context(), out, batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	if err != nil {
		return err
	}
	return s.writeCSV(r.Context(), out, batch)
}

func (s *Server) writeCSV(ctx context.Context, out *csv.Writer, list []client.Dataset) error {
	rows, err := s.datasetRows(ctx, list)
	if err != nil {
		return err
	}
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	for _, d := range rows {
		lat, lon, _ := strings.Cut(d.Position, ", ")
		bytes := ""
		if n := whole(d.Size); n >= 0 {
			bytes = strconv.FormatInt(n, 10)
		}
		var names []string
		for _, part := range d.Components {
			names = append(names, part.Name)
		}
		line := []string{plainCell(d.Name), d.Type, d.Ingestion.Status, plainCell(d.ProjectName), plainCell(d.MissionName),
			d.AcquisitionDate, d.CreationDate, bytes,
			lat, lon, number(d.Width), number(d.Height), plainCell(strings.Join(names, " ")), d.Checksum(), plainCell(d.File),
			plainCell(d.Run), plainCell(d.Ingestion.Error.Message), d.ID}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// plainCell prevents spreadsheets from interpreting a text as a formula.
func plainCell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}
