package client

import (
	"context"
	"encoding/json"
	"sort"
	"time"

	"transect/client/declare"
	"transect/client/fault"
)

// Waits between two looks at a running product: short while lines come, longer
// while nothing happens.
const (
	shortestPoll = 200 * time.Millisecond
	longestPoll  = 2 * time.Second
	// Lines may still arrive after a product has ended; the platform's own
	// client waits this long for them.
	logGrace = 10 * time.Second
)

// ended are the statuses a product does not leave.
var ended = map[string]bool{"available": true, "failed": true, "rejected": true, "cancelled": true, "canceled": true}

// logAnswer is the answer of retrieve-product-logs.
type logAnswer struct {
	Total struct {
		Value int64 `json:"value"`
	} `json:"total"`
	Logs []json.RawMessage `json:"logs"`
	// Complete is set by platforms that know that no line will follow.
	Complete bool `json:"complete"`
}

func (c *Client) fetchLogs(ctx context.Context, product ID, extra Extra) (lines []LogLine, answer logAnswer, err error) {
	body := map[string]any{}
	for k, v := range extra.Extra {
		body[k] = v
	}
	body["product"] = string(product)
	raw, err := c.send(ctx, declare.Request{Spec: c.logsSpec, Method: "POST", Path: c.logsSpec.Routes[0], Body: body})
	if err != nil {
		return nil, answer, err
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, answer, fault.Of(&fault.QueryError{}, "the answer holds no logs: %w", err)
	}
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

func (c *Client) retrieveLogs(ctx context.Context, in ProductRef) (ProductLogs, error) {
	lines, answer, err := c.fetchLogs(ctx, in.Product, in.Extra)
	return ProductLogs{Total: max(answer.Total.Value, int64(len(lines))), Logs: lines}, err
}

func (c *Client) followLogs(_ context.Context, in FollowLogs) (*Cursor[LogLine], error) {
	return &Cursor[LogLine]{Stream: &follower{client: c, product: in.Product, extra: in.Extra, seen: map[string]int{}, wait: shortestPoll}}, nil
}

// follower yields every line once. The platform answers all lines each time,
// so lines are told apart by their content and how often it occurred: equal
// timestamps and late lines are neither lost nor repeated.
type follower struct {
	client  *Client
	product ID
	extra   Extra
	seen    map[string]int
	buffer  [][]byte
	wait    time.Duration
	started bool
	done    bool
	endedAt time.Time
}

func (f *follower) Next(ctx context.Context) ([]byte, bool, error) {
	for len(f.buffer) == 0 {
		if f.done {
			return nil, false, nil
		}
		if err := f.pause(ctx); err != nil {
			return nil, false, err
		}
		if err := f.poll(ctx); err != nil {
			return nil, false, err
		}
	}
	line := f.buffer[0]
	f.buffer = f.buffer[1:]
	return line, true, nil
}

func (f *follower) pause(ctx context.Context) error {
	if !f.started {
		f.started = true
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(f.wait):
		return nil
	}
}

// poll asks for the status first and the lines after: lines written before the
// end are then in the answer that follows the end.
func (f *follower) poll(ctx context.Context) error {
	product, err := f.client.Products.Describe(ctx, ProductRef{Product: f.product})
	if err != nil {
		return err
	}
	lines, answer, err := f.client.fetchLogs(ctx, f.product, f.extra)
	if err != nil {
		return err
	}
	fresh := 0
	now := map[string]int{}
	for _, line := range lines {
		text, err := json.Marshal(line)
		if err != nil {
			return err
		}
		key := string(text)
		now[key]++
		if now[key] > f.seen[key] {
			f.seen[key] = now[key]
			f.buffer = append(f.buffer, text)
			fresh++
		}
	}
	f.wait = min(f.wait*3/2, longestPoll)
	if fresh > 0 {
		f.wait, f.endedAt = shortestPoll, time.Time{}
	}
	if ended[product.Status] {
		if f.endedAt.IsZero() {
			f.endedAt = time.Now()
		}
		f.done = time.Since(f.endedAt) > logGrace
	}
	f.done = f.done || answer.Complete
	return nil
}

func (f *follower) Close() { f.done, f.buffer = true, nil }
