package csvtext

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"transect/client/fault"
)

// UTF8 is how texts are written unless something else is said.
const UTF8 = "utf-8"

// Encodings are the ways texts may be written.
var Encodings = []string{UTF8, "utf-16", "latin1", "windows-1252"}

// encodingOf finds the tables of an encoding, nil for UTF-8. UTF-16 is told
// apart by its mark, and written with one.
func encodingOf(name string) encoding.Encoding {
	switch name {
	case "utf-16":
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case "latin1":
		return charmap.ISO8859_1
	case "windows-1252":
		return charmap.Windows1252
	}
	return nil
}

// decoded reads a text as UTF-8. A mark at its start says how it is written,
// whatever was expected.
func decoded(r io.Reader, name string) *bufio.Reader {
	in := bufio.NewReaderSize(r, 64<<10)
	switch start, _ := in.Peek(3); {
	case bytes.Equal(start, []byte("\xef\xbb\xbf")):
		_, _ = in.Discard(3) // is there
		return in
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")):
		name = "utf-16"
	}
	if e := encodingOf(name); e != nil {
		return bufio.NewReaderSize(transform.NewReader(in, e.NewDecoder()), 64<<10)
	}
	return in
}

// encoded writes UTF-8 as another encoding.
func encoded(w io.Writer, name string) io.Writer {
	if e := encodingOf(name); e != nil {
		return transform.NewWriter(w, e.NewEncoder())
	}
	return w
}

// unwritable explains a character that an encoding does not have.
func unwritable(err error, name string) error {
	var none interface{ Replacement() byte } // what errors of the package have that say so
	if !errors.As(err, &none) {
		return err
	}
	return fault.Hinted(fault.Of(&fault.ValueError{}, "a character cannot be written in %s", name), "leave encoding out, for UTF-8, which has them all")
}
