package unattended

import (
	"strings"

	"transect/runtime/debug"
	"transect/runtime/unattended/history"
)

// raised is an error that nothing caught, with the functions it arose in.
type raised struct {
	text   string
	frames []history.Frame
}

// The limits of what a report has of an error: functions, bytes of a value, bytes of all.
const (
	maxFrames = 20
	maxValue  = 200
	maxLocals = 64 << 10
)

// keepFrames keeps the functions that an error arises in, with their variables.
func (r *run) keepFrames(s *debug.Stop) {
	levels, left := s.Levels(s.Task()), maxLocals
	kept := &raised{text: s.Text}
	for _, l := range levels[:min(len(levels), maxFrames)] {
		f := history.Frame{File: l.File, Line: l.Line, Function: l.Function}
		for _, v := range debug.Visible(l) {
			text := r.redact.all(s.Variable(v, maxValue))
			if left -= len(v.Name) + len(text); left < 0 {
				break
			}
			f.Locals = append(f.Locals, history.Local{Name: v.Name, Value: text})
		}
		kept.frames = append(kept.frames, f)
	}
	r.raised.Store(kept)
}

// framesOf are those of the error that the run failed with. The last one that was kept
// may be another: of a task, or of an item.
func (r *run) framesOf(f *history.Failure, message string) []history.Frame {
	kept := r.raised.Load()
	if kept == nil || len(kept.frames) == 0 {
		return nil
	}
	at := kept.frames[0]
	if at.File == f.File && at.Line == f.Line || strings.Contains(kept.text, strings.ReplaceAll(message, "\n", " ")) {
		return kept.frames
	}
	return nil
}
