package ingest

import (
	"context"
	"encoding/json"

	"github.com/tidwall/gjson"

	"transect/client"
	"transect/client/fault"
	"transect/client/imagery"
)

// compare holds outcomes against what the platform has now.
func compare(ctx context.Context, c *client.Client, open imagery.Opener, list []Outcome) ([]Verdict, error) {
	ids := make([]string, 0, len(list))
	for _, o := range list {
		if o.Dataset != "" {
			ids = append(ids, o.Dataset)
		}
	}
	found := map[string]client.Dataset{}
	if len(ids) > 0 {
		var err error
		if found, err = described(ctx, c, ids); err != nil {
			return nil, err
		}
	}
	verdicts := make([]Verdict, len(list))
	for i, o := range list {
		v := &verdicts[i]
		*v = Verdict{Name: o.Name, Path: o.Path, Size: o.Size, Dataset: o.Dataset, Verdict: Same}
		d, there := found[o.Dataset]
		if !there {
			v.Verdict, v.Cause = Missing, "its dataset is not there"
			if o.Dataset == "" {
				v.Cause = "it was not sent"
				if o.Cause != "" {
					v.Cause += ": " + o.Cause
				}
			}
			continue
		}
		for _, p := range o.parts() {
			if v.Verdict, v.Cause = comparePart(ctx, open, d.JSON(), p); v.Verdict != Same {
				break
			}
		}
		if ctx.Err() != nil {
			return nil, fault.Stopped(ctx)
		}
	}
	return verdicts, nil
}

// parts are the files of an outcome, one at least.
func (o Outcome) parts() []Part {
	if len(o.Files) > 0 {
		return o.Files
	}
	return []Part{{Component: o.Component, Path: o.Path, Size: o.Size, MD5: o.MD5}}
}

func comparePart(ctx context.Context, open imagery.Opener, dataset json.RawMessage, p Part) (verdict, cause string) {
	held := gjson.GetBytes(dataset, `components.#(name=="`+p.Component+`")`)
	if held.Get("status").String() != "completed" {
		return Missing, "its component " + p.Component + " has no file yet"
	}
	if size := held.Get("size"); size.Exists() && size.Int() != p.Size {
		return Different, "its component " + p.Component + " has " + size.String() + " bytes"
	}
	sum, err := md5Of(ctx, open, p.Path)
	if err != nil {
		if p.MD5 == "" || fault.Find(err) == nil {
			return Different, err.Error()
		}
		sum = p.MD5 // the card is out; what was sent is known
	}
	if want := held.Get("checksum").String(); want != "" && want != sum {
		return Different, "the checksums differ"
	}
	return Same, ""
}
