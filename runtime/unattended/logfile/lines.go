package logfile

import (
	"bytes"
	"io"
	"sync"
	"time"
)

// Stamp is the form of the time before each line.
const Stamp = "2006-01-02T15:04:05.000Z07:00"

// longestLine is how much of a line without end is kept before it is cut.
const longestLine = 64 << 10

// Lines cuts what is written into lines and hands each to all of its
// consumers. Several streams share it, each through a Stream of its own, so
// that half lines of one never mix with another's.
type Lines struct {
	Now    func() time.Time
	Clean  func(line string) string // takes secrets out; optional
	Stamps []io.Writer              // get each line with its time
	Plain  []io.Writer              // get each line as it is

	mu      sync.Mutex
	streams []*Stream
}

// Stream is one source of lines.
type Stream struct {
	lines *Lines
	rest  []byte // of a line that has not ended
}

// Stream makes a source.
func (l *Lines) Stream() *Stream {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &Stream{lines: l}
	l.streams = append(l.streams, s)
	return s
}

// Write takes a piece of text.
func (s *Stream) Write(p []byte) (int, error) {
	l := s.lines
	l.mu.Lock()
	defer l.mu.Unlock()
	for rest := p; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			s.rest = append(s.rest, rest...)
			if len(s.rest) > longestLine {
				s.flush()
			}
			break
		}
		if len(s.rest) > 0 {
			s.rest = append(s.rest, rest[:end]...)
			s.flush()
		} else {
			l.line(rest[:end])
		}
		rest = rest[end+1:]
	}
	return len(p), nil
}

func (s *Stream) flush() {
	s.lines.line(s.rest)
	s.rest = s.rest[:0]
}

// Flush hands on lines that have not ended.
func (l *Lines) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.streams {
		if len(s.rest) > 0 {
			s.flush()
		}
	}
}

func (l *Lines) line(text []byte) {
	line := string(bytes.TrimSuffix(text, []byte{'\r'}))
	if l.Clean != nil {
		line = l.Clean(line)
	}
	plain := []byte(line + "\n")
	for _, w := range l.Plain {
		_, _ = w.Write(plain) // consumers keep their own errors
	}
	stamped := append(l.Now().AppendFormat(make([]byte, 0, len(Stamp)+len(plain)+8), Stamp), ' ')
	stamped = append(stamped, plain...)
	for _, w := range l.Stamps {
		_, _ = w.Write(stamped)
	}
}
