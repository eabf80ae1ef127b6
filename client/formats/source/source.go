// Package source is the file that the readers of formats read from: random access,
// and sequential reading, that end with their context.
package source

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// File is a file to read: the main one, or one beside it, such as the projection of
// a shapefile, the material and texture of a mesh.
type File struct {
	Name string // without folder
	Data io.ReaderAt
	Size int64
}

// Head returns the first bytes of the file, n at most.
func (f File) Head(n int64) ([]byte, error) {
	head := make([]byte, max(0, min(f.Size, n)))
	read, err := f.Data.ReadAt(head, 0)
	if err == io.EOF && read > 0 || len(head) == 0 {
		err = nil
	}
	return head[:read], err
}

// Reader reads the file from its start, until ctx ends.
func (f File) Reader(ctx context.Context) Reader {
	return Reader{ctx, io.NewSectionReader(f.Data, 0, f.Size)}
}

// Reader reads a part of a file, and fails once its context has ended.
type Reader struct {
	ctx  context.Context
	part *io.SectionReader
}

// Within reads a part of a file until ctx ends.
func Within(ctx context.Context, part *io.SectionReader) Reader { return Reader{ctx, part} }

func (r Reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.part.Read(p)
}

// ReadAt implements io.ReaderAt.
func (r Reader) ReadAt(p []byte, at int64) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.part.ReadAt(p, at)
}

// Seek implements io.Seeker.
func (r Reader) Seek(offset int64, whence int) (int64, error) { return r.part.Seek(offset, whence) }

// ErrOther means that a file is of a kind that its reader does not know.
var ErrOther = errors.New("files of this kind have none")

// ErrTruncated means that the end of a file is missing.
var ErrTruncated = errors.New("it is cut short")

// Cut makes the end of a file, where more should follow, ErrTruncated.
func Cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrTruncated
	}
	return err
}

// MaxLine is how long a line of a text format may be.
const MaxLine = 1 << 20

// Lines reads a text by lines of MaxLine at most.
func Lines(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 64<<10), MaxLine)
	return s
}

// Scanned is the error that ended the reading of lines or words, nil at the end of the text.
func Scanned(s *bufio.Scanner) error {
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return errors.New("it has a line that is longer than 1 MiB")
	}
	return s.Err()
}

// MaxValue is how long one value of a text may be: a feature of GeoJSON, the text of an
// element of XML. Reading it takes several times as much memory.
const MaxValue = 32 << 20

// Bounded reads a text and refuses a value that is longer than MaxValue.
type Bounded struct {
	Err error // that it is too long

	r     io.Reader
	n     int64
	taken func() int64 // how much of the text was taken as values
}

// JSON decodes a text of JSON, whose values are bounded.
func JSON(r io.Reader) (*jsontext.Decoder, *Bounded) {
	b := &Bounded{r: r}
	d := jsontext.NewDecoder(b, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	b.taken = d.InputOffset
	return d, b
}

// NewBounded reads a text of which taken tells how much was taken as values.
func NewBounded(r io.Reader, taken func() int64) *Bounded { return &Bounded{r: r, taken: taken} }

func (b *Bounded) Read(p []byte) (int, error) {
	left := MaxValue + 1 - (b.n - b.taken())
	if left <= 0 {
		b.Err = fmt.Errorf("it has a value that is longer than %d MiB", MaxValue>>20)
		return 0, b.Err
	}
	n, err := b.r.Read(p[:min(int64(len(p)), left)])
	b.n += int64(n)
	return n, err
}
