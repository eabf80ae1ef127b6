package transfer

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"transect/client/fault"
)

const brokenOff = -1 // instead of a status

// A small file goes in one request where the caller says so, and a platform that
// does not take it like that gets it in the other way, the next ones at once.
func TestAtOnce(t *testing.T) {
	direct := "init-upload-component complete-upload-component"
	for _, c := range []struct {
		name    string
		way     Way
		asked   bool
		size    int
		refused int // the status that one request is answered with
		calls   string
	}{
		{"asked for", Either, true, 200_000, 0, "upload-component upload-component"},
		{"as large as can be", Either, true, AtOnceSize, 0, "upload-component upload-component"},
		{"too large", Either, true, AtOnceSize + 1, 0, direct + " " + direct},
		{"not asked for", Either, false, 10, 0, direct + " " + direct},
		{"direct", Direct, true, 10, 0, direct + " " + direct},
		{"unknown route", Either, true, 10, http.StatusNotFound, "upload-component " + direct + " " + direct},
		{"gone", Either, true, 10, http.StatusGone, "upload-component " + direct + " " + direct},
		{"forbidden", Either, true, 10, http.StatusForbidden, "upload-component " + direct + " " + direct},
		{"too large for it", Either, true, 10, http.StatusRequestEntityTooLarge, "upload-component " + direct + " " + direct},
		{"fails always", Either, true, 10, http.StatusInternalServerError, "upload-component " + direct + " " + direct},
		{"bad gateway", Either, true, 10, http.StatusBadGateway, "upload-component " + direct + " " + direct},
		{"broken off", Either, true, 10, brokenOff, "upload-component " + direct + " " + direct},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newService(t)
			s.onAtOnce = func() int {
				if c.refused == brokenOff {
					panic(http.ErrAbortHandler)
				}
				return c.refused
			}
			path, content := fileOf(t, c.size)
			transfers := fast(s, Options{Way: c.way})
			for range 2 {
				sent := int64(0)
				up, err := transfers.Upload(t.Context(), Upload{Dataset: "d", Component: "image", Path: path, Multipart: true, AtOnce: c.asked, New: true,
					Progress: func(n int64) { sent += n }})
				if err != nil || up != (Uploaded{MD5: sum(content), Bytes: int64(c.size), Parts: 1}) {
					t.Fatal(up, err)
				}
				if !bytes.Equal(s.completed, content) || sent != int64(c.size) {
					t.Errorf("%d bytes arrived, %d counted", len(s.completed), sent)
				}
			}
			if got := strings.Join(s.routes(), " "); got != c.calls {
				t.Errorf("calls %s", got)
			}
		})
	}
}

// What the storage would answer as well is told at once, and of what it answers
// as well nothing is learnt.
func TestAtOnceRefused(t *testing.T) {
	for status, calls := range map[int]int{
		http.StatusNotFound: 2, http.StatusInternalServerError: 2, http.StatusUnauthorized: 1, http.StatusConflict: 1, http.StatusInsufficientStorage: 1,
	} {
		s := newService(t)
		s.onAtOnce, s.refuseAll = func() int { return status }, true
		path, _ := fileOf(t, 10)
		transfers := fast(s, Options{})
		_, err := transfers.Upload(t.Context(), Upload{Dataset: "d", Component: "image", Path: path, AtOnce: true})
		if f := fault.Find(err); f == nil || f.Name() != "ResponseError" {
			t.Error(status, err)
		}
		if transfers.notAtOnce.Load() {
			t.Error(status, "taken for a platform without that way")
		}
		if n := s.asked.Load(); n != int64(calls) {
			t.Errorf("%d: %d requests, want %d", status, n, calls)
		}
	}
}

// A repeat of the request is counted as one, and its bytes once.
func TestAtOnceRepeated(t *testing.T) {
	s := newService(t)
	busy := true
	s.onAtOnce = func() int {
		defer func() { busy = false }()
		if busy {
			return http.StatusServiceUnavailable
		}
		return 0
	}
	path, content := fileOf(t, 1000)
	transfers := fast(s, Options{})
	sent := int64(0)
	_, err := transfers.Upload(t.Context(), Upload{Dataset: "d", Component: "image", Path: path, AtOnce: true, Progress: func(n int64) { sent += n }})
	if err != nil || sent != 1000 || !bytes.Equal(s.completed, content) {
		t.Errorf("%v, %d bytes counted, %d arrived", err, sent, len(s.completed))
	}
	if n := transfers.Stats().Retries(); n != 1 {
		t.Errorf("%d retries", n)
	}
}
