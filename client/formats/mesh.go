package formats

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"transect/client/formats/mesh"
	"transect/client/formats/pointcloud"
	"transect/client/formats/source"
)

// meshes are the formats of meshes.
var meshes = []Format{
	{name: "ply", kind: "mesh", magic: []string{"ply\n", "ply\r"}, sniff: sniffPLY, reader: triangles},
	{name: "stl", kind: "mesh", match: isSTL, extensions: []string{"stl"}, tried: true, reader: triangles},
	{name: "obj", kind: "mesh", match: isOBJ, extensions: []string{"obj"}, tried: true, references: materialsOf,
		reader: triangles},
	{name: "mtl", kind: "file", extensions: []string{"mtl"}, among: plainTexts, references: texturesOf},
	{name: "gltf", kind: "mesh", extensions: []string{"gltf"}, title: "glTF", textual: true, references: filesOfModel,
		truncated: openObject},
	{name: "glb", kind: "mesh", magic: []string{"glTF"}, extensions: []string{"glb"}, title: "a binary glTF mesh",
		truncated: byHeader(12, glbSize)},
	{name: "collada", kind: "mesh", roots: []string{"COLLADA"}, truncated: openElement},
	{name: "fbx", kind: "mesh", magic: []string{"Kaydara FBX Binary"}},
	{name: "3ds", kind: "file", extensions: []string{"3ds"}, among: binaries},
}

var triangles = reader{describe: describeMesh, picture: drawMesh}

// sniffPLY distinguishes a mesh, which has faces, from a point cloud.
func sniffPLY(p *probe) Content {
	points := Content{Kind: "pcl", Format: "ply"}
	lines := bufio.NewScanner(io.NewSectionReader(p.Data, 0, min(p.Size, 256<<10)))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 3 && fields[0] == "element" && (fields[1] == "face" || fields[1] == "tristrips") &&
			fields[2] != "0":
			return named("ply").content()
		case len(fields) == 1 && fields[0] == "end_header":
			return points
		}
	}
	return points
}

func isSTL(p *probe) bool {
	return len(p.head) >= 84 && p.Size == 84+50*int64(binary.LittleEndian.Uint32(p.head[80:])) ||
		strings.HasPrefix(p.trimmed(), "solid ") && strings.Contains(p.text, "facet")
}

var objLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*(v\s+-?[\d.]+(e[-+]?\d+)?\s+-?[\d.]|mtllib\s|usemtl\s|vn\s+-?[\d.]|vt\s+-?[\d.])`)
})

// isOBJ requires several kinds of lines if the extension is another.
func isOBJ(p *probe) bool {
	if comment := strings.HasPrefix(p.trimmed(), "#"); p.ext == "obj" && (comment || objLine().MatchString(p.text)) {
		return true
	}
	has := func(line string) bool { return strings.Contains(p.text, line) }
	return has("\nv ") && (has("\nmtllib ") || strings.HasPrefix(p.text, "mtllib ") || has("\nvn ") || has("\nf ")) &&
		len(objLine().FindAllStringIndex(p.text, 4)) == 4
}

func glbSize(head []byte) int64 { return int64(binary.LittleEndian.Uint32(head[8:])) }

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
	offset, err := f.offset(ctx)
	if err != nil {
		info.Reason = err
		return info, nil
	}
	var b box
	if err := m.Points(ctx, func(p [3]float64) { b.add(p[0]+offset[0], p[1]+offset[1]) }); err != nil {
		return info, err
	}
	info.place(&b)
	return info, nil
}

// offset returns the horizontal offset of coordinates from a mesh's companion file, such as model_offset.xyz.
func (f *file) offset(ctx context.Context) (offset [2]float64, err error) {
	for _, b := range f.beside {
		if strings.HasSuffix(strings.ToLower(b.Name), "offset.xyz") && b.Size < 4096 {
			text, err := io.ReadAll(b.Reader(ctx))
			if err == nil {
				_, err = fmt.Sscan(strings.ReplaceAll(string(text), ",", " "), &offset[0], &offset[1])
			}
			if err != nil {
				return offset, fmt.Errorf("the offset in %s cannot be read: %w", b.Name, source.Cut(err))
			}
		}
	}
	return offset, nil
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

// Limits of the search for references, in bytes.
const (
	maxMeshHead  = 1 << 20
	maxMaterials = 16 << 20
	maxModel     = 64 << 20
)

// materialsOf lists the libraries of an OBJ file, else the one with its own name.
func materialsOf(name string, r io.Reader) (found []Reference) {
	lines := source.Lines(io.LimitReader(r, maxMeshHead))
	for lines.Scan() {
		if names, ok := strings.CutPrefix(lines.Text(), "mtllib "); ok {
			found = append(found, Reference{Name: names, Component: "material", Format: "mtl", Several: true})
		}
	}
	stem, _ := CutExtension(name)
	return append(found, Reference{Name: stem + ".mtl", Component: "material", Format: "mtl", Otherwise: true})
}

// texturesOf lists the images of a material library (MTL, "Texture map statements").
func texturesOf(_ string, r io.Reader) (found []Reference) {
	lines := source.Lines(io.LimitReader(r, maxMaterials))
	for lines.Scan() {
		statement, rest, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		switch s := strings.ToLower(statement); {
		case strings.HasPrefix(s, "map_"), s == "bump", s == "disp", s == "decal", s == "refl", s == "norm":
			if name := afterOptions(rest); name != "" {
				found = append(found, Reference{Name: name, Component: "texture"})
			}
		}
	}
	return found
}

// mapOptions are the options of texture maps with their number of words.
var mapOptions = map[string]int{
	"-blendu": 1, "-blendv": 1, "-boost": 1, "-mm": 2, "-texres": 1, "-clamp": 1, "-bm": 1, "-imfchan": 1,
	"-type": 1, "-cc": 1, "-o": 3, "-s": 3, "-t": 3,
}

// afterOptions returns the file name of a texture map statement.
func afterOptions(rest string) string {
	for rest = strings.TrimSpace(rest); strings.HasPrefix(rest, "-"); rest = strings.TrimSpace(rest) {
		option, more, _ := strings.Cut(rest, " ")
		words, known := mapOptions[strings.ToLower(option)]
		if !known {
			break
		}
		optional := words == 3 // -o, -s and -t take one to three numbers
		for n := range words {
			word, next, _ := strings.Cut(strings.TrimSpace(more), " ")
			if _, err := strconv.ParseFloat(word, 64); optional && n > 0 && err != nil {
				break
			}
			more = next
		}
		rest = more
	}
	return rest
}

// filesOfModel lists the files that a glTF model refers to (glTF 2.0, 3.5 "URIs").
func filesOfModel(_ string, r io.Reader) (found []Reference) {
	var model struct{ Images, Buffers []struct{ URI string } }
	if json.NewDecoder(io.LimitReader(r, maxModel)).Decode(&model) != nil {
		return nil
	}
	add := func(uri, component, note string) {
		if name, err := url.PathUnescape(uri); err == nil && name != "" && !strings.Contains(name, ":") {
			found = append(found, Reference{Name: name, Component: component, Note: note})
		}
	}
	for _, m := range model.Images {
		add(m.URI, "texture", "")
	}
	for _, b := range model.Buffers {
		add(b.URI, NotSent,
			"the model keeps its shape in "+b.URI+", which is sent as a file of its own: the platform shows a .glb")
	}
	return found
}
