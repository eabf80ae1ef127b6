package ingest

import (
	"context"

	"github.com/tidwall/gjson"

	"transect/client"
	"transect/client/preflight"
)

// compareMission tells the check when and where the mission was flown, so that
// photos of another flight are noticed. What cannot be found out is not
// compared: that keeps no photo from being sent.
func (r *run) compareMission(ctx context.Context) {
	if r.o.Mission == "" || r.o.Check == CheckOff {
		return
	}
	missions, err := r.c.Missions.Describe(ctx, client.MissionIDs{Mission: client.IDs{r.o.Mission}})
	if err != nil || len(missions) == 0 {
		r.o.Logger.Debug("the photos are not compared with the mission", "mission", r.o.Mission, "reason", err)
		return
	}
	fields := gjson.GetManyBytes(missions.One().JSON(), "geometry", "survey_date")
	ring, err := preflight.RingOf([]byte(fields[0].Raw))
	if err != nil {
		ring = nil // it was made without an area
	}
	r.checker.Compare(ring, parsed(fields[1].String()))
}
