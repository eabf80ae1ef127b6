package declare

import (
	"net/http"

	"transect/client/fault"
)

const (
	longestPage  = 5000    // records
	largestPage  = 4 << 20 // bytes, about
	slowerFactor = 1.5     // a record may take this much longer in a larger page
	patience     = 3       // pages that took too long before the size goes back
	quickPage    = 0.25    // seconds a page may take in any case
)

// sizes decides how long the next page is. A limit the caller gives is kept;
// otherwise pages double while each record costs no more time than before.
type sizes struct {
	now    int64
	proven int64 // largest size that came whole
	most   int64 // never above
	fixed  bool  // the size is the caller's
	free   bool  // no number was given for it: the platform decides
	begun  int64 // where it started

	perRecord map[int64]float64 // least seconds, by size
	slow      int               // pages in a row that took too long
	bytes     float64           // of a record, on average
}

func startingSizes(values map[string]any, standard int64) sizes {
	s := sizes{now: standard, most: longestPage, perRecord: map[int64]float64{}}
	if limit, given := values["limit"]; given {
		n, number := limit.(int64)
		s.fixed, s.now, s.most = true, n, n
		s.free = !number || n < 1
	}
	s.free, s.begun = s.free || s.now < 1, s.now
	return s
}

// step is the distance of two pages. Pages of unknown size count as one.
func (s *sizes) step() int64 {
	if s.free {
		return 1
	}
	return s.now
}

// came notes a page that was as long as asked.
func (s *sizes) came(size int64, got pageAnswer) {
	s.proven = max(s.proven, size)
	if n := len(got.items); n > 0 {
		s.bytes = float64(got.bytes) / float64(n)
		took := got.took.Seconds() / float64(n)
		if best, known := s.perRecord[size]; !known || took < best {
			s.perRecord[size] = took
		}
		smaller, known := s.perRecord[size/2]
		switch {
		case s.fixed || size != s.now || size <= s.begun:
		case known && took > slowerFactor*smaller && got.took.Seconds() > quickPage:
			if s.slow++; s.slow >= patience {
				s.now, s.most, s.slow = size/2, size/2, 0
				clear(s.perRecord) // it has settled
			}
		default:
			s.slow = 0
		}
	}
}

// grow doubles the size where that keeps pages aligned: the next one starts at
// offset; total is -1 when unknown.
func (s *sizes) grow(offset, total int64) {
	twice := 2 * s.now
	switch {
	case s.fixed || s.free || s.proven < s.now || s.slow > 0,
		twice > s.most || float64(twice)*s.bytes > largestPage,
		offset%twice != 0 || total >= 0 && offset+twice > total:
		return
	}
	s.now = twice
}

// fall goes back to a size that comes whole: one that did, else the length n
// of a page that did not.
func (s *sizes) fall(n int64) {
	if s.proven > 0 && s.proven < s.now {
		n = s.proven
	}
	s.now, s.most, s.proven = n, n, n
}

// fix takes the platform's own page size.
func (s *sizes) fix(n int64) {
	s.now, s.most, s.proven, s.fixed = n, n, n, true
}

// shrink answers an error that a shorter page may avoid; false when there is
// no such page.
func (s *sizes) shrink(size int64, err error) bool {
	if s.fixed || s.free || size <= 1 || !tooMuch(err) {
		return false
	}
	s.now = max(1, size/4)
	s.most, s.proven, s.slow = s.now, min(s.proven, s.now), 0
	return true
}

// tooMuch tells errors of a platform that could not finish a page.
func tooMuch(err error) bool {
	switch f := fault.Find(err).(type) {
	case *fault.ResponseError:
		switch f.Status {
		case http.StatusRequestEntityTooLarge, http.StatusBadGateway, http.StatusGatewayTimeout:
			return true
		}
	case *fault.TimeoutError:
		return true
	}
	return false
}

// inBytes is how many pages fit into so many bytes.
func (s *sizes) inBytes(most int) int {
	page := s.bytes * float64(s.now)
	if page <= 0 {
		return mostInFlight
	}
	return max(1, int(float64(most)/page))
}
