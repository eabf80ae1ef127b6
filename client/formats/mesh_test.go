package formats

import (
	"bytes"
	"image/color"
	"testing"
)

func TestSharedMesh(t *testing.T) {
	var beside []File
	for _, name := range []string{"spot.mtl", "spot_texture.png"} {
		b := sample(t, "mesh/spot/"+name)
		beside = append(beside, File{Name: name, Data: bytes.NewReader(b), Size: int64(len(b))})
	}
	m, err := show(t, "spot.obj", sample(t, "mesh/spot/spot.obj"), 300, beside...)
	if err != nil {
		t.Fatal(err)
	}
	if b := m.Bounds(); b.Dy() != 300 || b.Dx() < 160 || b.Dx() > 175 {
		t.Error(b)
	}
	// A white back, brown horns.
	back, horn := m.At(84, 130).(color.NRGBA), m.At(54, 12).(color.NRGBA)
	if back.A == 0 || back.B < 180 || horn.R < horn.B+60 {
		t.Error(back, horn)
	}
}

// The higher of two triangles is seen, whatever their order.
func TestTheUpperSideIsSeen(t *testing.T) {
	lower, upper := "f 1 2 3\n", "f 4 5 6\n"
	for _, faces := range []string{lower + upper, upper + lower} {
		m, err := show(t, "a.obj", []byte("v 0 0 0 1 0 0\nv 9 0 0 1 0 0\nv 9 9 0 1 0 0\nv 0 0 5 0 0 1\nv 9 0 5 0 0 1\nv 9 9 5 0 0 1\n"+faces), 50)
		if err != nil {
			t.Fatal(err)
		}
		if c := m.At(40, 40).(color.NRGBA); c.B < 200 || c.R > 20 {
			t.Error(faces, c)
		}
		if c := m.At(5, 5).(color.NRGBA); c.A != 0 {
			t.Error("outside the triangles is", c)
		}
	}
}
