package mesh

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"transect/client/formats/source"
)

func memory(name, text string) File {
	return File{Name: name, Data: strings.NewReader(text), Size: int64(len(text))}
}

const square = "v 0 0 0\nv 2 0 1\nv 2 2 1\nv 0 2 0\n"

// binaryPLY returns a square of two triangles.
func binaryPLY(order binary.ByteOrder, name string) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "ply\nformat %s 1.0\ncomment made here\nelement vertex 4\nproperty double x\nproperty double y\nproperty float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n", name)
	for _, p := range [][3]float64{{5e5, 5e6, 0}, {5e5 + 2, 5e6, 1}, {5e5 + 2, 5e6 + 2, 1}, {5e5, 5e6 + 2, 0}} {
		b.Write(order.(binary.AppendByteOrder).AppendUint64(nil, math.Float64bits(p[0])))
		b.Write(order.(binary.AppendByteOrder).AppendUint64(nil, math.Float64bits(p[1])))
		b.Write(order.(binary.AppendByteOrder).AppendUint32(nil, math.Float32bits(float32(p[2]))))
		b.Write([]byte{255, 128, 0})
	}
	b.WriteByte(4)
	for i := range uint32(4) {
		b.Write(order.(binary.AppendByteOrder).AppendUint32(nil, i))
	}
	return b.String()
}

func binarySTL() string {
	b := make([]byte, 84+50)
	b[80] = 1
	for i, v := range []float32{0, 0, 0, 2, 0, 1, 2, 2, 1} {
		binary.LittleEndian.PutUint32(b[84+12+4*i:], math.Float32bits(v))
	}
	return string(b)
}

func TestFormats(t *testing.T) {
	library := memory("m.mtl", "newmtl a\nKd 1 0 0\nmap_Kd -s 1 1 1 textures\\a.png\nnewmtl b\nKd 0 0 1\n")
	texture := memory("a.png", "not looked at")
	for _, c := range []struct {
		file                File
		format              string
		vertices, triangles int64
		coloured            bool
	}{
		{memory("a.obj", square+"f 1 2 3 4\n"), "obj", 4, 2, false},
		{memory("a.obj", "mtllib sub/m.mtl\nusemtl b\n"+square+"vt 0 0\nf 1/1/1 2/1 -2//\n"), "obj", 4, 1, true},
		{memory("a.OBJ", "mtllib m.mtl\nusemtl a\n"+square+"vt 0 0\nf 1/1 2/1 3/1\n"), "obj", 4, 1, true},
		{memory("a.obj", "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 1 1 0 0 0 1\nf 1 2 3"), "obj", 3, 1, true},
		{memory("a.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement face 1\nproperty list uchar int vertex_index\nend_header\n0 0 0\n1 0 0\n1 1 0\n3 0 1 2\n"), "ply", 3, 1, false},
		{memory("a.ply", binaryPLY(binary.LittleEndian, "binary_little_endian")), "ply", 4, 2, true},
		{memory("a.ply", binaryPLY(binary.BigEndian, "binary_big_endian")), "ply", 4, 2, true},
		{memory("a.stl", binarySTL()), "stl", 3, 1, false},
		{memory("a.stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 0\nendloop\nendfacet\nendsolid\n"), "stl", 3, 1, false},
	} {
		m, err := Open(context.Background(), c.file, library, texture)
		if err != nil {
			t.Errorf("%s: %v", c.file.Name, err)
			continue
		}
		if m.Format != c.format || m.Vertices != c.vertices || m.Triangles != c.triangles || m.Coloured != c.coloured {
			t.Errorf("%s: %+v", c.file.Name, m)
		}
		m.Each(context.Background(), func(triangle Triangle) error {
			for _, p := range triangle.Corners {
				for i, v := range p {
					if v < m.Low[i] || v > m.High[i] {
						t.Errorf("%s: %v is outside %v %v", c.file.Name, p, m.Low, m.High)
					}
				}
			}
			return nil
		})
	}
}

func TestTexturesAreFound(t *testing.T) {
	m, err := Open(context.Background(), memory("a.obj", "mtllib m.mtl\nusemtl a\n"+square+"vt 0.25 0.5\nf 1/1 2/1 3/1\nf 1 2 3\n"),
		memory("m.mtl", "newmtl a\nmap_Kd A.PNG\n"), memory("a.png", ""))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	m.Each(context.Background(), func(t Triangle) error { got = append(got, fmt.Sprint(t.Texture, t.Position[0])); return nil })
	if want := "[a.png[0.25 0.5] [0 0]]"; fmt.Sprint(got) != want {
		t.Error(got, want)
	}
}

func TestSpot(t *testing.T) {
	b, err := os.ReadFile("../../../../shared/data/mesh/spot/spot.obj")
	if err != nil {
		t.Skip("the shared data are not here: ", err)
	}
	m, err := Open(context.Background(), memory(filepath.Base("spot.obj"), string(b)))
	if err != nil || m.Vertices != 2930 || m.Triangles != 5856 {
		t.Error(m, err)
	}
}

func TestDamagedMeshes(t *testing.T) {
	ply := binaryPLY(binary.LittleEndian, "binary_little_endian")
	for _, c := range []struct{ name, text, want string }{
		{"a.txt", "v 1 2 3", source.ErrOther.Error()},
		{"a.obj", "# nothing", "it has no vertices"},
		{"a.obj", "v 1 2", "line 1: a vertex has three numbers"},
		{"a.obj", "v 1 2 x", `line 1: "x" is not a number`},
		{"a.obj", "v 1 2 nan", "line 1: a vertex has no position"},
		{"a.obj", square + "f 1 2 5", "line 5: a face has a vertex that is not there"},
		{"a.obj", square + "f 1 2 -5", "line 5: a face has a vertex that is not there"},
		{"a.obj", square + "f 1 2 a", `line 5: "a" is not the number of a vertex`},
		{"a.obj", "v " + strings.Repeat("1", 2<<20), "longer than 1 MiB"},
		{"a.ply", ply[:len(ply)-1], "it is cut short"},
		{"a.ply", ply[:100], "it is cut short"},
		{"a.ply", strings.Replace(ply, "element vertex 4", "element vertex -4", 1), "its header is damaged"},
		{"a.ply", strings.Replace(ply, "element vertex 4", "element vertex 99999999999", 1), ""},
		{"a.ply", strings.Replace(ply, "list uchar int", "list int int", 1), "it is cut short"},
		{"a.ply", strings.Replace(ply, "binary_little_endian", "binary_mixed_endian", 1), "is not known"},
		{"a.stl", "solid\nvertex 1 2", "a vertex has three numbers"},
	} {
		m, err := Open(context.Background(), memory(c.name, c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, %v, want %s", c.text, m, err, c.want)
		}
	}
	if _, err := Open(context.Background(), memory("a", "x")); !errors.Is(err, source.ErrOther) {
		t.Error(err)
	}
}

func FuzzMesh(f *testing.F) {
	f.Add("a.obj", []byte(square+"vt 0 0\nf 1/1 2/1 -2//\n"))
	f.Add("a.ply", []byte(binaryPLY(binary.LittleEndian, "binary_little_endian")))
	f.Add("a.stl", []byte(binarySTL()))
	f.Fuzz(func(t *testing.T, name string, b []byte) {
		Open(context.Background(), memory(name, string(b)))
	})
}
