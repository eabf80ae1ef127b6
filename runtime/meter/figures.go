package meter

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"transect/client/human"
)

// rate is the recent speed of the work. An average since the beginning would mislead after a pause, and after
// a resumed run has found what is already done.
type rate struct {
	at           time.Time
	moved, files int64
	bytes, file  pace
}

// pace is how much is done a second: the mean since the first was, and after a while
// smoothed.
type pace struct{ seconds, per float64 }

// smoothing is the time after which a change of pace is mostly seen.
const smoothing = 10 * time.Second

func (p *pace) add(n int64, seconds float64) {
	if p.seconds == 0 && n == 0 {
		return
	}
	p.seconds += seconds
	p.per += (float64(n)/seconds - p.per) * min(1, seconds/min(p.seconds, smoothing.Seconds()))
}

func (r *rate) add(now time.Time, moved, files int64) {
	if seconds := now.Sub(r.at).Seconds(); seconds > 0 {
		r.bytes.add(moved-r.moved, seconds)
		r.file.add(files-r.files, seconds)
		r.at, r.moved, r.files = now, moved, files
	}
}

// figures are one state of a display.
type figures struct {
	Reading
	elapsed time.Duration
	rate    float64       // bytes a second
	left    time.Duration // below 0 when not known
	last    bool
}

func (m *Meter) figures(last bool) figures {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	f := figures{Reading: m.read(), elapsed: now.Sub(m.started), left: -1, last: last}
	if m.rate.at.IsZero() {
		m.rate = rate{at: m.started}
		if f.Bytes > f.Transferred || f.Files > 0 && f.Transferred == 0 {
			m.rate.files = f.Files // found done already, at no time at all
		}
	}
	m.rate.add(now, f.Transferred, f.Files)
	f.rate = m.rate.bytes.per
	if last && f.elapsed > 0 {
		f.rate = float64(f.Transferred) / f.elapsed.Seconds()
	}
	seconds := -1.0
	switch {
	case last, f.Unread > 0, f.unanswered():
	case f.TotalBytes > 0 && m.rate.bytes.per > 0:
		seconds = float64(max(f.TotalBytes-f.Bytes, 0)) / m.rate.bytes.per
	case f.TotalBytes == 0 && f.TotalFiles > 0 && m.rate.file.per > 0:
		seconds = float64(max(f.TotalFiles-f.Files-f.Failed, 0)) / m.rate.file.per
	}
	if seconds >= 0 && seconds < 1e6 {
		f.left = time.Duration(seconds * float64(time.Second))
	}
	return f
}

// text formats the figures, such as "3 of 10 files, 1.2 MB of 5.0 MB (24%), 600 kB/s, 6s left, waits for the
// network, 2 retries, 1 failed, 2s".
func (f figures) text() string {
	var parts []string
	waits := f.RetryAfter > 0 && !f.last
	if waits {
		// First, as a line is cut to the terminal.
		parts = append(parts, "the platform limits requests: "+human.Duration(max(f.RetryAfter, time.Second))+" left")
	}
	switch {
	case f.TotalFiles > 0:
		parts = append(parts, human.Number(f.Files)+" of "+human.Count(f.TotalFiles, "file"))
	case f.FoundFiles > 0:
		parts = append(parts, fmt.Sprintf("%s, %s found so far", human.Count(f.Files, "file"), human.Number(f.FoundFiles)))
	case f.Files > 0:
		parts = append(parts, human.Count(f.Files, "file"))
	}
	if f.TotalBytes > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s", human.Size(f.Bytes), human.Size(f.TotalBytes)))
	} else if f.Bytes > 0 {
		parts = append(parts, human.Size(f.Bytes))
	}
	if percent, ok := f.percent(); ok {
		parts[len(parts)-1] += fmt.Sprintf(" (%d%%)", percent)
	}
	if f.Unread > 0 && !f.last {
		parts = append(parts, "the platform has yet to read "+human.Number(f.Unread))
		waits = true // nothing moves
	}
	if f.Transferred > 0 && f.rate > 0 && !waits {
		parts = append(parts, human.Size(int64(f.rate))+"/s")
	}
	if f.left >= 0 && !waits {
		parts = append(parts, human.Duration(f.left)+" left")
	}
	if f.Limiter != "" && !f.last && !waits {
		parts = append(parts, limiters[f.Limiter])
	}
	if f.Retries > 0 {
		parts = append(parts, human.Count(f.Retries, "retry"))
	}
	if f.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", f.Failed))
	}
	return strings.Join(append(parts, human.Duration(f.elapsed)), ", ")
}

// limiters describe what slows the work down.
var limiters = map[string]string{
	"disk": "waits for the disk", "cpu": "waits for the processor", "network": "waits for the network",
	"server": "waits for the platform", "limit": "held back by the bandwidth limit",
}

// unanswered reports whether all bytes have arrived while something is not done yet, for an unknown time.
func (f figures) unanswered() bool {
	return !f.last && f.TotalBytes > 0 && f.Bytes >= f.TotalBytes && f.Files+f.Failed < max(f.TotalFiles, 1)
}

func (f figures) percent() (int64, bool) {
	switch {
	case f.unanswered():
		return 99, true
	case f.TotalBytes > 0:
		return min(100, f.Bytes*100/f.TotalBytes), true
	case f.TotalFiles > 0:
		return min(100, f.Files*100/f.TotalFiles), true
	}
	return 0, false
}

// Line is a state of a display in JSON, such as a line of --log-format json.
type Line struct {
	Type  string `json:"type" jsonschema:"progress"`
	Label string `json:"label"`
	Reading
	Rate        int64    `json:"bytes_per_second"`
	Seconds     float64  `json:"seconds" jsonschema:"since the start of the display"`
	Finished    bool     `json:"finished" jsonschema:"this is the last line of the display"`
	SecondsLeft *float64 `json:"seconds_left,omitempty" jsonschema:"absent while unknown"`
	RetryAfter  float64  `json:"retry_after_seconds,omitempty" jsonschema:"wait that the platform asks for"`
	Text        string   `json:"text,omitempty" jsonschema:"as on terminals"`
}

// line returns the figures for JSON.
func (f figures) line(label string) Line {
	line := Line{Type: "progress", Label: label, Reading: f.Reading, Rate: int64(f.rate), Seconds: f.elapsed.Seconds(),
		Finished: f.last}
	if f.left >= 0 {
		line.SecondsLeft = new(f.left.Seconds())
	}
	if f.RetryAfter > 0 && !f.last {
		line.RetryAfter = f.RetryAfter.Seconds()
	}
	return line
}

func (f figures) json(label string) string {
	data, _ := json.Marshal(f.line(label)) // cannot fail: texts and finite numbers
	return string(data)
}
