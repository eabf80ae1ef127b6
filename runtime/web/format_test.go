package web

import (
	"strings"
	"testing"
	"time"
)

func TestWordsForNumbers(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("CEST", 2*3600)
	s := &Server{Options: Options{Now: func() time.Time { return time.Date(2026, 6, 1, 12, 0, 0, 0, zone) }}}
	for got, want := range map[string]string{
		size(0): "0 B", size(int64(1536)): "1.5 kB", size("x"): "",
		readable("resolution", "28.49999999927454"): "28.5 metres", readable("note", "12"): "12", readable("note", "1e3"): "1000",
		readable("horizontal_srs_wkt", `PROJCS["WGS 84 / UTM zone 31N",GEOGCS["WGS 84"]]`): "WGS 84 / UTM zone 31N",
		string(s.time("2026-05-31T22:30:00.000Z")):                                         `<time datetime="2026-05-31T22:30:00Z" title="2026-06-01 00:30:00 CEST, 2026-05-31 22:30:00 UTC">2026-06-01 00:30:00</time>`,
		string(s.time("<b>")): "&lt;b&gt;",
		string(state("<b>")):  `<span class="badge ">&lt;b&gt;</span>`,
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if ago := string(s.ago("2026-06-01T09:00:00Z")); !strings.Contains(ago, ">1h ago") {
		t.Errorf("an hour ago is %s", ago)
	}
}

func TestPlainCell(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"=1+1": "'=1+1", "@x": "'@x", "-1": "'-1", "a=1": "a=1", "": ""} {
		if got := plainCell(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
