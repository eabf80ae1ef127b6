package imagery

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"transect/client/files"
)

func TestParseTime(t *testing.T) {
	for text, want := range map[string]string{
		"2016:06:23 16:31:59":          "2016-06-23T16:31:59Z",
		"2020-06-23 15:17:15":          "2020-06-23T15:17:15Z",
		"2020/06/23 15:17:15":          "2020-06-23T15:17:15Z",
		"2020:06:23T15:17:15":          "2020-06-23T15:17:15Z",
		"2023:06:15 24:00:10":          "2023-06-16T00:00:10Z",
		"2023:12:31 24:00:00":          "2024-01-01T00:00:00Z",
		"2023:06:15 10:20:30+0200":     "2023-06-15T10:20:30+02:00",
		"2023:06:15 10:20:30 -03:30":   "2023-06-15T10:20:30-03:30",
		"2023:06:15 10:20:30Z":         "2023-06-15T10:20:30Z",
		"2023:06:15 10:20:30.73+02:00": "2023-06-15T10:20:30.73+02:00",
		"2023-06-15T10:20:30.25+02:00": "2023-06-15T10:20:30.25+02:00",
		"2023-06-15T10:20Z":            "2023-06-15T10:20:00Z",
		"2023-06-15":                   "2023-06-15T00:00:00Z",
		" 2023:6:5 1:20:30 ":           "2023-06-05T01:20:30Z",
		"2016:12:31 23:59:60":          "2017-01-01T00:00:00Z",
		"0000:00:00 00:00:00":          "", "    :  :     :  :  ": "", "2023:02:30 10:00:00": "", "2023:13:01 10:00:00": "",
		"2023:06:15 25:00:00": "", "2023:06:15 10:61:00": "", "yesterday": "", "": "", "2023:06:15 10:20:30 PM": "",
	} {
		taken, _, ok := parseTime(text)
		if got := taken.Format(time.RFC3339Nano); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %s %v, want %s", text, got, ok, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		want := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "seconds"), 1e6*rapid.Int64Range(0, 999).Draw(t, "ms")).
			In(time.FixedZone("", 60*rapid.IntRange(-14*60, 14*60).Draw(t, "zone")))
		layout := rapid.SampledFrom([]string{"2006:01:02 15:04:05.000-07:00", "2006-01-02T15:04:05.000-0700", "2006/1/2 15:04:05,000 -07:00"}).Draw(t, "layout")
		if got, _, ok := parseTime(want.Format(layout)); !ok || !got.Equal(want) {
			t.Fatalf("%s: %s", want.Format(layout), got)
		}
	})
}

// TestDatesOfTheField reads when and at what height photos of the field were taken.
func TestDatesOfTheField(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "..", "shared", "field", "warnings")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("further files beside the checkout (shared) are not there")
	}
	for name, want := range map[string]string{
		"a_24h": "2023-06-16T00:00:10Z", "a_dashes": "2023-06-15T10:20:30Z", "a_digitized_only": "2023-06-15T10:20:30Z",
		"a_gps_and_local": "2023-06-15T01:20:30Z", "a_gpstime_only": "2023-06-15T08:20:30Z", "a_modify_only": "2023-06-15T10:20:30Z",
		"a_offset_nocolon": "2023-06-15T08:20:30Z", "a_offsettime_only": "2023-06-15T08:20:30Z", "a_reset_clock_gps": "2023-06-14T15:20:30Z",
		"a_subsec": "2023-06-15T08:20:30.73Z", "a_xmpdate_only": "2023-06-15T08:20:30.25Z", "g_adobe": "2023-06-15T08:20:30Z",
	} {
		p, err := Read(files.Tree{}, filepath.Join(dir, name+".jpg"))
		if got := p.Acquired.UTC().Format(time.RFC3339Nano); err != nil || got != want {
			t.Errorf("%s: %s, want %s; %v", name, got, want, err)
		}
	}
	for name, want := range map[string]string{
		"g_adobe": "1361.69 -0.50000 34.38000", "g_alt0_xmpalt": "0 31.50000 35.50000", "g_below": "-402 31.50000 35.50000",
		"g_nosouthref": "<nil> -23.50000 -46.60000", "g_xmpalt_only": "412.3 31.50000 35.50000", "g_trunc_exif": "10 37.43965 -122.16020",
		"g_xmp_lonlat_only": "-12.5 -23.50000 -46.60000", "g_lat91": "<nil>", "g_xmp_zero": "<nil>", "g_equator": "<nil> 0.00000 32.50000",
		"g_zero_xmp_ok": "<nil> -23.50000 -46.60000", "g_status_void": "412.5 47.50000 8.25000",
	} {
		p, err := Read(files.Tree{}, filepath.Join(dir, name+".jpg"))
		got := "<nil>"
		if p.Altitude != nil {
			got = fmt.Sprint(*p.Altitude)
		}
		if p.HasPosition {
			got += fmt.Sprintf(" %.5f %.5f", p.Latitude, p.Longitude)
		}
		if err != nil || got != want || p.NoFix != (name == "g_status_void") {
			t.Errorf("%s: %s, want %s; %v", name, got, want, err)
		}
	}
}
