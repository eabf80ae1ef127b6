package mesh

import (
	"context"
	"errors"
	"fmt"
	"image/color"
	"path"
	"strconv"
	"strings"

	"transect/client/formats/source"
)

// material is the appearance of a face.
type material struct {
	colour  color.NRGBA
	texture string
}

// readOBJ reads the faces of a Wavefront OBJ file with their materials.
func readOBJ(ctx context.Context, f File, beside []File, s sink) error {
	var (
		all       vertices
		inTexture [][2]float32
		materials = map[string]material{}
		current   material
		face      []corner
	)
	in := source.Lines(f.Reader(ctx))
	for n := 1; in.Scan(); n++ {
		word, rest, _ := strings.Cut(strings.TrimSpace(in.Text()), " ")
		var err error
		switch word {
		case "v":
			var p [6]float64
			var given int
			if given, err = numbers(rest, p[:]); given < 3 && err == nil {
				err = errors.New("a vertex has three numbers")
			}
			if err == nil {
				err = errors.Join(all.add([3]float64(p[:3])), s.vertex([3]float64(p[:3])))
			}
			if given == 6 && err == nil {
				all.addColour(color.NRGBA{part(p[3]), part(p[4]), part(p[5]), 255})
			}
		case "vt":
			var p [3]float64
			if _, err = numbers(rest, p[:]); len(inTexture) == maxVertices {
				err = errMany
			}
			inTexture = append(inTexture, [2]float32{float32(p[0]), float32(p[1])})
		case "f":
			if face, err = corners(face[:0], rest, len(all.offsets), len(inTexture)); err == nil {
				err = fan(face, &all, inTexture, current, s.triangle)
			}
		case "usemtl":
			current = materials[strings.TrimSpace(rest)]
		case "mtllib":
			err = readMaterials(ctx, strings.TrimSpace(rest), beside, materials)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return source.Scanned(in)
}

func part(v float64) uint8 { return uint8(min(1, max(0, v))*255 + 0.5) }

// numbers parses numbers, at most the length of the list.
func numbers(text string, to []float64) (n int, err error) {
	for field := range strings.FieldsSeq(text) {
		if n == len(to) {
			break
		}
		if to[n], err = strconv.ParseFloat(field, 64); err != nil {
			return n, fmt.Errorf("%.20q is not a number", field)
		}
		n++
	}
	return n, nil
}

// corner is a corner of a face: its vertex and its texture position, -1 for none.
type corner struct{ vertex, texture int64 }

// corners parses "1/1/1 2/2/2 3/3/3"; negative numbers count from the last one.
func corners(face []corner, text string, vertices, positions int) ([]corner, error) {
	for field := range strings.FieldsSeq(text) {
		first, rest, _ := strings.Cut(field, "/")
		second, _, _ := strings.Cut(rest, "/")
		v, err := index(first, vertices)
		if err != nil {
			return face, err
		}
		t := int64(-1)
		if second != "" {
			if t, err = index(second, positions); err != nil {
				return face, err
			}
		}
		face = append(face, corner{v, t})
	}
	return face, nil
}

func index(text string, count int) (int64, error) {
	i, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.20q is not the number of a vertex", text)
	}
	if i < 0 {
		return int64(count) + i, nil
	}
	return i - 1, nil
}

// fan splits a face into triangles.
func fan(face []corner, all *vertices, inTexture [][2]float32, m material, visit func(Triangle) error) error {
	for i := 2; i < len(face); i++ {
		t := Triangle{Texture: m.texture, Colours: [3]color.NRGBA{m.colour, m.colour, m.colour}}
		for k, c := range []corner{face[0], face[i-1], face[i]} {
			if !all.corner(&t, k, c.vertex) {
				return errVertex
			}
			if c.texture < 0 || c.texture >= int64(len(inTexture)) {
				t.Texture = ""
			} else {
				t.Position[k] = inTexture[c.texture]
			}
		}
		if err := visit(t); err != nil {
			return err
		}
	}
	return nil
}

// readMaterials reads a library of materials, if it exists.
func readMaterials(ctx context.Context, name string, beside []File, to map[string]material) error {
	f := find(beside, name)
	if f == nil || f.Size > 16<<20 {
		return nil
	}
	current := ""
	in := source.Lines(f.Reader(ctx))
	for in.Scan() {
		word, rest, _ := strings.Cut(strings.TrimSpace(in.Text()), " ")
		m := to[current]
		switch word {
		case "newmtl":
			current = strings.TrimSpace(rest)
			m = material{}
		case "Kd":
			var p [3]float64
			if n, err := numbers(rest, p[:]); n == 3 && err == nil {
				m.colour = color.NRGBA{part(p[0]), part(p[1]), part(p[2]), 255}
			}
		case "map_Kd":
			if t := find(beside, rest); t != nil {
				m.texture = t.Name
			} else if options := strings.Fields(rest); len(options) > 0 {
				if t := find(beside, options[len(options)-1]); t != nil {
					m.texture = t.Name
				}
			}
		}
		if current != "" && len(to) < 10_000 {
			to[current] = m
		}
	}
	return source.Scanned(in)
}

// find returns a file by its base name, whatever folder precedes it.
func find(beside []File, name string) *File {
	name = path.Base(strings.ReplaceAll(strings.TrimSpace(name), `\`, "/"))
	for i := range beside {
		if strings.EqualFold(beside[i].Name, name) {
			return &beside[i]
		}
	}
	return nil
}
