package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/paulmach/orb"

	"transect/client/formats"
	"transect/client/geojson"
)

// vectorLimits bound what a map reads of vector files.
type vectorLimits struct {
	bytes int64
	left  int // features
}

const (
	maxVectorBytes = 32 << 20 // of all files of a map
	maxProperties  = 64 << 10 // bytes of a feature's
)

func newVectorLimits() *vectorLimits { return &vectorLimits{maxVectorBytes, maxDrawings} }

var errEnough = errors.New("the map has enough features")

// features sends those of a vector file, each like one, and reports whether it did.
// What cannot be read is left to the outline of the file.
func (l *vectorLimits) features(ctx context.Context, one shape, main formats.File, beside []formats.File,
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
	}, beside...)
	if failed != nil || ctx.Err() != nil {
		return n > 0, cmp.Or(failed, ctx.Err())
	}
	return n > 0 && err == nil, nil
}
