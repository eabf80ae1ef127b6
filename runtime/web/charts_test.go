package web

import (
	"testing"

	"transect/runtime/unattended/history"
)

// What is sent in the last moment of a run does not make its rate.
func TestCurveEndsWithTheRun(t *testing.T) {
	c := newCurve([]history.Sample{{Seconds: 1, Sent: 100}, {Seconds: 2, Sent: 200}, {Seconds: 2.01, Sent: 220}})
	if c == nil || c.Peak != 118 || c.Seconds != 2.01 {
		t.Errorf("%+v", c)
	}
	if c := newCurve([]history.Sample{{Seconds: 1, Sent: 100}, {Seconds: 2, Sent: 100}, {Seconds: 3, Sent: 400}}); c == nil || c.Peak != 300 {
		t.Errorf("%+v", c)
	}
	if c := newCurve([]history.Sample{{Seconds: 1, Sent: 100}}); c != nil {
		t.Errorf("%+v", c)
	}
}
