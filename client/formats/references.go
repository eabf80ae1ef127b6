package formats

import (
	"encoding/json"
	"io"
	"net/url"
	"strconv"
	"strings"

	"transect/client/formats/source"
)

// Reference is a file named by another one, such as the texture of a mesh.
type Reference struct {
	Name      string // a path relative to the file
	Component string // its component, NotSent if no component can hold it
	Format    string // of a file that refers to others itself, or ""
	Note      string // significance of its presence, or ""
	// Several means that Name may be several names, separated by spaces.
	Several bool
	// Otherwise means that it counts only if its component has no other file.
	Otherwise bool
}

// Limits of the search for references, in bytes.
const (
	maxMeshHead  = 1 << 20
	maxMaterials = 16 << 20
	maxModel     = 64 << 20
)

// Refers reports whether files with a name's extension may refer to others.
func Refers(name string) bool {
	_, ext := CutExtension(name)
	return strings.EqualFold(ext, "obj") || strings.EqualFold(ext, "gltf")
}

// References lists the files that a file of a format refers to.
func References(name, format string, r io.Reader) []Reference {
	switch format {
	case "obj":
		return materialsOf(name, r)
	case "mtl":
		return texturesOf(r)
	case "gltf":
		return filesOfModel(r)
	}
	return nil
}

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
func texturesOf(r io.Reader) (found []Reference) {
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
func filesOfModel(r io.Reader) (found []Reference) {
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
