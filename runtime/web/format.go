package web

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"transect/client/human"
	"transect/client/verdict"
)

// functions returns the functions for templates.
func (s *Server) functions() template.FuncMap {
	return template.FuncMap{
		"time":       s.time,
		"size":       size,
		"number":     func(v any) string { return human.Number(whole(v)) },
		"count":      func(v any, one string) string { return human.Count(whole(v), one) },
		"duration":   human.Duration,
		"query":      query,
		"day":        day,
		"add":        func(a, b int) int { return a + b },
		"date":       s.date,
		"ago":        s.ago,
		"kindName":   kindName,
		"state":      state,
		"seconds":    func(n float64) string { return human.Duration(time.Duration(n * float64(time.Second))) },
		"class":      class,
		"actions":    func() bool { return s.Actions },
		"now":        s.Now,
		"scriptName": scriptName,
		"sentence":   sentence,
		"jobLink":    s.jobLink,
		"millis":     func(ms int64) template.HTML { return s.time(time.UnixMilli(ms)) },
	}
}

// jobLink returns a job's name, linked if the page shows jobs.
func (s *Server) jobLink(id int64) template.HTML {
	if s.JobStore == nil {
		return template.HTML(fmt.Sprintf("job %d", id))
	}
	return template.HTML(fmt.Sprintf(`<a href="/jobs/%d">job %d</a>`, id, id))
}

// moment reads a time.Time, or a date in the platform's format.
func moment(v any) (time.Time, bool) {
	switch v := v.(type) {
	case time.Time:
		return v, !v.IsZero()
	case string:
		t, err := time.Parse(time.RFC3339Nano, v)
		return t, err == nil
	}
	return time.Time{}, false
}

// time formats a moment in local time, with UTC in its title.
func (s *Server) time(v any) template.HTML {
	t, ok := moment(v)
	if !ok {
		text, _ := v.(string)
		return template.HTML(template.HTMLEscapeString(text))
	}
	return s.timeTag(t, t.In(s.Now().Location()).Format("2006-01-02 15:04:05"))
}

// date formats the day of a moment, with the time in its title.
func (s *Server) date(v any) template.HTML {
	t, ok := moment(v)
	if !ok {
		return s.time(v)
	}
	return s.timeTag(t, t.In(s.Now().Location()).Format(time.DateOnly))
}

// ago formats how long ago a moment was, with both times in its title.
func (s *Server) ago(v any) template.HTML {
	t, ok := moment(v)
	if !ok {
		return ""
	}
	passed := s.Now().Sub(t)
	if passed < 0 {
		return s.time(v)
	}
	return s.timeTag(t, human.Ago(passed))
}

func (s *Server) timeTag(t time.Time, text string) template.HTML {
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s, %s UTC">%s</time>`, t.UTC().Format(time.RFC3339),
		template.HTMLEscapeString(t.In(s.Now().Location()).Format("2006-01-02 15:04:05 MST")),
		t.UTC().Format(time.DateTime), template.HTMLEscapeString(text)))
}

// whole converts a number from a template; -1 for other values.
func whole(v any) int64 {
	switch v := v.(type) {
	case int:
		return int64(v)
	case int64:
		return v
	case float64:
		return int64(v)
	case json.RawMessage:
		if f, err := strconv.ParseFloat(string(v), 64); err == nil {
			return int64(f)
		}
	}
	return -1
}

// size formats a number of bytes with its unit, "" for values that are not numbers.
func size(v any) string {
	n := whole(v)
	if n < 0 {
		return ""
	}
	return human.Size(n)
}

// query changes parameters of an address: query .Values "page" 2. The values "" and 0 remove a parameter.
func query(values url.Values, pairs ...any) (string, error) {
	changed := url.Values{}
	for name, list := range values {
		changed[name] = list
	}
	if len(pairs)%2 != 0 {
		return "", fmt.Errorf("query: %d names and values", len(pairs))
	}
	for i := 0; i < len(pairs); i += 2 {
		name, value := fmt.Sprint(pairs[i]), fmt.Sprint(pairs[i+1])
		if value == "" || value == "0" {
			changed.Del(name)
		} else {
			changed[name] = []string{value}
		}
	}
	return "?" + changed.Encode(), nil
}

// kindName returns the name of a kind of dataset for people.
func kindName(kind string) string {
	if kind == "pcl" {
		return "point cloud"
	}
	return kind
}

// colours maps the states of datasets, products, jobs and workers to colours.
var colours = map[string]string{
	"completed": "good", "complete": "good", "available": "good", "done": "good",
	"running": "busy", "working": "busy",
	"pending": "warn", "cancelled": "warn", "canceled": "warn", "retrying": "warn", "done with failures": "warn",
	"stopping": "warn", "lost": "warn", "released": "warn",
	"failed": "bad", "rejected": "bad", "stopped": "bad", "needs a decision": "bad", "died": "bad",
}

// class returns the colour of a state or a verdict.
func class(v any) string {
	what, ok := v.(verdict.Verdict)
	switch {
	case !ok:
		return colours[fmt.Sprint(v)]
	case what.Bad():
		return "bad"
	case what == verdict.Uploaded, what == verdict.AlreadyThere:
		return "good"
	}
	return ""
}

// sentence begins a text with a capital letter and ends it with a full stop, unless
// it begins with a name or ends otherwise.
func sentence(text string) string {
	first, _, _ := strings.Cut(text, " ")
	if strings.IndexFunc(first, func(r rune) bool { return r < 'a' || r > 'z' }) < 0 && first != "" {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	if last := strings.TrimRightFunc(text, unicode.IsSpace); last != "" && unicode.IsLetter(rune(last[len(last)-1])) {
		return last + "."
	}
	return text
}

// state returns a state with its colour.
func state(name string) template.HTML {
	if name == "" {
		return ""
	}
	return template.HTML(`<span class="badge ` + class(name) + `">` + template.HTMLEscapeString(name) + `</span>`)
}
