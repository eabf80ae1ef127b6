package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/paulmach/orb"
	"github.com/tidwall/gjson"

	"transect/client"
	"transect/client/formats"
	"transect/client/geojson"
	"transect/client/preflight"
	"transect/client/scan"
	"transect/client/verdict"
)

// maxPhotos limits the photos on a map.
const maxPhotos = 250_000

// photosOf streams the photos that match a filter, and returns the result of their check; more reports
// whether there are others.
func (s *Server) photosOf(ctx context.Context, where client.Filter, send func(any) error) (result *surveyResult,
	more bool, err error) {
	all := newSurvey(s.Now(), send)
	defer all.close()
	n := 0
	for d, err := range s.Client.Datasets.Search.All(ctx, client.DatasetQuery{Query: client.Query{
		Filter: with(where, "type", "image"),
		Fields: only("_id", "name", "geometry", "footprint", "acquisition_date", "ingestion", "sensor", "flight", "mission"),
	}}) {
		if err != nil {
			return nil, false, err
		}
		if n++; n > maxPhotos {
			more = true
			break
		}
		p, part := photoOf(d), all.part(d.Mission)
		part.checker.Add(scan.Item{Kind: "image", Name: p.name,
			Members: []scan.Member{{File: scan.File{Name: p.name, Path: p.name}}}}, &p.Photo, nil)
		if p.state == photoBad {
			part.refused = append(part.refused, finding{preflight.Problem{Code: "refused", Severity: preflight.Error,
				Name: p.name, Verdict: verdict.Refused,
				Message: cmp.Or(d.Ingestion.Error.Message, "the platform could not read it"),
				Hint:    "check the file, which may be damaged; upload it again"}, p.id})
		}
		if err := all.add(part, p); err != nil {
			return nil, false, err
		}
	}
	result, err = all.finish(ctx)
	return result, more, err
}

// with returns a filter with a further condition.
func with(where client.Filter, attribute string, value any) client.Filter {
	filter := client.Filter{attribute: map[string]any{"$eq": value}}
	for name, condition := range where {
		filter[name] = condition
	}
	return filter
}

// photoOf converts the dataset of a photo.
func photoOf(d client.Dataset) photo {
	p := photo{id: d.ID, name: cmp.Or(d.Name, d.ID), state: stateOf(d)}
	if g := gjson.ParseBytes(d.Geometry); g.Get("type").Str == "Point" {
		if at := g.Get("coordinates").Array(); len(at) >= 2 {
			p.HasPosition, p.Longitude, p.Latitude = true, at[0].Num, at[1].Num
			if len(at) > 2 {
				p.Altitude = &at[2].Num
			}
		}
	}
	if taken, ok := moment(d.AcquisitionDate); ok {
		p.Acquired = taken
	}
	p.Make, _ = d.Sensor["make"].(string)
	p.Model, _ = d.Sensor["model"].(string)
	p.group = d.Flight + " " + p.Make + " " + p.Model
	if len(d.Footprint) > 0 {
		p.ground = preflight.RingOf(string(d.Footprint))
	}
	return p
}

func stateOf(d client.Dataset) int {
	switch {
	case client.Ingested(d.Ingestion.Status):
		return photoGood
	case d.Ingestion.Status == "failed":
		return photoBad
	}
	return photoWaiting
}

// vectorLimits limits what a map reads of vector files.
type vectorLimits struct {
	bytes int64
	left  int // features
}

const (
	maxVectorBytes = 32 << 20 // of all files of a map
	maxProperties  = 64 << 10 // bytes of a feature's properties
)

func newVectorLimits() *vectorLimits { return &vectorLimits{maxVectorBytes, maxDrawings} }

var errEnough = errors.New("the map has enough features")

// features sends the features of a vector file, each based on one, and reports whether it did. If the file
// cannot be read, its outline is shown instead.
func (l *vectorLimits) features(ctx context.Context, one shape, main formats.File, sidecars []formats.File,
	send func(any) error) (shown bool, err error) {
	if l.bytes -= main.Size; l.bytes < 0 || l.left <= 0 {
		return false, nil
	}
	id, n := one.ID, 0
	var failed error
	err = formats.Features(ctx, main, func(g orb.Geometry, properties json.RawMessage) error {
		if g == nil {
			return nil
		}
		if l.left--; l.left < 0 {
			return errEnough
		}
		n++
		f := one
		f.Of, f.ID, f.Preview, f.Properties = "feature", id+"/"+strconv.Itoa(n), "", nil
		f.Name = cmp.Or(titleOf(string(properties)), "Feature "+strconv.Itoa(n)+" of "+one.Name)
		if len(properties) <= maxProperties {
			f.Properties = properties
		}
		f.Geometry = geojson.Text(g)
		failed = send(f)
		return failed
	}, sidecars...)
	if failed != nil || ctx.Err() != nil {
		return n > 0, cmp.Or(failed, ctx.Err())
	}
	return n > 0 && err == nil, nil
}
