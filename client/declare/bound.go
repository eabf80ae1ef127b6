package declare

// Bounds of an answer, which may inflate beyond memory: one record, each further one of a page or a
// list, and all together.
const (
	recordBound = 64 << 20
	furtherOne  = 256 << 10
	answerBound = 512 << 20
)

// bound returns the maximum size of an answer, depending on the arguments.
func (s *Spec) bound(a Args) int64 {
	switch s.Shape {
	case ShapeNone, ShapeResource:
		return recordBound
	}
	records := int64(0)
	if limit, ok := a.Values["limit"].(int64); ok {
		records = limit
	} else if ids, _ := s.list(a); ids != nil {
		records = int64(len(ids))
	} else if s.Shape != ShapeSome {
		return answerBound // no limit on their number
	}
	return min(recordBound+min(records, answerBound/furtherOne)*furtherOne, answerBound)
}
