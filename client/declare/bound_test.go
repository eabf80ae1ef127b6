package declare

import (
	"errors"
	"strings"
	"testing"

	"transect/client/fault"
	"transect/client/schema"
)

// TestBounds: the bound of an answer depends on the arguments, and never exceeds memory.
func TestBounds(t *testing.T) {
	ids := []schema.Param{{Name: "project", Type: "id|[]id"}}
	for _, c := range []struct {
		shape  Shape
		values map[string]any
		want   int64
	}{
		{ShapeResource, nil, recordBound},
		{ShapeNone, nil, recordBound},
		{ShapePage, map[string]any{"limit": int64(100)}, recordBound + 100*furtherOne},
		{ShapePage, map[string]any{"limit": int64(1) << 60}, answerBound},
		{ShapeSome, map[string]any{"project": "a"}, recordBound},
		{ShapeSome, map[string]any{"project": []string{"a", "b"}}, recordBound + 2*furtherOne},
		{ShapeResources, nil, answerBound},
		{ShapeObject, nil, answerBound},
	} {
		if got := (&Spec{Shape: c.shape, Params: ids}).bound(Args{Values: c.values}); got != c.want {
			t.Errorf("%s %v: %d, not %d", c.shape, c.values, got, c.want)
		}
	}
}

// TestTooManyRecords: an answer of many tiny records is refused before it is split, because their
// slices take more memory than they do. Commas within records do not count.
func TestTooManyRecords(t *testing.T) {
	most := mostItems(nil)
	large := `{"a":[` + strings.Repeat(`1,`, most+1) + `2],"b":",\","}`
	for text, want := range map[string]bool{
		"[1" + strings.Repeat(",1", most-1) + "]": true,
		"[1" + strings.Repeat(",1", most) + "]":   false,
		"[" + large + "," + large + "]":           true,
	} {
		_, err := SplitArray([]byte(text))
		_, _, ofPage := splitPage([]byte(`{"total":1,"results":` + text + `}`))
		if (err == nil) != want || !want && (!errors.Is(err, fault.ErrAnswerTooLarge) || !errors.Is(ofPage, fault.ErrAnswerTooLarge)) {
			t.Errorf("%.20s: %v, %v", text, err, ofPage)
		}
	}
}
