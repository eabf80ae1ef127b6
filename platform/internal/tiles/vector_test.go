package tiles

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// fields reads the fields of a message: bytes as text, numbers as they are.
func messageFields(t *testing.T, b []byte) (all []any) {
	t.Helper()
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		switch kind {
		case protowire.BytesType:
			v, n := protowire.ConsumeBytes(b)
			all, b = append(all, int(field), string(v)), b[n:]
		case protowire.Fixed64Type:
			v, n := protowire.ConsumeFixed64(b)
			all, b = append(all, int(field), math.Float64frombits(v)), b[n:]
		default:
			v, n := protowire.ConsumeVarint(b)
			all, b = append(all, int(field), v), b[n:]
		}
	}
	return all
}

// drawing is what the commands of a feature draw.
func drawing(t *testing.T, packed string) (text string) {
	t.Helper()
	var numbers []uint64
	for b := []byte(packed); len(b) > 0; {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		numbers, b = append(numbers, v), b[n:]
	}
	const closePath = 7
	var x, y int64
	for len(numbers) > 0 {
		id, count := numbers[0]&7, numbers[0]>>3
		numbers = numbers[1:]
		text += map[uint64]string{1: "M", 2: "L", closePath: "Z"}[id]
		for ; count > 0 && id != closePath; count-- {
			x, y = x+protowire.DecodeZigZag(numbers[0]), y+protowire.DecodeZigZag(numbers[1])
			text += fmt.Sprint(" ", x, ",", y)
			numbers = numbers[2:]
		}
	}
	return text
}

func TestVector(t *testing.T) {
	var all []*Feature
	for i, g := range []string{
		`{"type":"Point","coordinates":[90,0]}`,
		`{"type":"LineString","coordinates":[[0,0],[180,0]]}`,
		// Both rings run the same way; the hole is turned.
		`{"type":"Polygon","coordinates":[[[10,-60],[100,-60],[100,-10],[10,-10],[10,-60]],[[40,-40],[60,-40],[60,-20],[40,-20],[40,-40]]]}`,
		`{"type":"Point","coordinates":[-90,0]}`, // outside
		`{"type":"Pont"}`,
		`{"type":"GeometryCollection","geometries":[{"type":"MultiPoint","coordinates":[[90,0,5],[45,0]]},{"type":"LineString","coordinates":[[0,0],[180,0]]}]}`,
	} {
		var geometry map[string]any
		if err := json.Unmarshal([]byte(g), &geometry); err != nil {
			t.Fatal(err)
		}
		if f := Prepare(fmt.Sprint("id", i), geometry, map[string]any{"name": "a", "count": json.Number("-3"), "share": json.Number("0.5"), "on": true, "none": nil, "list": []any{"x"}}); f != nil {
			all = append(all, f)
		}
	}
	encoded, err := Vector(all, 1, 1, 1) // south-east
	if err != nil {
		t.Fatal(err)
	}
	outer := messageFields(t, encoded)
	if len(outer) != 2 || outer[0] != 3 {
		t.Fatal(outer)
	}
	var features, keys, rest []any
	var values int
	layer := messageFields(t, []byte(outer[1].(string)))
	for i := 0; i < len(layer); i += 2 {
		switch layer[i] {
		case 2:
			f := messageFields(t, []byte(layer[i+1].(string)))
			features = append(features, fmt.Sprint(f[3], " ", drawing(t, f[5].(string))))
		case 3:
			keys = append(keys, layer[i+1])
		case 4:
			values++
		default:
			rest = append(rest, layer[i+1])
		}
	}
	want := []any{"1 M 2048,0", "2 M 0,0L 4096,0",
		"3 M 228,229L 2276,229 2276,1717 228,1717ZM 910,995L 1365,995 1365,465 910,465Z", "1 M 2048,0 1024,0", "2 M 0,0L 4096,0"}
	for i, w := range want {
		if i >= len(features) || features[i] != w {
			t.Errorf("feature %d of %v, want %s", i, features, w)
		}
	}
	if fmt.Sprint(rest) != "[features 4096 2]" || fmt.Sprint(keys) != "[_id count list name on share]" || values != 5+4 {
		t.Error(rest, keys, values)
	}
	if empty, err := Vector(all, 5, 0, 0); empty != nil || err != nil {
		t.Error(empty, err)
	}
}
