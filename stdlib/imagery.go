package stdlib

import (
	"context"
	"path/filepath"

	"transect/client/imagery"
	"transect/runtime/vm"
)

var imageryModule = &vm.Module{
	Name: "imagery",
	Doc:  "Reads what drone photos say of themselves: where and when they were taken, by which camera, and whether the file is whole.",
	Funcs: []vm.Func{
		{
			Name: "read", Doc: "Reads one photo. A FileError says what is wrong with a file that is empty, truncated or no image.",
			Params:  []vm.Param{{Name: "path", Type: "string", Doc: "the photo"}},
			Returns: "a table of path, name, size (bytes), format, width, height (pixels), latitude, longitude (degrees), altitude, relative_altitude (metres), yaw, pitch, roll (degrees), acquired, make, model, focal_length (mm), band, capture_id; what the photo does not say is absent",
			Example: `local imagery = require("imagery")
local _, err = try(imagery.read, "missing.jpg")
assert(err.name == "FileError")`,
			Call: func(c *vm.Call) (any, error) {
				var photo imagery.Photo
				path := c.In.Path(c.String("path"))
				err := c.Blocking(func(context.Context) (err error) {
					if err := c.In.Permit(vm.Read, path); err != nil {
						return err
					}
					photo, err = imagery.Read(path)
					return err
				})
				return photoTable(photo), err
			},
		},
		{
			Name: "scan", Doc: "Reads the photos of a folder. Photos that are empty, broken, without position or copies of another become problems; the rest still counts.",
			Params: []vm.Param{
				{Name: "folder", Type: "string", Doc: "the folder"},
				{Name: "options", Fields: []vm.Param{{Name: "recursive", Type: "boolean", Doc: "read the folders below as well", Default: false}}},
			},
			Returns: "a table of photos (each as read gives it), problems (path, name, cause, message, hint), date (of the first photo), footprint (a ring of positions), area (square metres) and bytes",
			Example: `local imagery = require("imagery")
local _, err = try(imagery.scan, "no such folder")
assert(err.name == "FileError" and err.hint)`,
			Call: scan,
		},
	},
}

func scan(c *vm.Call) (any, error) {
	var survey imagery.Survey
	folder := c.In.Path(c.String("folder"))
	recursive := c.Bool("recursive")
	err := c.Blocking(func(ctx context.Context) (err error) {
		if err := c.In.Permit(vm.Read, folder); err != nil {
			return err
		}
		survey, err = imagery.Scan(ctx, folder, imagery.ScanOptions{Recursive: recursive, Among: c.In.Readable})
		return err
	})
	if err != nil {
		return nil, err
	}
	photos := make([]any, len(survey.Photos))
	for i, p := range survey.Photos {
		t := photoTable(p)
		t["name"] = nameIn(folder, p.Path)
		photos[i] = t
	}
	problems := make([]any, len(survey.Problems))
	for i, p := range survey.Problems {
		problems[i] = map[string]any{"path": p.Path, "name": nameIn(folder, p.Path), "cause": string(p.Cause), "message": p.Message, "hint": p.Hint}
	}
	out := map[string]any{"photos": photos, "problems": problems, "area": survey.Area, "bytes": survey.Bytes}
	if len(survey.Footprint) > 0 {
		ring := make([]any, len(survey.Footprint))
		for i, p := range survey.Footprint {
			ring[i] = []any{p[0], p[1]}
		}
		out["footprint"] = ring
	}
	if !survey.Date.IsZero() {
		out["date"] = survey.Date
	}
	return out, nil
}

// nameIn names a file by its place in the folder, the same on every system.
func nameIn(folder, path string) string {
	if name, err := filepath.Rel(folder, path); err == nil {
		return filepath.ToSlash(name)
	}
	return filepath.Base(path)
}

func photoTable(p imagery.Photo) map[string]any {
	t := map[string]any{"path": p.Path, "name": filepath.Base(p.Path), "size": p.Size, "format": string(p.Format), "width": p.Width, "height": p.Height}
	if p.HasPosition {
		t["latitude"], t["longitude"] = p.Latitude, p.Longitude
	}
	for name, v := range map[string]*float64{"altitude": p.Altitude, "relative_altitude": p.RelativeAltitude, "yaw": p.Yaw, "pitch": p.Pitch, "roll": p.Roll} {
		if v != nil {
			t[name] = *v
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
	if p.FocalLength > 0 {
		t["focal_length"] = p.FocalLength
	}
	return t
}
