package bindings

import "testing"

// Every key that sdk.connect takes is documented.
func TestConnectIsDocumented(t *testing.T) {
	for _, key := range connectKeys {
		if p := connectDocs[key]; p.Doc == "" || p.Type == "" {
			t.Errorf("connectDocs does not explain %s, which sdk.connect takes", key)
		}
	}
}
