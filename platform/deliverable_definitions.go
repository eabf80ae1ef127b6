package platform

import (
	"slices"

	"transect/platform/store"
)

// deliverableDefinition is something that a collection task can deliver.
type deliverableDefinition struct {
	name, title, kind string   // kind is the type of its dataset
	purpose           string   // of the task
	sensors           []string // types of sensor it can be made with
}

// surveyImages is the deliverable that is the survey itself, as it was flown.
const surveyImages = "images"

var deliverableDefinitions = []deliverableDefinition{
	{"orthomosaic", "Orthomosaic", "raster", "mapping", []string{"rgb"}},
	{"reflectance_map", "Reflectance map", "raster", "mapping", []string{"ms", "hs"}},
	{"digital_surface_model", "Digital surface model", "raster", "mapping", []string{"rgb", "ms", "lidar"}},
	{"digital_terrain_model", "Digital terrain model", "raster", "mapping", []string{"rgb", "lidar"}},
	{"point_cloud", "Point cloud", "pcl", "3d-modeling", []string{"rgb", "lidar"}},
	{"mesh", "Textured mesh", "mesh", "3d-modeling", []string{"rgb"}},
	{surveyImages, "Images", "image", "raw", []string{"rgb", "ms", "hs"}},
	{"raw_point_cloud", "Raw point cloud", "pcl", "raw", []string{"lidar"}},
}

// listDeliverables answers with what a task can deliver with a type of sensor.
func listDeliverables(r *Request) (any, error) {
	a := r.args()
	sensor, purpose := a.oneOf("sensor_type", captureTypes...), "mapping"
	if a.has("task_purpose") {
		purpose = a.oneOf("task_purpose", "mapping", "3d-modeling", "raw")
	}
	if a.err != nil {
		return nil, a.err
	}
	list := []store.Doc{}
	for _, d := range deliverableDefinitions {
		if d.purpose == purpose && slices.Contains(d.sensors, sensor) {
			list = append(list, store.Doc{"name": d.name, "display_name": d.title, "type": d.kind,
				"task_purpose": purpose, "sensor_type": sensor})
		}
	}
	return list, nil
}
