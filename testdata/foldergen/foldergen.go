// Package foldergen makes folders with files that have to do with one another, or nearly:
// main files and their sidecars in any letter case, meshes with textures, empty files,
// links, folders with the names of files.
package foldergen

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

var stems = []string{"a", "A", "b1", "b10", "DJI_0001", "a.tif", "m", "tex/a", "deep/er/a", "deep/m", ".hidden", "é", "a b", "x\xff",
	"semi;colon'", "-n", "a:b", "CON", "end. ", "many...dots"}

const (
	jpeg    = "\xff\xd8\xff\xe0\x00\x10JFIF\x00 and so on\xff\xd9"
	geotiff = "II*\x00\x08\x00\x00\x00\x01\x00\xaf\x87\x03\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00"
)

var contents = map[string]string{
	".jpg": jpeg, ".JPG": jpeg, ".xmp": "<x/>", ".THM": jpeg, ".tif": geotiff, ".TIF": geotiff, ".tif.aux.xml": "<x/>", ".aux.xml": "<x/>",
	".tfw": "1\n0\n0\n-1\n0\n0\n", ".ovr": geotiff, ".shp": shape(), ".SHP": shape(), ".dbf": "\x03\x10\x01\x01" + strings.Repeat("\x00", 40),
	".DBF": "\x03", ".shx": "x", ".prj": `GEOGCS["WGS 84"]`, ".PRJ": `GEOGCS["ETRS89"]`, ".cpg": "UTF-8", ".qml": "<x/>", ".las": cloud(),
	".obj": "mtllib m.mtl\nmtllib a.mtl\nv 0 0 0\nf 1 1 1\n", ".mtl": "map_Kd a.jpg\nmap_Kd tex/a.jpg\nmap_Kd b1.png\n",
	".png": "\x89PNG\r\n\x1a\n and so on", ".gltf": `{"buffers": [{"uri": "a.bin"}], "images": [{"uri": "tex/a.jpg"}]}`, ".bin": "x",
	".gpkg":     "SQLite format 3\x00" + strings.Repeat("\x00", 52) + "GPKG" + strings.Repeat("\x00", 40),
	".gpkg-wal": "x", ".geojson": `{"type": "FeatureCollection", "features": []}`, "": "text", ".hdr": "ENVI\n", ".img": "x",
	"Thumbs.db": "x", ".transect-x.part": "x",
}

var endings = func() (list []string) {
	for ending := range contents {
		list = append(list, ending)
	}
	slices.Sort(list)
	return list
}()

func shape() string {
	b := make([]byte, 100)
	binary.BigEndian.PutUint32(b, 9994)
	binary.BigEndian.PutUint32(b[24:], 50)
	binary.LittleEndian.PutUint32(b[28:], 1000)
	return string(b)
}

func cloud() string {
	b := make([]byte, 240)
	copy(b, "LASF")
	b[24], b[25], b[104] = 1, 2, 1
	return string(b)
}

// Make fills a folder. pick chooses a number below n; mark is added to what files hold, to
// tell them from those of other folders.
func Make(dir, mark string, pick func(n int) int) error {
	for file := range 1 + pick(14) {
		ending := endings[pick(len(endings))]
		path := filepath.Join(dir, filepath.FromSlash(stems[pick(len(stems))]+ending))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			continue // there is a file of that name
		}
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		var err error
		switch pick(15) {
		case 0:
			err = os.WriteFile(path, nil, 0o644)
		case 1:
			err = os.Symlink([]string{"a.jpg", "nothing", ".", "tex", "../" + filepath.Base(dir)}[pick(5)], path)
		case 2:
			err = os.Mkdir(path, 0o755)
		default:
			text := contents[ending]
			if mark != "" {
				text += fmt.Sprintf("\n%s %d\n", mark, file)
			}
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			return err
		}
		if pick(4) == 0 {
			_ = os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)) // a link to nothing, or to itself, has no time
		}
	}
	return nil
}
