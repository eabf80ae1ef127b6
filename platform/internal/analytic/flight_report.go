package analytic

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"transect/client/fault"
	"transect/client/formats/imagery"
)

// edition holds the differences between the versions of the flight report.
type edition struct {
	version   string
	inventory string // name of the deliverable with the inventory
	track     bool   // has the optional deliverable "track", and the angles of the camera
	metric    bool   // names units in the keys of the inventory
}

// 1.1.0 is compatible with 1.0.0; 2.0.0 renames keys.
var editions = []edition{
	{version: "1.0.0", inventory: "inventory"},
	{version: "1.1.0", inventory: "inventory", track: true},
	{version: "2.0.0", inventory: "report", track: true, metric: true},
}

const idPattern = "^[0-9a-f]{24}$"

func flightReports() []Program {
	var programs []Program
	for _, e := range editions {
		d := Definition{
			Name: "flight_report", Version: e.version, DisplayName: "Flight report",
			Description: "Reads the images of a mission and reports what was flown: an inventory of the images and the ground " +
				"they cover.",
			Inputs: []Slot{{
				Name: "mission", DisplayName: "Mission", Description: "mission whose images are read", Required: true,
				Scheme: map[string]any{"type": "string", "pattern": idPattern},
				Source: &Source{Service: "project-manager", Resource: "mission"},
			}},
			Parameters: []Slot{{
				Name: "tolerate", DisplayName: "Tolerate",
				Description: "share of images, from 0 to 1, that may be unreadable; 1 when not given",
				Scheme:      map[string]any{"type": "number", "minimum": 0, "maximum": 1},
			}},
			Deliverables: []Slot{
				dataset(e.inventory, "Inventory", "the images as JSON and CSV", "file", true),
				dataset("footprints", "Footprints", "the ground that each image covers, as GeoJSON", "vector", true),
			},
			Tags: []string{"report"}, Groups: []string{"Transect"},
		}
		if e.track {
			d.Deliverables = append(d.Deliverables, dataset("track", "Track", "the line that was flown, as GeoJSON", "vector",
				false))
		}
		programs = append(programs, Program{Definition: d, Run: e.run})
	}
	return programs
}

func dataset(name, title, description, kind string, required bool) Slot {
	return Slot{Name: name, DisplayName: title, Description: description, Required: required,
		Scheme: map[string]any{"type": "string", "pattern": idPattern},
		Source: &Source{Service: "data-manager", Resource: "dataset",
			Scheme: map[string]any{"type": "object", "properties": map[string]any{
				"type": map[string]any{"type": "string", "enum": []string{kind}}}}}}
}

// frame is one image with its metadata.
type frame struct {
	Image
	photo   imagery.Photo
	problem string // why it could not be read, or ""
}

// maxLines is the approximate number of log lines for the images.
const maxLines = 200

func (e edition) run(ctx context.Context, o *Order) ([]Deliverable, error) {
	mission, _ := o.Inputs["mission"].(string)
	images, err := o.Images(ctx, mission)
	if err != nil {
		return nil, err
	}
	if len(images) == 0 {
		return nil, fmt.Errorf("%w: mission %s has no image whose ingestion is completed", ErrRejected, mission)
	}
	if err := o.Log("info", fmt.Sprintf("reading %d images", len(images)),
		map[string]any{"images": len(images)}); err != nil {
		return nil, err
	}
	frames, bad, err := e.read(ctx, o, images)
	if err != nil {
		return nil, err
	}
	if tolerate, ok := number(o.Parameters["tolerate"]); ok && float64(bad) > tolerate*float64(len(frames)) ||
		bad == len(frames) {
		return nil, fmt.Errorf("%d of %d images cannot be read", bad, len(frames))
	}
	if err := o.Log("info", "writing the deliverables", nil); err != nil {
		return nil, err
	}
	return e.deliver(o, frames)
}

// read reads all images and logs the progress.
func (e edition) read(ctx context.Context, o *Order, images []Image) (frames []frame, bad int, err error) {
	every := (len(images) + maxLines - 1) / maxLines
	for i, image := range images {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		f := frame{Image: image}
		photo, err := readPhoto(image)
		f.photo = photo
		if err != nil {
			bad++
			f.problem = err.Error()
			if problem := fault.Find(err); problem != nil {
				f.problem = problem.Facts().Message
			}
			if err := o.Log("warning", fmt.Sprintf("%s: %s", image.Filename, f.problem),
				map[string]any{"dataset": image.Dataset}); err != nil {
				return nil, 0, err
			}
		} else if (i+1)%every == 0 || i == len(images)-1 {
			text := fmt.Sprintf("%d of %d: %s, %s", i+1, len(images), image.Filename, where(photo))
			if err := o.Log("info", text, map[string]any{"dataset": image.Dataset, "done": i + 1,
				"of": len(images)}); err != nil {
				return nil, 0, err
			}
		}
		frames = append(frames, f)
	}
	return frames, bad, nil
}

func readPhoto(image Image) (photo imagery.Photo, err error) {
	f, err := image.Open()
	if err != nil {
		return photo, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return imagery.ReadFrom(f, image.Size)
}

func where(p imagery.Photo) string {
	if !p.HasPosition {
		return "no position"
	}
	text := fmt.Sprintf("%.6f %.6f", p.Latitude, p.Longitude)
	if p.Altitude != nil {
		text += fmt.Sprintf(", %.1f m", *p.Altitude)
	}
	return strings.TrimSpace(text)
}
