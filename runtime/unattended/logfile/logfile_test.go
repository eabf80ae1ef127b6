package logfile_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"transect/runtime/unattended/logfile"
)

// TestMain lets the test binary be one of several processes that write to one
// file.
func TestMain(m *testing.M) {
	if path := os.Getenv("LOGFILE_TEST_WRITER"); path != "" {
		f := &logfile.File{Path: path, Size: 4096, Keep: 99}
		if err := f.Open(); err != nil {
			panic(err)
		}
		for i := range 200 {
			_, _ = f.Write(fmt.Appendf(nil, "%d %03d %s\n", os.Getpid(), i, strings.Repeat("x", 60)))
		}
		if err := f.Err(); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// all are the files of a log, the oldest first.
func all(path string) (texts []string) {
	for n := 0; ; n++ {
		text, err := os.ReadFile(logfile.Rotated(path, n))
		if err != nil && n > 0 {
			slices.Reverse(texts)
			return texts
		}
		texts = append(texts, string(text))
	}
}

// However much is written in what pieces: no file but one line grows beyond
// its size, as many are kept as asked for, and together they are the end of
// what was written.
func TestRotation(t *testing.T) {
	root := t.TempDir()
	count := 0
	rapid.Check(t, func(t *rapid.T) {
		count++
		path := filepath.Join(root, fmt.Sprint(count, ".log"))
		f := &logfile.File{Path: path, Size: rapid.Int64Range(1, 100).Draw(t, "size"), Keep: rapid.IntRange(0, 3).Draw(t, "keep"), Exclusive: rapid.Bool().Draw(t, "lone")}
		if err := f.Open(); err != nil {
			t.Fatal(err)
		}
		written := ""
		for i := range rapid.IntRange(0, 40).Draw(t, "lines") {
			if rapid.IntRange(0, 9).Draw(t, "restart") == 0 {
				_ = f.Close()
				if err := f.Open(); err != nil {
					t.Fatal(err)
				}
			}
			line := fmt.Sprintf("%d%s\n", i, strings.Repeat("x", rapid.IntRange(0, 120).Draw(t, "length")))
			written += line
			if _, err := f.Write([]byte(line)); err != nil || f.Err() != nil {
				t.Fatal(err, f.Err())
			}
		}
		_ = f.Close()
		texts := all(path)
		if len(texts) > f.Keep+1 {
			t.Fatalf("%d files, %d were to be kept", len(texts)-1, f.Keep)
		}
		for _, text := range texts {
			if int64(len(text)) > f.Size && strings.Count(text, "\n") > 1 {
				t.Fatalf("a file of %d bytes, the most is %d", len(text), f.Size)
			}
		}
		kept := strings.Join(texts, "")
		if !strings.HasSuffix(written, kept) || kept != "" && kept != written && !strings.HasSuffix(strings.TrimSuffix(written, kept), "\n") {
			t.Fatalf("kept %q of %q", kept, written)
		}
		if written != "" && (kept == "" || len(texts) < f.Keep+1 && kept != written) {
			t.Fatalf("lost lines though there was room: kept %d of %d bytes in %d files", len(kept), len(written), len(texts))
		}
	})
}

// Processes that write to one file at once lose no line and tear none.
func TestSeveralProcessesRotate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shared.log")
	var writers []*exec.Cmd
	for range 4 {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), "LOGFILE_TEST_WRITER="+path)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		writers = append(writers, cmd)
	}
	for _, w := range writers {
		if err := w.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	next := map[string]int{}
	lines := strings.Split(strings.TrimSuffix(strings.Join(all(path), ""), "\n"), "\n")
	seen := map[string]bool{}
	for _, line := range lines {
		var pid string
		var i int
		var xs string
		if n, _ := fmt.Sscanf(line, "%s %d %s", &pid, &i, &xs); n != 3 || len(xs) != 60 || seen[line] {
			t.Fatalf("a torn or repeated line: %q", line)
		}
		seen[line] = true
		next[pid]++
	}
	if len(lines) != 800 || len(next) != 4 {
		t.Errorf("%d lines of 800, of %d processes", len(lines), len(next))
	}
	if n := len(all(path)); n < 5 {
		t.Errorf("it was not set aside: %d files", n)
	}
}

// A log that cannot be written stops, tells why, and stops nobody.
func TestLogThatCannotBeWritten(t *testing.T) {
	f := &logfile.File{Path: filepath.Join(t.TempDir(), "nowhere", "x.log"), Size: 100, Keep: 1}
	if err := f.Open(); err == nil {
		t.Error("it was opened")
	}
	if n, err := f.Write([]byte("line\n")); n != 5 || err != nil || f.Err() == nil {
		t.Errorf("%d, %v, %v", n, err, f.Err())
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// Lines of several streams are never mixed, whatever the pieces they come in,
// and secrets are taken out also where they stood in two pieces.
func TestLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var stamped, plain bytes.Buffer
		now := time.Date(2026, 7, 1, 6, 0, 0, 0, time.UTC)
		lines := &logfile.Lines{Now: func() time.Time { return now }, Clean: func(s string) string { return strings.ReplaceAll(s, "hunter2", "…") }}
		lines.Stamped, lines.Plain = append(lines.Stamped, &stamped), append(lines.Plain, &plain)
		a, b := lines.Stream(), lines.Stream()
		wantA, wantB := "", ""
		piece := rapid.StringOfN(rapid.SampledFrom([]rune("xy\n")), 0, 6, -1)
		for range rapid.IntRange(0, 20).Draw(t, "pieces") {
			p := piece.Draw(t, "piece")
			wantA += p
			_, _ = a.Write([]byte(p))
			p = strings.ToUpper(piece.Draw(t, "piece"))
			wantB += p
			_, _ = b.Write([]byte(p))
		}
		for _, p := range []string{"hun", "ter2 is out\n"} {
			wantA += p
			_, _ = a.Write([]byte(p))
		}
		lines.Flush()
		gotA, gotB := "", ""
		for line := range strings.Lines(plain.String()) {
			if text := strings.TrimSuffix(line, "\n"); text != strings.ToUpper(text) || text == "" {
				gotA += text
			} else {
				gotB += text
			}
		}
		clean := strings.ReplaceAll(strings.ReplaceAll(wantA, "hunter2", "…"), "\n", "")
		if gotA != clean || gotB != strings.ReplaceAll(wantB, "\n", "") {
			t.Fatalf("%q became %q, %q became %q", wantA, gotA, wantB, gotB)
		}
		if strings.ReplaceAll(stamped.String(), "2026-07-01T06:00:00.000Z ", "") != plain.String() {
			t.Fatalf("stamped: %q", stamped.String())
		}
	})
}

// One line of any length costs a log no more than maxLine: what came before it
// is still there.
func TestLongLine(t *testing.T) {
	var plain bytes.Buffer
	lines := &logfile.Lines{Now: time.Now}
	lines.Plain = append(lines.Plain, &plain)
	s := lines.Stream()
	fmt.Fprintln(s, "before")
	_, _ = s.Write(bytes.Repeat([]byte("x"), 1<<20))
	for range 100 {
		_, _ = s.Write(bytes.Repeat([]byte("y"), 4096))
	}
	fmt.Fprint(s, "\nafter")
	lines.Flush()
	got := strings.Split(plain.String(), "\n")
	if len(got) != 4 || got[0] != "before" || got[2] != "after" || len(got[1]) > 70_000 || !strings.HasSuffix(got[1], "xxx… (1392640 more bytes of this line)") {
		t.Errorf("%d bytes in %d lines: %.20q … %.40q", plain.Len(), len(got), got[0], got[1][max(0, len(got[1])-60):])
	}
}

// A log that opens late gets what came before, in order.
func TestDeferred(t *testing.T) {
	late := &logfile.Deferred{}
	fmt.Fprint(late, "1 ")
	fmt.Fprint(late, "2 ")
	var to bytes.Buffer
	late.Open(&to)
	fmt.Fprint(late, "3")
	if to.String() != "1 2 3" {
		t.Errorf("%q", to.String())
	}
}

func TestBufferAndTail(t *testing.T) {
	h := &logfile.Buffer{Max: 20}
	out, errs := h.Stream(0), h.Stream(1)
	fmt.Fprint(out, "first line, too long\n")
	fmt.Fprint(errs, "second\n")
	fmt.Fprint(out, "third\n")
	var o, e bytes.Buffer
	h.Release(&o, &e)
	if o.String() != "third\n" || e.String() != "(21 bytes of earlier output were dropped)\nsecond\n" {
		t.Errorf("%q, %q", o.String(), e.String())
	}
	tail := &logfile.Tail{Lines: 2, Bytes: 10}
	for _, line := range []string{"one\n", "two\n", "three\n", "äöü\n"} {
		_, _ = tail.Write([]byte(line))
	}
	if tail.String() != "äöü\n" { // three and it are more than 10 bytes
		t.Errorf("%q", tail.String())
	}
	_, _ = tail.Write([]byte("a line far too long to be kept whole\n"))
	if got := tail.String(); got != "ept whole\n" {
		t.Errorf("%q", got)
	}
}
