package module_test

import (
	"testing"

	"transect/client/schema"
	"transect/runtime/module"
)

// A table given alone names arguments also when it misspells one, so that the message can name the nearest.
func TestTakesNames(t *testing.T) {
	params := []module.Param{{Name: "hectares", Type: "number"}, {Name: "rate", Type: "number"}}
	for key, want := range map[string]bool{"hectares": true, "rate": true, "hectare": true, "Rates": true, "1": false, "x": false} {
		if got := module.TakesNames(params, []string{key}); got != want {
			t.Errorf("%s: %t", key, got)
		}
	}
	if table := []schema.Param{{Name: "options", Type: "table"}}; module.TakesNames(table, []string{"options"}) {
		t.Error("a parameter that takes a table gets the table")
	}
}
