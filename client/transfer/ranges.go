package transfer

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// span is a requested range of a file: bytes from (inclusive) to to (exclusive, 0 for the end of
// the file). The zero span is the whole file.
type span struct {
	from, to int64
	// tag is the ETag the range must belong to, or "". If the file has changed, the server sends it whole.
	tag string
}

// header returns the request headers for a span.
func (s span) header() http.Header {
	h := http.Header{}
	if s.from == 0 && s.to == 0 {
		return h
	}
	last := ""
	if s.to > 0 {
		last = strconv.FormatInt(s.to-1, 10)
	}
	h.Set("Range", fmt.Sprintf("bytes=%d-%s", s.from, last))
	if s.tag != "" {
		h.Set("If-Range", s.tag)
	}
	return h
}

// strongTag returns the strong ETag of an answer, or "".
func strongTag(h http.Header) string {
	tag := strings.TrimSpace(h.Get("ETag"))
	if len(tag) < 3 || tag[0] != '"' || tag[len(tag)-1] != '"' {
		return ""
	}
	return tag
}

// contentRange parses "bytes first-last/total"; total is -1 for "*".
func contentRange(h string) (first, last, total int64, ok bool) {
	var all string
	if n, _ := fmt.Sscanf(strings.TrimSpace(h), "bytes %d-%d/%s", &first, &last, &all); n < 3 || first < 0 ||
		last < first {
		return 0, 0, 0, false
	}
	if all == "*" {
		return first, last, -1, true
	}
	total, err := strconv.ParseInt(all, 10, 64)
	return first, last, total, err == nil && total > last
}

// spans is a set of bytes of a file: disjoint ranges in ascending order, each from its first number
// (inclusive) to its second (exclusive).
type spans [][2]int64

// with returns the set with a range added.
func (s spans) with(from, to int64) spans {
	if from >= to {
		return s
	}
	i := 0
	for i < len(s) && s[i][1] < from {
		i++
	}
	j := i
	for j < len(s) && s[j][0] <= to {
		from, to = min(from, s[j][0]), max(to, s[j][1])
		j++
	}
	return slices.Replace(s, i, j, [2]int64{from, to})
}

// front returns the end of the range that begins at byte 0.
func (s spans) front() int64 {
	if len(s) > 0 && s[0][0] == 0 {
		return s[0][1]
	}
	return 0
}

func (s spans) bytes() (n int64) {
	for _, p := range s {
		n += p[1] - p[0]
	}
	return n
}

// gaps returns the missing ranges up to total, each no longer than size.
func (s spans) gaps(total, size int64) (out spans) {
	at := int64(0)
	for _, p := range append(slices.Clone(s), [2]int64{total, total}) {
		for at < p[0] {
			to := min(p[0], (at/size+1)*size)
			out = append(out, [2]int64{at, to})
			at = to
		}
		at = p[1]
	}
	return out
}

// valid reports whether a decoded set is well-formed, within a file of that size.
func (s spans) valid(total int64) bool {
	at := int64(-1)
	for _, p := range s {
		if p[0] <= at || p[1] <= p[0] {
			return false
		}
		at = p[1]
	}
	return at <= total
}
