package web

import (
	"cmp"
	"context"

	"github.com/tidwall/gjson"

	"transect/client"
	"transect/client/preflight"
	"transect/client/scan"
	"transect/client/verdict"
)

// maxPhotos is how many photos a map shows.
const maxPhotos = 250_000

// photosOf streams the photos that a filter finds, and returns what the check says
// of them; more reports that there are others.
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
				Hint:    "look at the file: it may be damaged; upload it again"}, p.id})
		}
		if err := all.add(part, p); err != nil {
			return nil, false, err
		}
	}
	result, err = all.finish(ctx)
	return result, more, err
}

// with adds a condition to a filter.
func with(where client.Filter, attribute string, value any) client.Filter {
	filter := client.Filter{attribute: map[string]any{"$eq": value}}
	for name, condition := range where {
		filter[name] = condition
	}
	return filter
}

// photoOf reads the dataset of a photo.
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
