package flightgen

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"math/rand/v2"
)

// drawJPEG draws a field of crop rows with bare patches, seen from above;
// index moves the patches, so that no two photos are the same.
func drawJPEG(index, width, height int) ([]byte, error) {
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	random := rand.New(rand.NewPCG(uint64(index), 1))
	type patch struct{ x, y, radius int }
	patches := make([]patch, 5)
	for i := range patches {
		patches[i] = patch{random.IntN(width), random.IntN(height), 1 + random.IntN(max(min(width, height)/6, 1))}
	}
	row := max(width/20, 2)
	for y := range height {
		for x := range width {
			c := color.RGBA{60, 120, 40, 255} // crop
			if (x+index)%row < row/3 {
				c = color.RGBA{120, 90, 60, 255} // soil between the rows
			}
			for _, p := range patches {
				if dx, dy := x-p.x, y-p.y; dx*dx+dy*dy < p.radius*p.radius {
					c = color.RGBA{150, 115, 80, 255}
				}
			}
			picture.SetRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	err := jpeg.Encode(&b, picture, &jpeg.Options{Quality: 60})
	return b.Bytes(), err
}

// segment frames the body of a JPEG segment.
func segment(marker byte, body []byte) []byte {
	length := len(body) + 2
	return append([]byte{0xFF, marker, byte(length >> 8), byte(length)}, body...)
}

// fill writes exactly size bytes of comment segments, of noise so that they do
// not compress.
func fill(w io.Writer, size int64, seed uint64) error {
	const header, longest = 4, 4 + 65533
	if size != 0 && size < header {
		return fmt.Errorf("the file size asked for is %d bytes too small", header-size)
	}
	noise := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24)})
	for size > 0 {
		n := min(size, longest)
		if rest := size - n; rest > 0 && rest < header {
			n -= header // leave room for a last segment
		}
		body := make([]byte, n-header)
		noise.Read(body)
		if _, err := w.Write(segment(0xFE, body)); err != nil {
			return err
		}
		size -= n
	}
	return nil
}
