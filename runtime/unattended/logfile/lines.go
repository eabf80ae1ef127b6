package logfile

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
)

// Stamp is the layout of the time before each line.
const Stamp = "2006-01-02T15:04:05.000Z07:00"

// maxLine limits the length of a line, in bytes: printing one large value must not displace all other lines
// of a log.
const maxLine = 64 << 10

// Lines splits output into lines and writes each to all of its destinations. Each source has its own Stream,
// so that partial lines of several sources do not mix.
type Lines struct {
	Now     func() time.Time
	Clean   func(line string) string // removes secrets; optional
	Stamped []io.Writer              // receive each line with its time
	Plain   []io.Writer              // receive each line unchanged

	mu      sync.Mutex
	streams []*Stream
}

// Stream is one source of lines.
type Stream struct {
	lines   *Lines
	partial []byte // of a line that has not ended, at most maxLine
	dropped int    // bytes of that line beyond maxLine
}

// Stream returns a new source.
func (l *Lines) Stream() *Stream {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &Stream{lines: l}
	l.streams = append(l.streams, s)
	return s
}

// Write adds a piece of text.
func (s *Stream) Write(p []byte) (int, error) {
	s.lines.mu.Lock()
	defer s.lines.mu.Unlock()
	rest := p
	for {
		line, after, ended := bytes.Cut(rest, []byte{'\n'})
		kept := min(len(line), maxLine-len(s.partial))
		s.partial = append(s.partial, line[:kept]...)
		s.dropped += len(line) - kept
		if !ended {
			break
		}
		s.flush()
		rest = after
	}
	return len(p), nil
}

func (s *Stream) flush() {
	if s.dropped > 0 {
		s.partial = fmt.Appendf(s.partial, "… (%d more bytes of this line)", s.dropped)
	}
	s.lines.write(s.partial)
	s.partial, s.dropped = s.partial[:0], 0
}

// Flush writes the partial lines.
func (l *Lines) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.streams {
		if len(s.partial) > 0 {
			s.flush()
		}
	}
}

func (l *Lines) write(text []byte) {
	line := string(bytes.TrimSuffix(text, []byte{'\r'}))
	if l.Clean != nil {
		line = l.Clean(line)
	}
	plain := []byte(line + "\n")
	for _, w := range l.Plain {
		_, _ = w.Write(plain) // destinations keep their own errors
	}
	stamped := append(l.Now().AppendFormat(make([]byte, 0, len(Stamp)+len(plain)+8), Stamp), ' ')
	stamped = append(stamped, plain...)
	for _, w := range l.Stamped {
		_, _ = w.Write(stamped)
	}
}

// LastLines returns the last n lines of a text.
func LastLines(text []byte, n int) []byte {
	at := len(bytes.TrimSuffix(text, []byte("\n")))
	for ; n > 0 && at >= 0; n-- {
		at = bytes.LastIndexByte(text[:at], '\n')
	}
	return text[at+1:]
}
