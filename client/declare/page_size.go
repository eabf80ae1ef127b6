package declare

import (
	"errors"
	"net/http"
	"time"

	"transect/client/fault"
)

const (
	maxPageRecords = 5000
	maxPageBytes   = 4 << 20     // approximately
	slowPage       = time.Second // a page that takes longer is not doubled

	// refusalsToShrink is how often a page is refused before a smaller one is requested.
	refusalsToShrink = 2
	// After a refusal so many pages must succeed before its size is tried again; each further
	// refusal doubles the number.
	firstRegrowth, lastRegrowth = 4, 64
)

// pageSize chooses how many records the next page requests. A limit set by the caller is kept;
// otherwise pages double from the default, and shrink when the platform refuses one as too large.
type pageSize struct {
	now    int64
	start  int64 // the first size
	max    int64
	proven int64 // largest size that was delivered completely
	fixed  bool  // set by the caller

	recordBytes float64 // on average
	slow        bool    // the last page was a slowPage
	refused     int64   // smallest size refused and not yet tried again; 0 for none
	complete    int     // complete pages since then
	regrowth    int     // complete pages needed before trying it
}

func newPageSize(values map[string]any, standard int64) pageSize {
	s := pageSize{now: standard, max: maxPageRecords}
	if limit, _ := values["limit"].(int64); limit > 0 {
		s.fixed, s.now, s.max = true, limit, limit
	}
	s.start = s.now
	return s
}

// succeeded records a page that was as long as requested.
func (s *pageSize) succeeded(size int64, got pageAnswer) {
	s.proven = max(s.proven, size)
	s.slow = got.took > slowPage
	s.recordBytes = float64(got.bytes) / float64(max(1, len(got.items)))
	if s.complete++; s.refused > 0 && size >= s.refused {
		s.refused = 0
	}
}

// grow doubles the size if pages stay aligned. offset is the next page's, total the number of
// matches or -1.
func (s *pageSize) grow(offset, total int64) {
	twice := 2 * s.now
	switch {
	case s.fixed, s.slow, s.proven < s.now,
		twice > s.max, float64(twice)*s.recordBytes > maxPageBytes,
		offset%twice != 0, total >= 0 && offset+twice > total,
		s.refused > 0 && twice >= s.refused && s.complete < s.regrowth:
		return
	}
	s.now = twice
}

// limitTo returns to a size that is delivered completely, for the page at an offset: a proven one,
// else n, the length of an incomplete page.
func (s *pageSize) limitTo(n, offset int64) {
	if s.proven > 0 && s.proven < s.now {
		n = s.proven
	}
	s.now, s.max = n, n
	s.align(offset)
	s.proven = s.now
}

// align lowers the size until it divides the offset.
func (s *pageSize) align(offset int64) {
	for offset%s.now != 0 {
		s.now--
	}
}

// shrinkable reports whether a refused page can be split into smaller ones.
func (s *pageSize) shrinkable() bool { return !s.fixed && s.now > 1 }

// shrink chooses a smaller size after a refused page at an offset: a proven one or a quarter. It
// returns false when neither can help.
func (s *pageSize) shrink(size, offset int64, err error) bool {
	if !s.shrinkable() || size <= 1 || !tooLarge(err) {
		return false
	}
	if s.now = max(1, size/4); s.proven < size {
		s.now = max(s.now, s.proven)
	}
	s.align(offset)
	s.proven = min(s.proven, s.now)
	s.refused, s.complete = size, 0
	s.regrowth = min(max(firstRegrowth, 2*s.regrowth), lastRegrowth)
	if !fault.TransientStatus(fault.Status(err)) {
		s.max = s.now // a limit or a time-out, which later pages would hit as well
	}
	return true
}

// tooLarge reports whether an error means that a page is too large to deliver.
func tooLarge(err error) bool {
	var timeout *fault.TimeoutError
	switch fault.Status(err) {
	case http.StatusRequestEntityTooLarge, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusGatewayTimeout:
		return true
	}
	return errors.Is(err, fault.ErrAnswerTooLarge) || errors.As(err, &timeout)
}

// pagesIn returns how many pages of the current size fit into so many bytes.
func (s *pageSize) pagesIn(bytes int) int {
	page := s.recordBytes * float64(s.now)
	if page <= 0 {
		return maxAheadFixed
	}
	return max(1, int(float64(bytes)/page))
}
