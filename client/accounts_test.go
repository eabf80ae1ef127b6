package client

import (
	"fmt"
	"strings"
	"testing"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/schema"
)

const accounts = "POST /dxauth/"

func TestAccountsOnTheWire(t *testing.T) {
	testWire(t, []wireCase{
		{call: "companies.describe", args: object{"company": "c1"}, want: one(accounts + `describe-company {"company":"c1"}`)},
		{call: "companies.describe", args: object{"company": list{"c1", "c2"}, "extra": object{"fields": object{"include": list{"name"}}}}, answer: "[]",
			want: one(accounts + `describe-companies {"companies":["c1","c2"],"fields":{"include":["name"]}}`)},
		{call: "companies.describe", args: object{"company": schema.Empty{}}},
		{call: "companies.search", want: one(accounts + `search-companies {"filter":{}}`)},
		{call: "users.describe", want: one(accounts + `describe-user {}`)},
		{call: "users.describe", args: object{"user": "u1"}, want: one(accounts + `describe-user {"user":"u1"}`)},
		{call: "users.search", args: object{"filter": object{"email": object{"$match": "ann"}}, "limit": 3}, want: one(accounts + `search-users {"filter":{"email":{"$match":"ann"}},"limit":3}`)},
		{call: "share_tokens.revoke", args: object{"token": "secret-token"}, want: one(accounts + `revoke-share-token {"token":"secret-token"}`)},
		{call: "share_tokens.search", args: object{"page": 1, "sort": object{"duration": 1}}, want: one(accounts + `search-share-tokens {"filter":{},"page":1}`)},
		{call: "share_tokens.search", args: object{"page": 1, "extra": object{"sort": object{"duration": 1}}}, want: one(accounts + `search-share-tokens {"filter":{},"page":1}`)},
		{call: "products.cancel", args: object{"product": "r1"}, want: one(analyticsPath + `cancel-product {"product":"r1"}`)},
		{call: "products.describe", args: object{"product": "r1", "extra": object{"fields": object{"include": list{"status"}}}}, want: one(analyticsPath + `describe-product {"product":"r1","fields":{"include":["status"]}}`)},
		{call: "products.search", args: object{"project": "p1", "filter": object{"status": object{"$eq": "failed"}}}, want: one(analyticsPath + `search-products {"filter":{"status":{"$eq":"failed"},"project":{"$eq":"p1"}}}`)},
		{call: "products.retrieve_logs", args: object{"product": "r1", "extra": object{"limit": 5}}, answer: `{"total":{"value":0},"logs":[]}`,
			want: one(analyticsPath + `retrieve-product-logs {"product":"r1","limit":5}`)},
	})
	testRefused(t, []refusedCase{
		{"products.describe", object{"product": list{"r1"}}, "ParameterError", "must be an id"},
		{"users.describe", object{"user": list{"u1"}}, "ParameterError", "must be an id"},
		{"share_tokens.create", object{}, "ParameterError", "dataset is missing"},
	})
}

func TestLogsInOrder(t *testing.T) {
	answer := `{"total":{"value":9},"logs":[
		{"timestamp":"2026-05-31T08:00:01.5Z","message":"c"},
		{"timestamp":"2026-05-31T08:00:01.123456789Z","message":"b","level":{"n":2}},
		{"timestamp":"2026-05-31T08:00:01.5Z","message":"d"},
		{"timestamp":"2026-05-31T10:00:01+02:00","message":"a"},
		{"timestamp":"2026-05-31T08:00:01.5000001Z","message":"e"}]}`
	c, _ := record(t, map[string]string{"": strings.ReplaceAll(answer, "\n", "")})
	in := Ref{ID: "r1"}
	v, err := c.operation("products", "retrieve_logs").Invoke(t.Context(), declare.Args{Values: object{"product": "r1"}})
	if err != nil {
		t.Fatal(err)
	}
	logs, err := c.Products.RetrieveLogs(t.Context(), in)
	if err != nil || logs.Total != 9 {
		t.Fatalf("total %d, %v", logs.Total, err)
	}
	var order strings.Builder
	for _, line := range v.Go.(ProductLogs).Logs {
		order.WriteString(line.Record["message"].(string))
	}
	if order.String() != "abcde" {
		t.Errorf("the lines come as %s", order.String())
	}
	if line := logs.Logs[1]; line.Timestamp != "2026-05-31T08:00:01.123456789Z" || fmt.Sprint(line.Record) != "map[level:map[n:2] message:b timestamp:2026-05-31T08:00:01.123456789Z]" {
		t.Errorf("a line is %+v", line)
	}
}

const (
	companiesOf = dataPath + `describe-datasets {"datasets":[%s],"fields":{"include":["company"]}}`
	issue       = accounts + `create-share-token `
)

func TestShareTokensOnTheWire(t *testing.T) {
	described := map[string]string{
		dataPath + "describe-datasets":  `[{"_id":"d1","company":"c1"},{"_id":"d2","company":"c1"}]`,
		accounts + "create-share-token": `{"_id":"t1","token":"t","expiration_date":null,"scope":{"datasets":["d1","d2"]}}`,
	}
	t.Run("several", func(t *testing.T) {
		c, r := record(t, described)
		token, err := c.ShareTokens.Create(t.Context(), CreateShareToken{Dataset: IDs{"d1", "d2"}})
		if err != nil || token.Token != "t" {
			t.Fatal(token, err)
		}
		expect(t, r, fmt.Sprintf(companiesOf, `"d1","d2"`), issue+`{"scope":{"datasets":["d1","d2"]},"company":"c1"}`)
	})
	t.Run("one", func(t *testing.T) {
		c, r := record(t, map[string]string{dataPath + "describe-datasets": `[{"_id":"d1","company":"c1"}]`})
		if _, err := invoke(t, c, "share_tokens.create", object{"dataset": "d1", "duration": 0, "extra": object{"note": "x", "company": "other"}}); err != nil {
			t.Fatal(err)
		}
		expect(t, r, fmt.Sprintf(companiesOf, `"d1"`), issue+`{"scope":{"datasets":["d1"]},"company":"c1","duration":0,"note":"x"}`)
	})
	t.Run("many", func(t *testing.T) {
		ids := make(IDs, 1001)
		for i := range ids {
			ids[i] = fmt.Sprint("d", i)
		}
		c, r := record(t, described)
		if _, err := c.ShareTokens.Create(t.Context(), CreateShareToken{Dataset: ids}); err != nil || len(r.all()) != 3 {
			t.Errorf("%v, requests %d", err, len(r.all()))
		}
	})
	for what, answer := range map[string]string{
		"of two companies": `[{"_id":"d1","company":"c1"},{"_id":"d2","company":"c2"}]`,
		"of no company":    `[{"_id":"d1"},{"_id":"d2"}]`,
	} {
		t.Run(what, func(t *testing.T) {
			c, r := record(t, map[string]string{"": answer})
			_, err := c.ShareTokens.Create(t.Context(), CreateShareToken{Dataset: IDs{"d1", "d2"}})
			if f := fault.Find(err); f == nil || f.Name() != "RuntimeError" || f.Facts().Operation != "share_tokens.create" {
				t.Errorf("the error is %v", err)
			}
			expect(t, r, fmt.Sprintf(companiesOf, `"d1","d2"`))
		})
	}
}
