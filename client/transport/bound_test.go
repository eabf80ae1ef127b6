package transport

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"transect/client/fault"
)

// A small answer that inflates to gigabytes is refused while it is read, once, and
// says what to do.
func TestAnswersAreBounded(t *testing.T) {
	var member bytes.Buffer
	zip := gzip.NewWriter(&member)
	_, err := zip.Write(bytes.Repeat([]byte(" "), 16<<20))
	if err := errors.Join(err, zip.Close()); err != nil {
		t.Fatal(err)
	}
	bomb := bytes.Repeat(member.Bytes(), 256) // 4 GiB
	asked := 0
	p := newPlatform(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb)
	})
	tr, _ := open(t, Options{BaseURL: p.URL})
	for _, r := range []Request{
		{Operation: "projects.search", Path: "/x", Repeatable: true},
		{Operation: "projects.create", Path: "/x", Bound: 1 << 20},
	} {
		asked = 0
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = tr.Do(t.Context(), r)
		runtime.ReadMemStats(&after)
		f := fault.Find(err)
		if !errors.Is(err, fault.ErrAnswerTooLarge) || f == nil || f.Facts().Uncertain == r.Repeatable || asked != 1 {
			t.Fatalf("%s, asked %d times: %v", r.Operation, asked, err)
		}
		if r.Repeatable && !strings.Contains(f.Facts().Hint, "limit") || !strings.Contains(err.Error(), r.Operation+": the answer is too large") {
			t.Errorf("%v; %s", err, f.Facts().Hint)
		}
		// A buffer that doubles allocates twice its size, with the race detector four times.
		if took := after.TotalAlloc - before.TotalAlloc; took > 12*standardBound {
			t.Errorf("it took %d MiB", took>>20)
		}
	}
}

// Levels are counted outside of texts, and as many as encoding/json takes are allowed.
func TestNestedDeeper(t *testing.T) {
	for text, want := range map[string]bool{
		strings.Repeat("[", deepest) + strings.Repeat("]", deepest):         false,
		strings.Repeat("[", deepest+1):                                      true,
		strings.Repeat(`{"a":`, deepest+1):                                  true,
		`["` + strings.Repeat("[", deepest+1) + `"]`:                        false,
		`["\"` + strings.Repeat(`{`, deepest+1) + `\\",[]]`:                 false,
		`["\\",` + strings.Repeat(`{"a":`, deepest):                         true,
		"[" + strings.Repeat("[],", deepest) + "0]":                         false,
		strings.Repeat(`[{"coordinates":[[[1,2]]]},`, deepest/2-2) + "[[[0": false,
	} {
		if got := nestedDeeper([]byte(text), deepest); got != want {
			t.Errorf("%.30s: %v", text, got)
		}
	}
}
