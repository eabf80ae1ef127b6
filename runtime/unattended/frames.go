package unattended

import (
	"strings"

	"transect/runtime/debug"
	"transect/runtime/unattended/history"
)

// raised is an uncaught error, with the functions it was raised in.
type raised struct {
	text   string
	frames []history.Frame
}

// Limits of an error in a report: functions, bytes per value, total bytes.
const (
	maxFrames = 20
	maxValue  = 200
	maxLocals = 64 << 10
)

// keepFrames stores the functions that an error was raised in, with their variables.
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

// framesOf returns the functions of the error that the run failed with. The last stored one may be another
// error: of a task, or of an item.
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
