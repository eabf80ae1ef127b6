package formats

import (
	"context"
	"encoding/json"
	"errors"
	"image"
	"slices"
	"strings"

	"github.com/paulmach/orb"
)

// reader has the functions of a family of formats. They run within the limits of time and memory of limits.go.
type reader struct {
	describe func(context.Context, *file) (Info, error)
	picture  func(ctx context.Context, f *file, side int) (image.Image, error)
	features func(context.Context, *file, Visitor) error // nil without features
	check    func(context.Context, *file) error          // decodes all pixels, nil without any
}

// Visitor receives the shape of a feature in longitude and latitude, nil if it has none or its
// position is unknown, and its attributes as a JSON object, nil if it has none.
type Visitor func(g orb.Geometry, attributes json.RawMessage) error

var (
	photos  = reader{describe: describePhoto, picture: drawPhoto, check: checkPicture}
	jpegs   = reader{describe: describePhoto, picture: drawPhoto, check: checkJPEG}
	webps   = reader{describe: describePhoto, picture: drawPhoto, check: checkWebP}
	tiffs   = reader{describe: describeTIFF, picture: drawTIFF, check: checkTIFF} // rasters and photos
	grids   = reader{describe: describeRaster, picture: drawNothing}              // only the header is read
	clouds  = reader{describe: describeCloud, picture: drawCloud}
	vectors = reader{describe: describeVector, picture: drawVector, features: visitVector}
	// packages are vectors, or rasters if they have no features.
	packages = reader{describe: describePackage, picture: drawVector, features: visitVector}
	meshes   = reader{describe: describeMesh, picture: drawMesh}
)

// readers are the readers of all supported formats, by the names Recognise returns.
var readers = map[string]reader{
	"jpeg": jpegs, "png": photos, "gif": photos, "bmp": photos, "webp": webps,
	"tiff": tiffs, "geotiff": tiffs, "dng": tiffs,
	"cr2": tiffs, "nef": tiffs, "arw": tiffs, "pef": tiffs, "srw": tiffs, "rwl": tiffs,
	"aaigrid": grids, "jp2": grids, "j2k": grids, "hfa": grids, "envi": grids, "ehdr": grids,
	"las": clouds, "laz": clouds,
	"geojson": vectors, "shapefile": vectors, "geopackage": packages, "sqlite": vectors,
	"kml": vectors, "kmz": vectors, "gpx": vectors, "zip": vectors,
	"obj": meshes, "ply": meshes, "stl": meshes,
}

// reader returns the reader of the file, without functions for unknown formats.
func (f *file) reader() (reader, error) {
	content, err := f.recognise()
	if err != nil {
		return reader{}, err
	}
	_, ext := CutExtension(f.Name)
	if ext = strings.ToLower(ext); content.Damage != "" && content.Format == promises[ext].format {
		return reader{}, errors.New(content.Damage)
	}
	if r, read := readers[content.Format]; read || content.Kind != "file" || !slices.Contains(texts, ext) {
		return r, nil
	}
	return readers[ext], nil
}

// texts are the extensions of text formats to try when the first lines do not determine the format.
var texts = []string{"obj", "stl", "kml", "gpx"}
