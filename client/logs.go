package client

import (
	"context"
	"encoding/json"
	"sort"
	"time"

	"transect/client/declare"
	"transect/client/fault"
)

// logAnswer is the answer of retrieve-product-logs.
type logAnswer struct {
	Total struct {
		Value int64 `json:"value"`
	} `json:"total"`
	Logs []json.RawMessage `json:"logs"`
	// Complete is set by platforms that know that no line will follow.
	Complete bool `json:"complete"`
}

func (c *Client) fetchLogs(ctx context.Context, product string, extra Extra) (lines []LogLine, answer logAnswer, err error) {
	body := map[string]any{}
	for k, v := range extra.Extra {
		body[k] = v
	}
	body["product"] = product
	raw, err := c.send(ctx, declare.Request{Spec: c.logsSpec, Method: "POST", Path: c.logsSpec.Routes[0], Body: body})
	if err != nil {
		return nil, answer, err
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, answer, fault.Of(&fault.QueryError{}, "the answer holds no logs: %w", err)
	}
	lines = []LogLine{} // a list also when it is empty
	for _, entry := range answer.Logs {
		record := map[string]any{}
		if err := json.Unmarshal(entry, &record); err != nil {
			return nil, answer, fault.Of(&fault.QueryError{}, "a log line is not an object: %w", err)
		}
		timestamp, _ := record["timestamp"].(string)
		delete(record, "timestamp")
		lines = append(lines, LogLine{Timestamp: timestamp, Record: record})
	}
	sort.SliceStable(lines, func(i, j int) bool { return earlier(lines[i].Timestamp, lines[j].Timestamp) })
	return lines, answer, nil
}

// earlier compares timestamps as points in time, with any number of digits and
// any zone; texts that are no time compare as texts.
func earlier(a, b string) bool {
	s, errA := time.Parse(time.RFC3339Nano, a)
	t, errB := time.Parse(time.RFC3339Nano, b)
	if errA != nil || errB != nil {
		return a < b
	}
	return s.Before(t)
}

func (c *Client) retrieveLogs(ctx context.Context, in Ref) (ProductLogs, error) {
	lines, answer, err := c.fetchLogs(ctx, string(in.ID), in.Extra)
	return ProductLogs{Total: max(answer.Total.Value, int64(len(lines))), Logs: lines}, err
}
