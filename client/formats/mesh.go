package formats

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"strings"

	"transect/client/formats/mesh"
	"transect/client/formats/pointcloud"
)

// drawMesh draws a mesh from above, with its colours and textures, else coloured by height.
func drawMesh(ctx context.Context, f *file, side int) (image.Image, error) {
	m, err := mesh.Open(ctx, f.File, f.beside...)
	if err != nil {
		return nil, err
	}
	if m.Triangles == 0 {
		return drawPoints(func(limit int64, visit func(pointcloud.Point)) error {
			step, i := max(1, m.Vertices/limit), int64(0)
			return m.Points(ctx, func(p [3]float64) {
				if i++; i%step == 0 {
					visit(pointcloud.Point{X: p[0], Y: p[1], Z: p[2]})
				}
			})
		}, side)
	}
	v := newView(m.Low[0], m.Low[1], m.High[0], m.High[1], side)
	s := &scene{ctx: ctx, view: v, file: f, depth: newHeights(v.w, v.h),
		picture: image.NewNRGBA(image.Rect(0, 0, v.w, v.h)),
		low:     m.Low[2], height: m.High[2] - m.Low[2], coloured: m.Coloured}
	defer s.close()
	if err := m.Each(ctx, s.draw); err != nil {
		return nil, err
	}
	return s.picture, nil
}

// describeMesh locates a mesh by its projection file and offset file.
func describeMesh(ctx context.Context, f *file) (Info, error) {
	m, err := mesh.Open(ctx, f.File, f.beside...)
	if err != nil {
		return Info{}, err
	}
	info := Info{Kind: "mesh", Format: m.Format, Points: m.Vertices, Triangles: m.Triangles}
	if m.Triangles == 0 {
		info.Kind = "pcl"
	}
	info.locate(ctx, f, nil, nil)
	if info.System == nil {
		return info, nil
	}
	offset := f.offset(ctx)
	var b box
	if err := m.Points(ctx, func(p [3]float64) { b.add(p[0]+offset[0], p[1]+offset[1]) }); err != nil {
		return info, err
	}
	info.place(&b)
	return info, nil
}

// offset returns the offset of coordinates from a mesh's companion file, such as model_offset.xyz.
func (f *file) offset(ctx context.Context) (offset [3]float64) {
	for _, b := range f.beside {
		if strings.HasSuffix(strings.ToLower(b.Name), "offset.xyz") && b.Size < 4096 {
			text, _ := io.ReadAll(b.Reader(ctx))
			_, _ = fmt.Sscan(strings.ReplaceAll(string(text), ",", " "), &offset[0], &offset[1], &offset[2])
		}
	}
	return offset
}

// scene is a picture of triangles from above.
type scene struct {
	ctx         context.Context
	view        view
	file        *file
	depth       *heights
	picture     *image.NRGBA
	low, height float64
	coloured    bool
	drawn       int
	textures    map[string]image.Image // nil for unreadable ones
	free        []func()
}

func (s *scene) close() {
	for _, release := range s.free {
		release()
	}
}

// light shines from the north-west, from above.
var light = [3]float64{-0.41, 0.41, 0.81}

func (s *scene) draw(t mesh.Triangle) error {
	if s.drawn++; s.drawn%256 == 0 && s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	var p [3][2]float64
	for i, c := range t.Corners {
		p[i][0], p[i][1] = s.view.at(c[0], c[1])
	}
	area := (p[1][0]-p[0][0])*(p[2][1]-p[0][1]) - (p[2][0]-p[0][0])*(p[1][1]-p[0][1])
	if math.IsNaN(area) {
		return nil
	}
	tone := shade(t.Corners)
	texture := s.texture(t.Texture)
	pixel := func(x, y int, w [3]float64) {
		z := w[0]*t.Corners[0][2] + w[1]*t.Corners[1][2] + w[2]*t.Corners[2][2]
		at := &s.depth.values[y*s.view.w+x]
		if *at >= float32(z) {
			return
		}
		*at = float32(z)
		s.picture.SetNRGBA(x, y, shaded(s.colour(t, texture, w, z), tone))
	}
	x0, x1 := s.pixels(p[0][0], p[1][0], p[2][0], s.view.w)
	y0, y1 := s.pixels(p[0][1], p[1][1], p[2][1], s.view.h)
	hit := false
	for y := y0; y <= y1 && area != 0; y++ {
		for x := x0; x <= x1; x++ {
			cx, cy := float64(x)+0.5, float64(y)+0.5
			w1 := ((cx-p[0][0])*(p[2][1]-p[0][1]) - (p[2][0]-p[0][0])*(cy-p[0][1])) / area
			w2 := ((p[1][0]-p[0][0])*(cy-p[0][1]) - (cx-p[0][0])*(p[1][1]-p[0][1])) / area
			if w0 := 1 - w1 - w2; w0 >= 0 && w1 >= 0 && w2 >= 0 {
				pixel(x, y, [3]float64{w0, w1, w2})
				hit = true
			}
		}
	}
	if !hit { // it is between the centres of pixels
		x, y := int((p[0][0]+p[1][0]+p[2][0])/3), int((p[0][1]+p[1][1]+p[2][1])/3)
		if x >= 0 && y >= 0 && x < s.view.w && y < s.view.h {
			pixel(x, y, [3]float64{1. / 3, 1. / 3, 1. / 3})
		}
	}
	return nil
}

// pixels returns the range of pixels that three positions span.
func (s *scene) pixels(a, b, c float64, size int) (from, to int) {
	return int(max(0, min(a, b, c))), int(min(float64(size-1), max(a, b, c)))
}

// shade returns the brightness of a triangle; both of its sides are lit.
func shade(c [3][3]float64) float64 {
	var u, v [3]float64
	for i := range 3 {
		u[i], v[i] = c[1][i]-c[0][i], c[2][i]-c[0][i]
	}
	n := [3]float64{u[1]*v[2] - u[2]*v[1], u[2]*v[0] - u[0]*v[2], u[0]*v[1] - u[1]*v[0]}
	length := math.Sqrt(n[0]*n[0] + n[1]*n[1] + n[2]*n[2])
	if length == 0 || math.IsInf(length, 0) {
		return 1
	}
	if n[2] < 0 {
		length = -length
	}
	return 0.45 + 0.65*max(0, (n[0]*light[0]+n[1]*light[1]+n[2]*light[2])/length)
}

// colour returns the colour from the texture, the corners, or the height.
func (s *scene) colour(t mesh.Triangle, texture image.Image, w [3]float64, z float64) color.NRGBA {
	if texture != nil {
		var u, v float64
		for i := range 3 {
			u, v = u+w[i]*float64(t.Position[i][0]), v+w[i]*float64(t.Position[i][1])
		}
		b := texture.Bounds()
		x, y := int((u-math.Floor(u))*float64(b.Dx())), int((1-v+math.Floor(v))*float64(b.Dy()))
		c := color.NRGBAModel.Convert(texture.At(b.Min.X+min(max(x, 0), b.Dx()-1),
			b.Min.Y+min(max(y, 0), b.Dy()-1))).(color.NRGBA)
		c.A = 255
		return c
	}
	if s.coloured {
		var c [4]float64
		for i, k := range t.Colours {
			if k.A == 0 {
				k = color.NRGBA{200, 200, 200, 255}
			}
			for j, value := range []uint8{k.R, k.G, k.B, 255} {
				c[j] += w[i] * float64(value)
			}
		}
		return color.NRGBA{uint8(c[0]), uint8(c[1]), uint8(c[2]), 255}
	}
	return ramp((z - s.low) / s.height)
}

// textureSide is the size to which textures are scaled down; a picture does not show more.
const textureSide = 2048

// texture decodes a texture on first use.
func (s *scene) texture(name string) image.Image {
	if name == "" {
		return nil
	}
	if m, known := s.textures[name]; known {
		return m
	}
	if s.textures == nil {
		s.textures = map[string]image.Image{}
	}
	s.textures[name] = nil
	for _, b := range s.file.beside {
		if b.Name != name || len(s.free) == maxTextures {
			continue
		}
		f := &file{File: b}
		m, err := drawPhoto(s.ctx, f, textureSide)
		if err != nil {
			return nil
		}
		release, err := reserve(s.ctx, int64(m.Bounds().Dx()*m.Bounds().Dy()*4))
		if err != nil {
			return nil
		}
		s.free = append(s.free, release)
		s.textures[name] = m
	}
	return s.textures[name]
}

// maxTextures is the most textures to draw.
const maxTextures = 24
