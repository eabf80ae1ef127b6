package web

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/paulmach/orb"
	"github.com/tidwall/gjson"

	"transect/client"
	"transect/client/formats"
	"transect/client/geojson"
	"transect/client/human"
)

// featureTable is a table of the first features of a vector with their properties.
type featureTable struct {
	Columns []string
	Rows    []featureRow
	More    bool   // there are more
	Problem string // why they could not be read
}

type featureRow struct {
	Number int
	Link   string // to the map; "" when its position is unknown
	Cells  []string
}

const (
	maxFeatures = 50 // features
	maxColumns  = 40
	maxCell     = 200             // bytes
	listingTime = 5 * time.Second // the page is shown without them if it takes longer
)

// features returns the first features of a vector's collections, or of its file.
func (s *Server) features(ctx context.Context, c *client.Client, d client.Dataset) (t *featureTable) {
	ctx, cancel := context.WithTimeout(ctx, listingTime)
	defer cancel()
	t = &featureTable{}
	err := s.listFeatures(ctx, c, d, t)
	switch {
	case errors.Is(err, errEnough), err == nil:
	case ctx.Err() != nil:
		t.Problem = "reading the features takes too long"
	default:
		t.Problem = describe(err).Message
	}
	for i := range t.Rows { // columns found in later rows
		t.Rows[i].Cells = append(t.Rows[i].Cells, make([]string, len(t.Columns)-len(t.Rows[i].Cells))...)
	}
	if len(t.Columns) == 0 && t.Problem == "" {
		return nil
	}
	return t
}

func (s *Server) listFeatures(ctx context.Context, c *client.Client, d client.Dataset, t *featureTable) error {
	for _, part := range d.Components {
		if part.Collection.ID == "" {
			continue
		}
		q := featuresOf(part.Collection.ID)
		q.Limit = new(maxFeatures + 1)
		page, err := c.Features.Search.Page(ctx, q)
		if err != nil {
			return err
		}
		for _, f := range page.Results {
			if err := t.add(d, f.ID, f.Geometry, gjson.GetBytes(f.JSON(), "properties")); err != nil {
				return err
			}
		}
	}
	main, sidecars := pictureFiles(ctx, c, d)
	if main == nil || main.Size > maxVectorBytes {
		return nil
	}
	n := 0
	err := formats.Features(ctx, *main, func(g orb.Geometry, attributes json.RawMessage) error {
		var geometry json.RawMessage
		if g != nil {
			n++ // numbered like the map does
			geometry = geojson.Text(g)
		}
		return t.add(d, d.ID+"/"+strconv.Itoa(n), geometry, gjson.ParseBytes(attributes))
	}, sidecars...)
	if errors.Is(err, formats.ErrNone) {
		return nil
	}
	return err
}

// add adds a row; it returns errEnough after the last one.
func (t *featureTable) add(d client.Dataset, id string, geometry json.RawMessage, properties gjson.Result) error {
	if len(t.Rows) == maxFeatures {
		t.More = true
		return errEnough
	}
	row := featureRow{Number: len(t.Rows) + 1, Cells: make([]string, len(t.Columns))}
	if firstGeometry(geometry) != nil {
		row.Link = mapLink(d, geometry, id)
	}
	properties.ForEach(func(key, value gjson.Result) bool {
		i := slices.Index(t.Columns, key.Str)
		if i < 0 && len(t.Columns) < maxColumns {
			i = len(t.Columns)
			t.Columns, row.Cells = append(t.Columns, key.Str), append(row.Cells, "")
		}
		if i >= 0 && value.Type != gjson.Null {
			row.Cells[i] = human.Shorten(value.String(), maxCell)
		}
		return true
	})
	t.Rows = append(t.Rows, row)
	return nil
}

// mapLink returns the address of a geometry on the map, with the feature id selected.
func mapLink(d client.Dataset, geometry json.RawMessage, id string) string {
	link := "/map"
	switch {
	case d.Mission != "":
		link += "?mission=" + url.QueryEscape(d.Mission)
	case d.Project != "":
		link += "?project=" + url.QueryEscape(d.Project)
	}
	b, ok := boxOf(geometry)
	if !ok {
		return link
	}
	// 900 pixels for the longer side; the world is 256 pixels wide at zoom 0.
	wide := max((b.Max[0]-b.Min[0])/360, (b.Max[1]-b.Min[1])/180, 1e-9)
	zoom := max(1, min(18, math.Floor(math.Log2(900/256/wide)*2)/2))
	at := b.Center()
	return link + "#" + strconv.FormatFloat(zoom, 'f', -1, 64) + "/" + strconv.FormatFloat(at[1], 'f', 6, 64) + "/" +
		strconv.FormatFloat(at[0], 'f', 6, 64) + "/" + url.PathEscape(id)
}

// boxOf returns the bounding box of a geometry.
func boxOf(geometry []byte) (b orb.Bound, ok bool) {
	b = orb.Bound{Min: orb.Point{181, 91}, Max: orb.Point{-181, -91}}
	var visit func(v gjson.Result)
	visit = func(v gjson.Result) {
		list := v.Array()
		if len(list) >= 2 && list[0].Type == gjson.Number {
			b = b.Extend(orb.Point{list[0].Float(), list[1].Float()})
			return
		}
		for _, e := range list {
			if e.IsArray() {
				visit(e)
			}
		}
	}
	visit(gjson.GetBytes(geometry, "coordinates"))
	for _, g := range gjson.GetBytes(geometry, "geometries").Array() {
		if within, found := boxOf([]byte(g.Raw)); found {
			b = b.Union(within)
		}
	}
	return b, b.Min[0] <= b.Max[0]
}
