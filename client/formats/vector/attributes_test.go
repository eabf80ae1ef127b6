package vector

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/paulmach/orb"
)

// attributes reads the attributes of the first features of a file.
func attributes(t *testing.T, most int, f File, beside ...File) (list []string) {
	t.Helper()
	l, err := Open(context.Background(), f, beside...)
	if err != nil {
		t.Fatal(err)
	}
	err = l.Features(context.Background(), func(_ orb.Geometry, a json.RawMessage) error {
		if len(a) > 0 && !json.Valid(a) {
			t.Errorf("%s: %s is no JSON", f.Name, a)
		}
		if len(list) < most {
			list = append(list, string(a))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestAttributesOfSharedFiles compares with values from ogrinfo.
func TestAttributesOfSharedFiles(t *testing.T) {
	for _, c := range []struct {
		name, beside, want string
	}{
		{"world-shp/world.shp", "world-shp/world.dbf", `{"iso_a2":"FJ","name_long":"Fiji","continent":"Oceania","region_un":"Oceania","subregion":"Melanesia","type":"Sovereign country","area_km2":19289.970732976504,"pop":885806,"lifeExp":69.96,"gdpPercap":8222.25378436842}`},
		{"cities-shp.zip", "", `{"name":"Vatican City"}`},
		{"nc-counties.gpkg", "", `{"fid":1,"AREA":0.114,"PERIMETER":1.442,"CNTY_":1825,"CNTY_ID":1825,"NAME":"Ashe","FIPS":"37009","FIPSNO":37009,"CRESS_ID":5,"BIR74":1091,"SID74":1,"NWBIR74":10,"BIR79":1364,"SID79":0,"NWBIR79":19}`},
		{"world-countries-180.geojson", "", `{"name":"Afghanistan"}`},
	} {
		var beside []File
		if c.beside != "" {
			beside = append(beside, shared(t, c.beside))
		}
		if got := attributes(t, 1, shared(t, c.name), beside...); got[0] != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, got[0], c.want)
		}
	}
}

func TestAttributesOfTexts(t *testing.T) {
	for _, c := range []struct {
		file File
		want string
	}{
		{memory("a.kml", `<kml><Document><name>of the file</name><Placemark><name> Gate </name><description><![CDATA[<b>north</b>]]></description>
			<ExtendedData><Data name="height"><value>3</value></Data><Data name="name"><value>second</value></Data>
			<SchemaData><SimpleData name="owner">me &amp; you</SimpleData></SchemaData></ExtendedData><Point><coordinates>1,2</coordinates></Point></Placemark>
			<Placemark><Point><coordinates>1,2</coordinates></Point></Placemark></Document></kml>`),
			`{"name":"Gate","description":"\u003cb\u003enorth\u003c/b\u003e","height":"3","owner":"me \u0026 you"}|`},
		{memory("a.gpx", `<gpx><metadata><name>of the file</name></metadata><wpt lat="46" lon="7"><ele>198.5</ele><name>Peg 4</name></wpt>
			<trk><name>Walk</name><trkseg><trkpt lat="1" lon="2"><ele>3</ele><name>no</name></trkpt></trkseg><type>foot</type></trk>
			<rte><rtept lon="1" lat="1"/><desc>back</desc></rte></gpx>`), `{"ele":198.5,"name":"Peg 4"}|{"name":"Walk","type":"foot"}|{"desc":"back"}`},
		{memory("a.kml", "<?xml version='1.0' encoding='ISO-8859-1'?><kml><Placemark><name>Stra\xdfe</name></Placemark></kml>"), `{"name":"Straße"}`},
		{memory("a.geojson", `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"b":1,"a":[2]},"geometry":null},{"type":"Feature","properties":null,"geometry":null},{"type":"Feature","properties":[1],"geometry":null}]}`), `{"b":1,"a":[2]}||`},
		{memory("a.geojson", `{"type":"Feature","properties":{"a":1},"geometry":{"type":"Point","coordinates":[1,2]}}`), `{"a":1}`},
	} {
		if got := strings.Join(attributes(t, 10, c.file), "|"); got != c.want {
			t.Errorf("%s: %s, want %s", c.file.Name, got, c.want)
		}
	}
}

// dbfWith returns a dBASE file with one row.
func dbfWith(language byte, row string, fields ...string) string {
	head := make([]byte, 32)
	head[0], head[4], head[29] = 3, 1, language
	little.PutUint16(head[8:], uint16(32+32*len(fields)+1))
	little.PutUint16(head[10:], uint16(1+len(row)))
	text := string(head)
	for _, f := range fields {
		field := make([]byte, 32)
		name, rest, _ := strings.Cut(f, ":")
		copy(field, name)
		field[11], field[16] = rest[0], rest[1]-'0'
		text += string(field)
	}
	return text + "\r " + row
}

func TestTableOfAShapefile(t *testing.T) {
	shp := make([]byte, 128)
	big.PutUint32(shp, 9994)
	big.PutUint32(shp[24:], 64)
	little.PutUint32(shp[28:], 1000)
	little.PutUint32(shp[32:], 1)
	big.PutUint32(shp[100:], 1)
	big.PutUint32(shp[104:], 10)
	little.PutUint32(shp[108:], 1)
	fields := []string{"text:C6", "number:N5", "yes:L1", "day:D8", "none:N3", "whole:I4"}
	row := "Stra\xdfe" + "  1.5" + "T" + "20260531" + "***" + "\x02\x00\x00\x00"
	for _, c := range []struct{ name, dbf, cpg, want string }{
		{"western", dbfWith(0x57, row, fields...), "", `{"text":"Straße","number":1.5,"yes":true,"day":"2026-05-31","whole":2}`},
		{"named", dbfWith(0, strings.Replace(row, "\xdf", "\xe1", 1), fields...), "cp437\n", `{"text":"Straße","number":1.5,"yes":true,"day":"2026-05-31","whole":2}`},
		{"utf-8", dbfWith(0x57, strings.Replace(row, "Stra\xdfe", "Stra\u00e9", 1), fields...), "UTF-8", `{"text":"Straé","number":1.5,"yes":true,"day":"2026-05-31","whole":2}`},
		{"cut short", dbfWith(0, row, fields...)[:150], "", ""},
		{"without its row", dbfWith(0, row, fields...)[:230], "", ""},
		{"too narrow", dbfWith(0, "x", "text:C6"), "", ""},
	} {
		got := attributes(t, 1, memory("a.shp", string(shp)), memory("A.DBF", c.dbf), memory("a.cpg", c.cpg))
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: %q, want %s", c.name, got, c.want)
		}
	}
}
