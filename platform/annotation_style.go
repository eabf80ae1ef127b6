package platform

import (
	"math"

	"transect/platform/store"
)

// style is one thing about how an annotation looks.
type style struct {
	key, route string
	check      func(a *args, key string)
}

var styles = []style{
	{"stroke", "stroke", checkColour},
	{"stroke_dasharray", "stroke-dasharray", checkDashes},
	{"stroke_width", "stroke-width", checkWidth},
	{"stroke_opacity", "stroke-opacity", checkOpacity},
	{"fill", "fill", checkColour},
	{"fill_opacity", "fill-opacity", checkOpacity},
	{"normals", "normals", checkNormals},
}

// set changes the style of an annotation.
func (s style) set(_ *Request, a *args, doc store.Doc) error {
	if a.need(s.key) {
		s.check(a, s.key)
		doc[s.key] = a.doc[s.key]
	}
	return nil
}

// checkColour wants red, green and blue, and perhaps alpha or opacity.
func checkColour(a *args, key string) {
	n := a.numbers(key, 0, 255)
	if a.err == nil && len(n) != 3 && len(n) != 4 {
		a.wrong(key, "must have 3 numbers, or 4 with an opacity, not %d", len(n))
	}
	for i := 0; a.err == nil && i < 3; i++ {
		if n[i] != math.Trunc(n[i]) {
			a.wrong(key, "element %d must be a whole number", i)
		}
	}
}

func checkDashes(a *args, key string)  { a.numbers(key, 0, math.Inf(1)) }
func checkWidth(a *args, key string)   { a.number(key, 0, math.Inf(1)) }
func checkOpacity(a *args, key string) { a.number(key, 0, 1) }

// checkNormals wants a list of vectors of three numbers.
func checkNormals(a *args, key string) {
	for i, v := range a.list(key) {
		vector, ok := v.([]any)
		for _, n := range vector {
			_, number := asNumber(n)
			ok = ok && number
		}
		if !ok || len(vector) != 3 {
			a.wrong(key, "element %d must be a vector of three numbers", i)
		}
	}
}
