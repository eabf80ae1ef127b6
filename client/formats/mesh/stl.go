package mesh

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"

	"transect/client/formats/source"
)

// readSTL reads binary STL: triangles without colours.
func readSTL(r io.Reader, s sink) error {
	in := buffered(r)
	var b [84]byte
	if _, err := io.ReadFull(in, b[:]); err != nil {
		return source.Cut(err)
	}
	for n := binary.LittleEndian.Uint32(b[80:]); n > 0; n-- {
		if _, err := io.ReadFull(in, b[:50]); err != nil {
			return source.Cut(err)
		}
		var t Triangle
		for i := range 9 {
			t.Corners[i/3][i%3] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[12+4*i:])))
		}
		if err := t.send(s); err != nil {
			return err
		}
	}
	return nil
}

// readTextSTL reads STL as text.
func readTextSTL(r io.Reader, s sink) error {
	in := source.Lines(r)
	var t Triangle
	for i := 0; in.Scan(); {
		rest, found := strings.CutPrefix(strings.TrimSpace(in.Text()), "vertex")
		if !found {
			continue
		}
		if n, err := numbers(rest, t.Corners[i][:]); err != nil || n < 3 {
			return errors.Join(err, errors.New("a vertex has three numbers"))
		}
		if i = (i + 1) % 3; i == 0 {
			if err := t.send(s); err != nil {
				return err
			}
		}
	}
	return source.Scanned(in)
}

func (t Triangle) send(s sink) error {
	return errors.Join(s.vertex(t.Corners[0]), s.vertex(t.Corners[1]), s.vertex(t.Corners[2]), s.triangle(t))
}
