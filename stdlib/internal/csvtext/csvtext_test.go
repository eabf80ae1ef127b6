package csvtext_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"transect/client/fault"
	"transect/stdlib/internal/csvtext"
)

// dialects are all that can be written and read again: separator and quote may
// be any two characters that no text is broken by.
func dialects() *rapid.Generator[csvtext.Dialect] {
	return rapid.Custom(func(t *rapid.T) csvtext.Dialect {
		marks := []byte(",;|:!#$&*+~^/\\' \t\x1f")
		d := csvtext.Dialect{Separator: rapid.SampledFrom(marks).Draw(t, "separator"), Quote: rapid.SampledFrom(append(marks, '"')).Draw(t, "quote"),
			CRLF: rapid.Bool().Draw(t, "crlf"), BOM: rapid.Bool().Draw(t, "bom")}
		if d.Quote == d.Separator {
			d.Quote = '"'
		}
		return d
	})
}

// What is written in any dialect is read as the same rows. A carriage return
// before the end of a line within a field is what a CSV reader takes for the
// line end it is.
func TestRowsComeBackAsTheyWent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dialects().Draw(t, "dialect")
		letters := []rune("ab\"';,| é#\n\t0\x1f" + string(rune(d.Separator)) + string(rune(d.Quote)))
		field := rapid.StringOfN(rapid.RuneFrom(letters), 0, 6, -1)
		width := rapid.IntRange(1, 4).Draw(t, "width")
		rows := rapid.SliceOfN(rapid.SliceOfN(field, width, width), 0, 6).Draw(t, "rows")
		var b strings.Builder
		w, err := csvtext.NewWriter(&b, d)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if err := w.Write(row); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		r, err := csvtext.NewReader(strings.NewReader(b.String()), d)
		if err != nil {
			t.Fatal(err)
		}
		got := [][]string{}
		for {
			row, err := r.Read()
			if err != nil {
				t.Fatalf("%q: %v", b.String(), err)
			}
			if row == nil {
				break
			}
			got = append(got, slices.Clone(row))
		}
		if diff := cmp.Diff(append([][]string{}, rows...), got); diff != "" {
			t.Fatalf("%q: %s", b.String(), diff)
		}
	})
}

func TestWhatIsWrongHasItsPlace(t *testing.T) {
	comma := csvtext.Dialect{Separator: ',', Quote: '"'}
	for _, c := range []struct {
		text, want string
		dialect    csvtext.Dialect
	}{
		{"a,b\n1\n", "line 2 has 1 field, the lines before it have 2", comma},
		{"a,b\n1,\"x\n2,3\n", "begins in line 2 is malformed", comma},
		{"a,b\n1,x\"y\n", "line 2, column 4: there is a quote inside", comma},
		{"a", "cannot be used together", csvtext.Dialect{Separator: ';', Quote: ';'}},
		{"a", "comment must differ", csvtext.Dialect{Separator: ';', Quote: '"', Comment: ';'}},
	} {
		r, err := csvtext.NewReader(strings.NewReader(c.text), c.dialect)
		for row := []string{""}; err == nil && row != nil; {
			row, err = r.Read()
		}
		if err == nil || fault.Find(err) == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.text, err, c.want)
		}
	}
}

// What is written in an encoding comes back from it, and a mark at the start
// wins over what is expected.
func TestEncodings(t *testing.T) {
	read := func(text, encoding string) string {
		r, err := csvtext.NewReader(strings.NewReader(text), csvtext.Dialect{Separator: ';', Quote: '"', Encoding: encoding})
		if err != nil {
			t.Fatal(err)
		}
		row, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(row, "|")
	}
	for _, c := range []struct{ text, encoding, want string }{
		{"\xef\xbb\xbfa;\xc3\xa4", "", "a|ä"},
		{"\xff\xfea\x00;\x00\xe4\x00", "", "a|ä"},
		{"\xfe\xff\x00a\x00;\x00\xe4", "", "a|ä"},
		{"a\x00;\x00\xe4\x00", "utf-16", "a|ä"},
		{"a;\xe4\x80", "windows-1252", "a|ä€"},
		{"a;\xe4", "latin1", "a|ä"},
		{"\xef\xbb\xbfa;\xc3\xa4", "windows-1252", "a|ä"},
		{"\xff\xfea\x00;\x00\xac\x20", "latin1", "a|€"},
	} {
		if got := read(c.text, c.encoding); got != c.want {
			t.Errorf("%q as %q: %q, want %q", c.text, c.encoding, got, c.want)
		}
	}
	for _, encoding := range csvtext.Encodings {
		var b strings.Builder
		w, err := csvtext.NewWriter(&b, csvtext.Dialect{Separator: ';', Quote: '"', Encoding: encoding})
		if err != nil {
			t.Fatal(err)
		}
		long := strings.Repeat("ä", 100_000) // beyond any buffer
		if err := w.Write([]string{long, "ü\"x\""}); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if got := read(b.String(), encoding); got != long+`|ü"x"` {
			t.Errorf("%s: came back as %d bytes", encoding, len(got))
		}
	}
	w, err := csvtext.NewWriter(new(strings.Builder), csvtext.Dialect{Separator: ';', Quote: '"', Encoding: "latin1"})
	if err == nil {
		err = w.Write([]string{"10 €"})
	}
	if err == nil {
		err = w.Flush()
	}
	if f := fault.Find(err); f == nil || f.Name() != "ValueError" || f.Facts().Hint == "" {
		t.Errorf("a euro in latin1: %v", err)
	}
}
