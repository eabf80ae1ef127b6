package scan

import (
	"bufio"
	"encoding/json"
	"io"
	"iter"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"transect/client/formats/imagery"
)

// claimTextures examines the meshes of the folder before anything else: textures
// they refer to are not images of their own, wherever they come in the order.
func (d *directory) claimTextures() {
	for i := range d.len() {
		name := d.name(i)
		_, ext := cutExtension(name)
		if ext = strings.ToLower(ext); ext != "obj" && ext != "gltf" {
			continue
		}
		if !d.selected(name) || d.entry(i) != regular {
			continue
		}
		if c := d.classify(i); c.kind == "mesh" && c.err == nil {
			for _, p := range c.parts {
				d.w.claimed[p.Path] = true
			}
		}
	}
}

// maxMeshHead is how much of a mesh file is searched for references.
const maxMeshHead = 1 << 20

// addMeshFiles adds the materials and textures that a mesh refers to.
func (d *directory) addMeshFiles(c *class, i int) {
	file := d.path(d.name(i))
	switch c.format {
	case "obj":
		materials := d.materials(file, i)
		for _, m := range materials {
			d.addNamed(c, m, "material")
		}
		for _, m := range materials {
			for _, texture := range texturesOf(d.w.source.Open, filepath.Join(d.dir, filepath.FromSlash(m))) {
				d.addNamed(c, path.Join(path.Dir(m), texture), "texture")
			}
		}
	case "gltf":
		images, buffers := gltfFiles(d.w.source.Open, file)
		for _, name := range images {
			d.addNamed(c, name, "texture")
		}
		for _, name := range buffers {
			if d.addNamed(c, name, notSent) {
				c.note = "the model keeps its shape in " + name + ", which no component can take: convert it to .glb"
			}
		}
	}
}

// materials are the libraries that an OBJ file refers to, else the one of its own name.
func (d *directory) materials(file string, i int) []string {
	var found []string
	for line := range linesOf(d.w.source.Open, file, maxMeshHead) {
		names, ok := strings.CutPrefix(line, "mtllib ")
		if !ok {
			continue
		}
		if name, ok := d.locate(names); ok { // a name may hold blanks
			found = append(found, name)
			continue
		}
		for _, field := range strings.Fields(names) {
			if name, ok := d.locate(field); ok {
				found = append(found, name)
			}
		}
	}
	if len(found) == 0 {
		stem, _ := cutExtension(d.name(i))
		if j := d.find(stem + ".mtl"); j >= 0 {
			found = append(found, d.name(j))
		}
	}
	return found
}

// texturesOf lists the images that a material library refers to (MTL, "Texture
// map statements").
func texturesOf(open imagery.Opener, file string) []string {
	var found []string
	for line := range linesOf(open, file, 16<<20) {
		statement, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch s := strings.ToLower(statement); {
		case strings.HasPrefix(s, "map_"), s == "bump", s == "disp", s == "decal", s == "refl", s == "norm":
			if name := afterOptions(rest); name != "" {
				found = append(found, slashed(name))
			}
		}
	}
	return found
}

// mapOptions are the options of texture maps and how many words each takes.
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

// gltfFiles lists the files a glTF model refers to (glTF 2.0, 3.5 "URIs").
func gltfFiles(open imagery.Opener, file string) (images, buffers []string) {
	f, err := open.Open(file)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	type reference struct {
		URI string `json:"uri"`
	}
	var model struct{ Images, Buffers []reference }
	if json.NewDecoder(io.LimitReader(f, 64<<20)).Decode(&model) != nil {
		return nil, nil
	}
	names := func(references []reference) (out []string) {
		for _, r := range references {
			if name, err := url.PathUnescape(r.URI); err == nil && name != "" && !strings.Contains(name, ":") {
				out = append(out, name)
			}
		}
		return out
	}
	return names(model.Images), names(model.Buffers)
}

// addNamed adds a file that another one refers to; false when it does not exist.
func (d *directory) addNamed(c *class, name, component string) bool {
	local, ok := d.locate(name)
	if !ok {
		if component == "texture" && c.note == "" {
			c.note = "its texture " + name + " is not there"
		}
		return false
	}
	file := filepath.Join(d.dir, filepath.FromSlash(local))
	for _, p := range c.parts {
		if p.Path == file {
			return true
		}
	}
	entry := -1
	if !strings.Contains(local, "/") {
		entry = d.find(local)
	}
	info, err := os.Stat(file)
	if err != nil || info.Size() == 0 {
		return false
	}
	c.parts = append(c.parts, part{fileOf(file, d.fullName(local), info), entry, component})
	return true
}

// locate finds a file that another one refers to, in the folder or below it, in
// any letter case. Of paths that lead elsewhere only the base name counts: those
// of the machine that made the model mean nothing here, and no reference may
// send a file from outside of the folder.
func (d *directory) locate(name string) (string, bool) {
	name = path.Clean(slashed(strings.Trim(strings.TrimSpace(name), `"`)))
	if !filepath.IsLocal(filepath.FromSlash(name)) || strings.Contains(name, ":") {
		name = path.Base(name)
	}
	if name == "." || name == ".." {
		return "", false
	}
	if !strings.Contains(name, "/") {
		j := d.find(name)
		if j < 0 || d.entry(j) != regular {
			return "", false
		}
		return d.name(j), true
	}
	at, entries := "", d.listing
	for i, step := range strings.Split(name, "/") {
		if i > 0 {
			entries, _ = list(d.w.source.Open, filepath.Join(d.dir, filepath.FromSlash(at))) // empty when it cannot be read
		}
		j := entries.find(step)
		if j < 0 || entries.kind(j) == link && !d.w.source.FollowLinks {
			return "", false
		}
		at = path.Join(at, entries.name(j))
	}
	info, err := os.Stat(filepath.Join(d.dir, filepath.FromSlash(at)))
	return at, err == nil && info.Mode().IsRegular()
}

func slashed(name string) string { return strings.ReplaceAll(name, `\`, "/") }

// linesOf gives the lines of a text file, up to limit bytes or an overlong line.
func linesOf(open imagery.Opener, file string, limit int64) iter.Seq[string] {
	return func(yield func(string) bool) {
		f, err := open.Open(file)
		if err != nil {
			return
		}
		defer f.Close()
		lines := bufio.NewScanner(io.LimitReader(f, limit))
		for lines.Scan() && yield(strings.TrimRight(lines.Text(), "\r")) {
		}
	}
}

// sniffHeader returns the format that a .hdr file gives a raster without a magic number.
func sniffHeader(open imagery.Opener, file string) string {
	for line := range linesOf(open, file, headSize) {
		word := strings.ToUpper(strings.TrimSpace(line))
		switch {
		case word == "ENVI":
			return "envi"
		case strings.HasPrefix(word, "NROWS") || strings.HasPrefix(word, "NCOLS"):
			return "ehdr"
		}
	}
	return ""
}
