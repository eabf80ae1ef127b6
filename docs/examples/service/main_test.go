package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"transect/runtime/embed"
)

// A hundred requests at once, one of which does not end, one takes all memory, and one is wrong: the others are answered.
func TestService(t *testing.T) {
	p, err := embed.Compile("rule.lua", []byte(`
		local given = ...
		while given.endless do end
		local kept = {}
		while given.greedy do kept[#kept + 1] = { ("x"):rep(100) } end
		return { due = given.hours > 200, of = given.name }`))
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(service(p, 5*time.Second))
	defer s.Close()
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			body, status, want := fmt.Sprintf(`{"hours": %d, "name": "n%d"}`, 150+i, i), 200, fmt.Sprintf(`{"due":%t,"of":"n%d"}`, i > 50, i)
			switch i {
			case 40:
				body, status, want = `{"endless": true}`, 422, "deadline exceeded"
			case 50:
				body, status, want = `{"greedy": true}`, 422, "more than 64 MiB of memory"
			case 60:
				body, status, want = `{"hours": "many"}`, 422, "rule.lua:6"
			}
			answer, err := http.Post(s.URL, "application/json", strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			defer answer.Body.Close()
			text, err := io.ReadAll(answer.Body)
			if err != nil || answer.StatusCode != status || !strings.Contains(string(text), want) {
				t.Errorf("%s: %d %s, %v", body, answer.StatusCode, text, err)
			}
		})
	}
	wg.Wait()
}
