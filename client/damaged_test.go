package client

import (
	"strings"
	"testing"

	"transect/client/fault"
)

// An answer that is damaged or cut off is named, and after a create it says that
// it may have been done.
func TestDamagedAnswers(t *testing.T) {
	for _, answer := range []string{`{"project":{"_id":"5f`, "{\"results\":[{\"_id\":\"a\x00\"}],\"total\":1}", `[{"_id":"a"},`} {
		for operation, written := range map[string]bool{"projects.create": true, "projects.search": false, "datasets.create_datasets": true} {
			args := map[string]any{"name": "n", "company": "c"}
			switch operation {
			case "projects.search":
				args = nil
			case "datasets.create_datasets":
				args = map[string]any{"datasets": []any{map[string]any{"name": "n", "type": "file"}}}
			}
			c, _ := record(t, map[string]string{"": answer})
			_, err := invoke(t, c, operation, args)
			f := fault.Find(err)
			if f == nil || f.Name() != "QueryError" || !strings.Contains(f.Error(), operation+": the platform's answer of ") || !strings.Contains(f.Error(), "damaged or cut off") {
				t.Errorf("%s of %q: %v", operation, answer, err)
			} else if written != strings.Contains(f.Facts().Hint, "may have been done") || !strings.Contains(f.Facts().Hint, "proxy") {
				t.Errorf("%s: the hint is %q", operation, f.Facts().Hint)
			}
		}
	}
}
