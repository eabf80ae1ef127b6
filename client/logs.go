package client

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"sort"
	"strings"
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
	// Complete is set by platforms when no line will follow.
	Complete bool `json:"complete"`
}

// largestLog bounds the log of a product.
const largestLog = 256 << 20

func (c *Client) fetchLogs(ctx context.Context, product string, extra Extra) (lines []LogLine, answer logAnswer,
	err error) {
	body := map[string]any{}
	for k, v := range extra.Extra {
		body[k] = v
	}
	body["product"] = product
	spec := c.operation("products", "retrieve_logs")
	raw, err := c.send(ctx, declare.Request{Spec: spec, Method: "POST", Path: spec.Routes[0], Body: body,
		Bound: largestLog})
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

// remembered is how many of the last lines a cursor tracks one by one. A line
// that comes late, behind more than so many others, is taken for seen when
// following is resumed from a cursor.
const remembered = 64

// mark identifies one line: when it was written, and a hash of its content.
type mark struct {
	micros int64
	hash   uint32
}

func markOf(line LogLine, text []byte) mark {
	h := fnv.New32a()
	h.Write(text)
	at, err := time.Parse(time.RFC3339Nano, line.Timestamp)
	if err != nil {
		return mark{0, h.Sum32()}
	}
	return mark{at.UnixMicro(), h.Sum32()}
}

// logCursor is a position in a product's log: the marks of its last lines, and the
// time up to which everything counts as seen.
type logCursor struct {
	horizon int64 // microseconds since 1970
	marks   []mark
}

// with returns the cursor after one more line.
func (c logCursor) with(m mark) logCursor {
	c.marks = append(c.marks[:len(c.marks):len(c.marks)], m)
	if len(c.marks) <= remembered {
		return c
	}
	earliest := 0
	for i := range c.marks {
		if c.marks[i].micros < c.marks[earliest].micros {
			earliest = i
		}
	}
	c.horizon = max(c.horizon, c.marks[earliest].micros)
	c.marks = append(c.marks[:earliest], c.marks[earliest+1:]...)
	return c
}

// follow returns a product's log after the cursor. Each mark counts once: equal
// lines are distinguished by number.
func (c logCursor) follow(product string) *followedLog {
	log := &followedLog{product: product, resumed: c.horizon, cursor: c, seen: map[mark]int{}}
	for _, m := range c.marks {
		log.seen[m]++
	}
	return log
}

// String returns the cursor in the form that scripts keep.
func (c logCursor) String() string {
	b := binary.BigEndian.AppendUint64(nil, uint64(c.horizon))
	for _, m := range c.marks {
		b = binary.BigEndian.AppendUint64(b, uint64(m.micros))
		b = binary.BigEndian.AppendUint32(b, m.hash)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseCursor(text string) (logCursor, error) {
	if text == "" {
		return logCursor{}, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(b)%12 != 8 {
		return logCursor{}, fault.Hinted(fault.Of(&fault.ParameterError{}, "argument after: %.20q is not a cursor", text),
			"give the field cursor of a line from follow_logs")
	}
	c := logCursor{horizon: int64(binary.BigEndian.Uint64(b))}
	for b = b[8:]; len(b) > 0; b = b[12:] {
		c.marks = append(c.marks, mark{int64(binary.BigEndian.Uint64(b)), binary.BigEndian.Uint32(b[8:])})
	}
	return c, nil
}
