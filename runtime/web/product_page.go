package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"transect/client"
	"transect/client/human"
	"transect/client/transport"
)

// maxLogLines limits the lines of a log that a page shows, from the end.
const maxLogLines = 2000

// productView is the data of a product's page.
type productView struct {
	productRow
	Running bool
	Inputs  []fact
	Options []fact // parameters
	Outputs []datasetRow
	Lines   []logLine
	Hidden  int // number of earlier lines
	NoLog   string
	Record  string
}

// logLine is one line of a log, for people.
type logLine struct {
	Time  string `json:"time"`
	Level string `json:"level,omitempty"`
	Text  string `json:"text"`
}

func (s *Server) productPage(w http.ResponseWriter, r *http.Request, c *client.Client) error {
	p, err := c.Products.Describe(r.Context(), client.Ref{ID: client.ID(r.PathValue("product"))})
	if err != nil {
		return err
	}
	rows, err := s.productRows(r.Context(), []client.Product{p})
	if err != nil {
		return err
	}
	v := productView{productRow: rows[0], Running: !ended(p.Status), Record: indented(p.JSON())}
	v.Inputs, v.Options = objectFacts(p.Inputs), objectFacts(p.Parameters)
	if ids := outputs(p); len(ids) > 0 {
		found, err := c.Datasets.Search.Page(r.Context(), client.DatasetQuery{Query: client.Query{Filter: among("_id", ids),
			Limit: new(min(len(ids), 500)), Sort: byName}})
		if err != nil {
			return err
		}
		if v.Outputs, err = s.datasetRows(r.Context(), found.Results); err != nil {
			return err
		}
	}
	logs, err := c.Products.RetrieveLogs(r.Context(), client.Ref{ID: client.ID(p.ID)})
	if err != nil {
		v.NoLog = describe(err).Message
	}
	if v.Hidden = max(0, len(logs.Logs)-maxLogLines); v.Hidden > 0 {
		logs.Logs = logs.Logs[v.Hidden:]
	}
	for _, line := range logs.Logs {
		v.Lines = append(v.Lines, s.logLine(line))
	}
	topics := []string{"platform"}
	if v.Running {
		topics = append(topics, "log:"+p.ID)
	}
	return s.render(w, r, "product.html", view{Title: v.Title, Section: "/products", Data: v, Topics: topics,
		Scripts: []string{"product.js"}})
}

// objectFacts lists the members of an object, as JSON unless they are text.
func objectFacts(raw json.RawMessage) []fact {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return nil
	}
	return facts("", object, nil)
}

func (s *Server) logLine(line client.LogLine) logLine {
	l := logLine{Time: line.Timestamp}
	if t, ok := moment(line.Timestamp); ok {
		l.Time = t.In(s.Now().Location()).Format("15:04:05.000")
	}
	level, _ := line.Record["level"].(string)
	if l.Level = strings.ToLower(level); l.Level == "info" {
		l.Level = ""
	}
	text, ok := line.Record["message"].(string)
	if !ok {
		raw, _ := json.Marshal(line.Record) // cannot fail: just decoded from JSON
		text = string(raw)
	}
	l.Text = human.Shorten(transport.Redact(text), 10_000)
	return l
}

// logBatch limits the lines of one event.
const logBatch = 200

// followProductLog emits the lines of a product's log as they arrive, and finally its state.
func (s *Server) followProductLog(ctx context.Context, id, after string, emit emitter) error {
	c, err := s.platform()
	if err != nil {
		return nil
	}
	in := client.FollowLogs{Product: client.IDs{id}}
	if after != "" {
		in.After = after
	}
	cursor, err := c.Products.FollowLogs(ctx, in)
	if err != nil {
		return err
	}
	defer cursor.Close()
	for first := after == ""; ; first = false {
		line, more, err := cursor.Next(ctx)
		if err != nil && (ctx.Err() != nil || errors.Is(err, context.Canceled)) {
			return nil
		}
		if err != nil {
			return err
		}
		if !more {
			break
		}
		lines, position := []logLine{s.logLine(line)}, line.Cursor
		for len(lines) < logBatch {
			raw, ok := cursor.Stream.TryNext()
			if !ok {
				break
			}
			var next client.LogLine
			if err := json.Unmarshal(raw, &next); err != nil {
				return err
			}
			lines, position = append(lines, s.logLine(next)), next.Cursor
		}
		if err := emit(position, map[string]any{"lines": lines, "first": first}); err != nil {
			return err
		}
	}
	p, err := c.Products.Describe(ctx, client.Ref{ID: client.ID(id)})
	if err != nil {
		return err
	}
	return emit("", map[string]any{"ended": cmp.Or(p.Status, "ended")})
}
