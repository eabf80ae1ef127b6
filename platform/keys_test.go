package platform

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A write with a key is done once; the same key with another request is refused.
func TestIdempotencyKeys(t *testing.T) {
	ahead := time.Duration(0)
	s := inside(t, Options{Now: func() time.Time { return time.Now().Add(ahead) }})
	create := func(s *site, key, name string) (int, string) {
		t.Helper()
		q, err := http.NewRequest("POST", s.base+"/project-manager/projects", strings.NewReader(`{"name":"`+name+`","company":"`+s.company+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Authorization", "Bearer "+s.token)
		q.Header.Set("Content-Type", "application/json")
		q.Header.Set("Idempotency-Key", key)
		answer, err := s.http.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
	_, first := create(s, "r/1", "A")
	status, again := create(s, "r/1", "A")
	if status != 200 || again != first || s.p.RepeatedKeys() != 1 {
		t.Errorf("%d %s, first %s, %d repeated", status, again, first, s.p.RepeatedKeys())
	}
	if status, text := create(s, "r/1", "B"); status != 422 || !strings.Contains(text, "with another request") {
		t.Errorf("another body: %d %s", status, text)
	}
	if _, other := create(s, "r/2", "A"); other == first {
		t.Error("another key got the answer of the first")
	}
	ahead = keptKeys + time.Minute
	s.p.sweep(context.Background(), s.p.options.Now())
	if err := s.p.read(context.Background(), func(x tx) {
		var n int
		check(x.QueryRow("SELECT count(*) FROM keys").Scan(&n))
		if n != 0 {
			t.Errorf("%d answers are still kept after a day", n)
		}
	}); err != nil {
		t.Error(err)
	}
	ignoring := inside(t, Options{IgnoreKeys: true})
	_, first = create(ignoring, "r/1", "A")
	if _, again := create(ignoring, "r/1", "A"); again == first || ignoring.p.RepeatedKeys() != 0 {
		t.Error("the key was not ignored")
	}
}
