// Package source defines the input of the format readers: random access and sequential reading that end
// with their context.
package source

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// File is a file to read: the main one, or an accompanying one, e.g. the projection of a shapefile, the
// material and texture of a mesh.
type File struct {
	Name string // without folder
	Data io.ReaderAt
	Size int64
}

// Head returns the first n bytes of the file, or fewer.
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

// Reader reads a part of a file, and fails after the end of its context.
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

// ErrOther means that the reader does not support the kind of file.
var ErrOther = errors.New("files of this kind are not supported")

// ErrTruncated means that the end of a file is missing.
var ErrTruncated = errors.New("it is cut short")

// Cut replaces an unexpected end of a file by ErrTruncated.
func Cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrTruncated
	}
	return err
}

// MaxLine is the longest line of a text format.
const MaxLine = 1 << 20

// Lines reads a text by lines of at most MaxLine.
func Lines(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 64<<10), MaxLine)
	return s
}

// Scanned returns the error that ended reading lines or words, nil at the end of the text.
func Scanned(s *bufio.Scanner) error {
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return errors.New("it has a line that is longer than 1 MiB")
	}
	return s.Err()
}

// MaxValue is the longest value of a text: a feature of GeoJSON, the text of an element of XML. Reading
// it needs several times as much memory.
const MaxValue = 32 << 20

// Bounded reads a text and refuses values longer than MaxValue.
type Bounded struct {
	Err error // set for a value that is too long

	r     io.Reader
	n     int64
	taken func() int64 // length of the text already consumed as values
}

// JSON returns a decoder of JSON text with bounded values.
func JSON(r io.Reader) (*jsontext.Decoder, *Bounded) {
	b := &Bounded{r: r}
	d := jsontext.NewDecoder(b, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	b.taken = d.InputOffset
	return d, b
}

// NewBounded bounds a text; taken returns how much of it was consumed as values.
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
