package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"transect/runtime/jobs"
)

// memory is a log in memory.
type memory struct {
	batches []batch
	fails   int // the next so many batches are another's
}

func (m *memory) buffer(t testing.TB) *logBuffer {
	return newLogBuffer(context.Background(), &logBuffer{
		redact: func(line string) string { return line },
		keep: func(_ context.Context, b batch) error {
			if m.fails > 0 {
				return errTaken
			}
			if b.seq != int64(len(m.batches)+1) {
				t.Errorf("batch %d comes after %d", b.seq, len(m.batches))
			}
			m.batches = append(m.batches, b)
			return nil
		},
		drop: func(_ context.Context, from, to int64, note string) error {
			for seq := from; seq <= to; seq++ {
				m.batches[seq-1].lines = nil
			}
			m.batches[from-1].stream, m.batches[from-1].lines = jobs.StreamWorker, []byte(note)
			return nil
		},
	})
}

func (m *memory) text(stream string) string {
	var text strings.Builder
	for _, b := range m.batches {
		if stream == "" || b.stream == stream {
			text.Write(b.lines)
		}
	}
	return text.String()
}

// Lines arrive whole and in order, however they are written.
func TestLinesInOrder(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := &memory{}
		b := m.buffer(t)
		out := b.writer(jobs.StreamOut)
		var want strings.Builder
		for _, piece := range rapid.SliceOf(rapid.StringMatching(`[a-c\n]{0,9}`)).Draw(r, "pieces") {
			want.WriteString(piece)
			fmt.Fprint(out, piece)
		}
		out.flush()
		b.close()
		whole := want.String()
		if whole != "" && !strings.HasSuffix(whole, "\n") {
			whole += "\n"
		}
		if got := m.text(jobs.StreamOut); got != whole {
			r.Errorf("%q became %q", whole, got)
		}
	})
}

func TestLogIsBounded(t *testing.T) {
	t.Parallel()
	m := &memory{}
	b := m.buffer(t)
	out := b.writer(jobs.StreamOut)
	line := strings.Repeat("x", 8000)
	const lines = 3 * maxLog / 8000
	for i := range lines {
		fmt.Fprintln(out, i, line)
	}
	b.close()
	text := m.text("")
	if len(text) > maxLog+batchBytes || len(text) < maxLog/2 {
		t.Errorf("%d bytes are kept", len(text))
	}
	kept := strings.Count(m.text(jobs.StreamOut), "\n")
	if note := fmt.Sprintf("(%d lines dropped here", lines-kept); !strings.Contains(text, note) {
		t.Errorf("%s: not said", note)
	}
	if !strings.HasPrefix(text, "0 x") || !strings.HasSuffix(text, fmt.Sprintf("\n%d %s\n", lines-1, line)) {
		t.Error("the beginning or the end is missing")
	}
}

func TestLongLine(t *testing.T) {
	t.Parallel()
	m := &memory{}
	b := m.buffer(t)
	out := b.writer(jobs.StreamErr)
	for range 10 {
		fmt.Fprint(out, strings.Repeat("y", maxLine/2))
	}
	fmt.Fprintln(out)
	fmt.Fprintln(out, "next")
	b.close()
	if text := m.text(""); len(text) > maxLine+20 || !strings.HasSuffix(text, " …\nnext\n") {
		t.Errorf("%d bytes, %q", len(text), text[len(text)-20:])
	}
}

// A secret is known as one, also where a line is cut and where it comes in parts.
func TestSecretAtTheCut(t *testing.T) {
	t.Parallel()
	m := &memory{}
	b := m.buffer(t)
	b.redact = func(line string) string { return strings.ReplaceAll(line, "open-sesame", "[redacted]") }
	out := b.writer(jobs.StreamOut)
	for _, before := range []int{0, maxLine - 5, maxLine, maxLine + moreOfLine - 5} {
		fmt.Fprint(out, strings.Repeat("y", before), "open-", "sesame")
		fmt.Fprintln(out, strings.Repeat("z", 2*moreOfLine))
	}
	b.close()
	if text := m.text(""); strings.Contains(text, "open") || strings.Count(text, "y \u2026\n") != 2 {
		t.Errorf("%.40q", text)
	}
}

// Output of an attempt that is another's by now is dropped, and holds nobody up.
func TestLogOfAnother(t *testing.T) {
	t.Parallel()
	m := &memory{fails: 1}
	b := m.buffer(t)
	out := b.writer(jobs.StreamOut)
	for range 2 * maxPending / 1000 {
		fmt.Fprintln(out, strings.Repeat("z", 1000))
	}
	b.close()
	if len(m.batches) != 0 || !errors.Is(errTaken, errFenced) {
		t.Error(len(m.batches))
	}
}
