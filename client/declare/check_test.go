package declare_test

import (
	"testing"

	"transect/client/declare"
)

// Arguments are one object and nothing after it.
func TestParseArgs(t *testing.T) {
	for text, ok := range map[string]bool{
		`{"limit":1}`: true, ` {"limit":1}` + "\n": true,
		`{"limit":1}}`: false, `{"limit":1}]`: false, `{} {}`: false, `null`: false, `[]`: false, `{"limit":1`: false, ``: false,
	} {
		if _, err := declare.ParseArgs([]byte(text)); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}
