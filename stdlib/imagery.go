package stdlib

import (
	"context"
	"path/filepath"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/files"
	"transect/client/formats/imagery"
	"transect/runtime/engine/table"
	"transect/runtime/module"
	"transect/runtime/sandbox"
)

const photoFields = "a table of path, name, size (bytes), format, width, height (pixels), latitude, longitude " +
	"(degrees), altitude, relative_altitude (metres), yaw, pitch, roll (degrees), acquired, make, model, focal_length, " +
	"focal_length_35 (for a 35 mm frame), sensor_width (mm), band, capture_id; what the photo does not contain is absent"

var scanOptions = module.Param{Name: "options",
	Fields: []module.Param{{Name: "recursive", Type: "boolean", Doc: "include subfolders", Default: false}}}

var imageryModule = &module.Module{
	Name: "imagery",
	Doc:  "Reads the metadata of drone photos: position, time, camera, and whether the file is complete.",
	Lazy: imageryFuncs,
}

func imageryFuncs() []module.Func {
	return []module.Func{
		{
			Name: "read", Doc: "Reads one photo. An empty, truncated or non-image file is a FileError.",
			Params:  []module.Param{{Name: "path", Type: "string", Doc: "the photo"}},
			Returns: photoFields,
			Call: func(c *module.Call) (any, error) {
				return photoTable(readPhoto(c, c.String("path"))), nil
			},
		},
		{
			Name: "scan",
			Doc: "Reads the photos of a folder. Empty or damaged photos, photos without position and duplicates become " +
				"problems; the others still count.",
			Params: []module.Param{
				{Name: "folder", Type: "string", Doc: "the folder"},
				scanOptions,
			},
			Returns: "a table of photos (each as read gives it), problems (path, name, cause, message, hint), date (of the " +
				"first photo), footprint (a ring of positions), area (square metres) and bytes",
			Call: scan,
		},
		{
			Name: "each",
			Doc: "Iterates over any number of photos: of a folder, in natural order (2 before 10), or of a list. " +
				"A photo that is empty, broken or without position comes with what is wrong with it; copies of another are not " +
				"found.",
			Params: []module.Param{
				{Name: "source", Type: "string|table", Doc: "a folder, or a list of files"},
				scanOptions,
			},
			Returns: "an iterator of photos, each as read gives it, with a problem (cause, message, hint) or nil",
			Call:    eachPhoto,
		},
		footprintFunc,
	}
}

// readPhoto reads a photo, after checking that the script may read it.
func readPhoto(c *module.Call, path string) (photo imagery.Photo) {
	path = mayRead(c, path) // before the error can reveal anything about the file
	c.Must(c.Blocking(func(context.Context) (err error) {
		photo, err = imagery.Read(files.Tree{View: c.In}, path)
		return err
	}))
	return photo
}

// mayRead checks that the script may read a file or folder, and returns its path.
func mayRead(c *module.Call, path string) string {
	path = c.In.Path(path)
	c.Must(c.In.Permit(sandbox.Read, path))
	return path
}

func scan(c *module.Call) (any, error) {
	folder := mayRead(c, c.String("folder"))
	options := imagery.ScanOptions{Recursive: c.Bool("recursive"), Among: c.In.Readable, Tree: files.Tree{View: c.In}}
	var survey imagery.Survey
	c.Must(c.Blocking(func(ctx context.Context) (err error) {
		survey, err = imagery.Scan(ctx, folder, options)
		return err
	}))
	photos := make([]any, len(survey.Photos))
	for i, p := range survey.Photos {
		t := photoTable(p)
		t["name"] = nameIn(folder, p.Path)
		photos[i] = t
	}
	problems := make([]any, len(survey.Problems))
	for i, p := range survey.Problems {
		problems[i] = problemTable(p, nameIn(folder, p.Path))
	}
	out := map[string]any{"photos": photos, "problems": problems, "area": survey.Area, "bytes": survey.Bytes}
	if len(survey.Footprint) > 0 {
		out["footprint"] = survey.Footprint
	}
	if !survey.Date.IsZero() {
		out["date"] = survey.Date
	}
	return out, nil
}

// nameIn returns the slash-separated path of a file in a folder.
func nameIn(folder, path string) string {
	if name, err := filepath.Rel(folder, path); err == nil {
		return filepath.ToSlash(name)
	}
	return filepath.Base(path)
}

func photoTable(p imagery.Photo) map[string]any {
	t := map[string]any{"path": p.Path, "name": filepath.Base(p.Path), "size": p.Size, "format": string(p.Format),
		"width": p.Width, "height": p.Height}
	if p.HasPosition {
		t["latitude"], t["longitude"] = p.Latitude, p.Longitude
	}
	for name, v := range photoNumbers(&p) {
		if *v != nil {
			t[name] = **v
		}
	}
	if !p.Acquired.IsZero() {
		t["acquired"] = p.Acquired
	}
	for name, v := range map[string]string{"make": p.Make, "model": p.Model, "band": p.Band, "capture_id": p.CaptureID} {
		if v != "" {
			t[name] = v
		}
	}
	for name, v := range photoLens(&p) {
		if *v > 0 {
			t[name] = *v
		}
	}
	return t
}

// photoNumbers maps names to the numbers that a photo may have.
func photoNumbers(p *imagery.Photo) map[string]**float64 {
	return map[string]**float64{"altitude": &p.Altitude, "relative_altitude": &p.RelativeAltitude, "yaw": &p.Yaw,
		"pitch": &p.Pitch, "roll": &p.Roll}
}

// photoLens maps names to the measures of the camera; 0 is unknown.
func photoLens(p *imagery.Photo) map[string]*float64 {
	return map[string]*float64{"focal_length": &p.FocalLength, "focal_length_35": &p.FocalLength35,
		"sensor_width": &p.SensorWidth}
}

func problemTable(p imagery.Problem, name string) map[string]any {
	return map[string]any{"path": p.Path, "name": name, "cause": string(p.Cause), "message": p.Message, "hint": p.Hint}
}

// eachPhoto returns an iterator of photos.
func eachPhoto(c *module.Call) (any, error) {
	var paths []string
	var problems []imagery.Problem
	name := filepath.Base
	if list := c.Table("source"); list != nil {
		for i := 1; i <= table.Length(list); i++ {
			v := table.Element(list, i)
			if v.Type() != lua.LTString {
				return nil, fault.Of(&fault.ParameterError{}, "argument source: item %d must be the path of a photo, got a %s", i,
					v.Type())
			}
			paths = append(paths, mayRead(c, v.String()))
		}
	} else {
		folder, recursive := mayRead(c, c.String("source")), c.Bool("recursive")
		c.Must(c.Blocking(func(ctx context.Context) (err error) {
			paths, problems, err = imagery.Files(ctx, files.Tree{View: c.In}, folder, recursive)
			paths = c.In.Readable(paths)
			return err
		}))
		name = func(path string) string { return nameIn(folder, path) }
	}
	for _, p := range problems {
		c.In.Options().Logger.Warn(p.String())
	}
	r := imagery.NewReader(paths, files.Tree{View: c.In})
	return blockingIterator(c, func(ctx context.Context) (module.Values, error) {
		photo, problem, ok, err := r.Next(ctx)
		if !ok || err != nil {
			return nil, err
		}
		t := photoTable(photo)
		t["name"] = name(photo.Path)
		if problem == nil {
			return module.Values{t}, nil
		}
		return module.Values{t, problemTable(*problem, name(photo.Path))}, nil
	}), nil
}
