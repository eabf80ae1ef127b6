package client

import (
	"bytes"

	"transect/client/fault"
)

// Projects are the sites a company works on.
type Projects struct {
	Create                        Op[CreateProject, Project]              `create:"projects" adds:"addProjectToUsers" unknown:"search name,company" result:"project" rename:"companyId>company" doc:"Create a project."`
	FindOrCreate                  Op[FindOrCreateProject, Found[Project]] `create:"" unknown:"steps" composed:"yes" returns:"project; true when it was created" doc:"Find the project of a company by its exact name, or create it. Several of that name are an error that lists them. If several runs create it at the same moment, all continue with the oldest, and each deletes the one it created."`
	Delete                        Op[ProjectID, None]                     `delete:"projects/{project}" method:"DELETE" does:"flights.delete" doc:"Delete a project."`
	Describe                      Op[Refs, Some[Project]]                 `read:"describe-project|describe-projects" chunk:"1000" doc:"Describe one project or a list of projects."`
	Search                        SearchOp[Query, Project]                `read:"search-projects" page:"1" limit:"100" refuse:"name|deleted" doc:"Find projects. The filter key search matches name, place name and tags."`
	ComputeBbox                   Op[Ref, Project]                        `set:"compute-project-bbox" rename:"companyId>company" doc:"Compute the bounding box from the project's content."`
	UpdateBbox                    Op[UpdateBbox, Project]                 `set:"update-project-bbox" rename:"companyId>company" doc:"Set the bounding box."`
	UpdateGeometry                Op[UpdateGeometry, Project]             `set:"update-project-geometry" rename:"companyId>company" doc:"Set the geometry."`
	UpdateLocalCoordinatesDataset Op[UpdateProjectLocalCoords, Project]   `set:"update-project-local-coords" rename:"companyId>company" doc:"Set the dataset that defines the local coordinates."`
	UpdateLocation                Op[UpdateProjectLocation, Project]      `set:"update-project-location" rename:"companyId>company" doc:"Set the location, and whether it stays fixed."`
	UpdateName                    Op[Rename, Project]                     `set:"update-project-name" rename:"companyId>company" doc:"Rename a project."`
	UpdateSRS                     Op[UpdateProjectSRS, Project]           `set:"update-project-srs" rename:"companyId>company" doc:"Set the spatial reference systems."`
	UpdateStatus                  Op[UpdateProjectStatus, Project]        `set:"projects/update/{project}" unknown:"probe status" result:"project" missing:"ResponseError" rename:"companyId>company" doc:"Set the status."`
	UpdateUnits                   Op[UpdateProjectUnits, Project]         `set:"update-project-units" rename:"companyId>company" doc:"Set the units measures are shown in."`
}

// Inputs of the project operations.
type (
	CreateProject struct {
		Name     string   `arg:"name,req,pos" doc:"name of the project"`
		Company  ID       `arg:"company,req,pos" doc:"company that owns it"`
		Geometry Geometry `arg:"geometry,pos" doc:"its outline, GeoJSON"`
		Extra
	}
	ProjectID struct {
		Project ID `arg:"project,req,pos" in:"path" doc:"project"`
	}
	UpdateProjectLocalCoords struct {
		Ref
		Dataset ID `arg:"dataset,req" wire:"local_coords_dataset" doc:"dataset with the local coordinates"`
	}
	UpdateProjectLocation struct {
		Ref
		Location []float64 `arg:"location" doc:"longitude and latitude in degrees, WGS 84"`
		Fixed    *bool     `arg:"fixed" doc:"true keeps the location, false lets it follow the content"`
	}
	UpdateProjectSRS struct {
		Ref
		HorizontalSRS string `arg:"horizontal_srs_wkt" doc:"horizontal reference system, WKT"`
		VerticalSRS   string `arg:"vertical_srs_wkt" doc:"vertical reference system, WKT"`
	}
	UpdateProjectStatus struct {
		Project ID     `arg:"project,req,pos" in:"path" doc:"project"`
		Status  string `arg:"status,req,pos" choices:"pending|available|failed|maintenance" raises:"RuntimeError" doc:"new status"`
		Extra
	}
	UpdateProjectUnits struct {
		Ref
		Units Object `arg:"units,req" doc:"unit names for distances, surfaces, volumes, altitude, gsd, weight, slope"`
	}
)

// Shape names the project in the body too, where the route requires it.
func (in UpdateProjectStatus) Shape(body map[string]any) error {
	body["project"] = string(in.Project)
	return nil
}

// Answer makes sure that the answer is about the project.
func (in UpdateProjectStatus) Answer(body []byte) ([]byte, error) {
	if !bytes.Contains(body, []byte(in.Project)) {
		return nil, fault.Of(&fault.ResponseError{},
			"the answer does not name project %s, so its status may be the old one", in.Project)
	}
	return body, nil
}
