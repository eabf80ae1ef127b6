package client

import (
	"testing"
	"time"
)

func TestDatastreamsOnTheWire(t *testing.T) {
	call := func(call string, args map[string]any, want string) wireCase {
		answer := ""
		if call == "datastreamtemplates.describes" {
			answer = `[{"_id":"t1"}]`
		}
		return wireCase{call: call, args: args, answer: answer, want: []string{"POST /dataflow/" + want}}
	}
	testWire(t, []wireCase{
		call("datastreams.create", map[string]any{"name": "n", "start_date": "2026-01-01", "end_date": time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), "source": map[string]any{"url": "u"}, "template": "t"},
			`create-datastream {"name":"n","start_date":"2026-01-01","end_date":"2026-02-01T00:00:00.000Z","source":{"url":"u"},"template":"t"}`),
		call("datastreams.describe", map[string]any{"datastream": "s"}, `describe-datastream {"datastream":"s"}`),
		call("datastreams.delete", map[string]any{"datastream": "s"}, `delete-datastream {"datastream":"s"}`),
		call("datastreams.search", nil, `search-datastreams {"filter":{}}`),
		call("datastreamsfiles.search", map[string]any{"limit": 3}, `search-datastreams-files {"filter":{},"limit":3}`),
		call("datastreamsassetsmonitored.search", nil, `search-datastreams-assets-monitoring {"filter":{}}`),
		call("datastreamtemplates.create", map[string]any{"name": "n", "source": map[string]any{"type": "object-storage"}, "import_dataset": map[string]any{"dataset_parameters": map[string]any{"type": "pcl"}}, "company": "c",
			"contextualisation": map[string]any{"type": "geographic"}, "transform": map[string]any{"a": 1}, "aggregate": map[string]any{"type": "append"}, "description": "d", "more": 1},
			`create-datastream-template {"name":"n","source":{"type":"object-storage"},"import":{"dataset_parameters":{"type":"pcl"}},"company":"c",
				"contextualisation":{"type":"geographic"},"transform":{"a":1},"aggregate":{"type":"append"},"description":"d","more":1}`),
		call("datastreamtemplates.describe", map[string]any{"template": "t"}, `describe-datastream-template {"datastreamtemplate":"t"}`),
		call("datastreamtemplates.describes", map[string]any{"templates": []any{"t1"}}, `describe-datastream-templates {"datastreamtemplates":["t1"]}`),
		call("datastreamtemplates.delete", map[string]any{"template": "t"}, `delete-datastream-template {"datastreamtemplate":"t"}`),
		call("datastreamtemplates.search", map[string]any{"exclude": []any{"source"}}, `search-datastream-templates {"filter":{},"exclude":["source"]}`),
	})
	testRefused(t, []refusedCase{
		{"datastreams.create", map[string]any{"name": "n", "start_date": "2026-02-01", "end_date": "2026-01-01", "source": map[string]any{}, "template": "t"}, "ParameterError", "is before start_date"},
		{"datastreamtemplates.search", map[string]any{"exclude": "source"}, "ParameterError", "argument exclude must be a list of strings"},
	})
}

// TestFirstPages of the generators are those of the searches.
func TestFirstPages(t *testing.T) {
	for call, want := range map[string]string{
		"annotations.search_generator":                `{"filter":{},"limit":50,"page":1,"sort":{"_id":1}}`,
		"features.search_generator":                   `{"filter":{},"limit":50,"page":1,"sort":{"_id":1}}`,
		"oauth_clients.search_generator":              `{"filter":{},"limit":50,"page":1,"sort":{"_id":1}}`,
		"credentials.search_generator":                `{"filter":{},"limit":50,"page":0,"sort":{"_id":1}}`,
		"analytic_configurations.search_generator":    `{"filter":{},"limit":100,"page":0,"sort":{"_id":1}}`,
		"datastreams.search_generator":                `{"filter":{},"limit":50,"page":0,"sort":{"_id":1}}`,
		"datastreamsfiles.search_generator":           `{"filter":{},"limit":50,"page":0,"sort":{"_id":1}}`,
		"datastreamsassetsmonitored.search_generator": `{"filter":{},"limit":50,"page":0,"sort":{"_id":1}}`,
		"datastreamtemplates.search_generator":        `{"filter":{},"limit":50,"page":0,"sort":{"_id":1}}`,
	} {
		c, r := record(t, nil)
		v, err := invoke(t, c, call, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok, err := v.Stream.Next(t.Context()); ok || err != nil {
			t.Errorf("%s: %t, %v", call, ok, err)
		}
		same(t, []byte(r.last(t).Body), want)
	}
}
