package client

import (
	"context"

	"transect/client/fault"
	"transect/client/geojson"
)

// Flights are the image takings of a mission.
type Flights struct {
	Create                Op[None, None]                                 `create:"" unknown:"none" composed:"yes" raises:"UnsupportedOperationError: always: missions.create creates flights" doc:"Refused: missions.create makes the flight of a mission with images."`
	Describe              Op[Refs, Some[Flight]]                         `read:"describe-flight|describe-flights" chunk:"1000" doc:"Describe one flight or a list of flights."`
	DescribeUploadsStatus Op[DescribeUploadsStatus, Page[UploadsStatus]] `read:"describe-flight-uploads-status" rename:"flight>_id" doc:"Return the upload progress of flights, selected by flights, missions or projects."`
	Search                SearchOp[Query, Flight]                        `read:"search-flights" page:"1" limit:"100" refuse:"project|mission" doc:"Find flights."`
	UpdateBbox            Op[UpdateBbox, Flight]                         `set:"update-flight-bbox" doc:"Set the bounding box."`
	UpdateGeodata         Op[UpdateFlightGeodata, Flight]                `set:"update-flight-data" does:"flights.update_bbox" doc:"Set bounding box and geometry."`
	UpdateName            Op[Rename, Flight]                             `set:"update-flight-name" doc:"Rename a flight."`
	UpdateStatus          Op[UpdateFlightStatus, Flight]                 `set:"update-flight-status" unknown:"probe status" doc:"Set the status, such as completed once all images are uploaded."`
	UpdateSurveyDate      Op[UpdateSurveyDate, Flight]                   `set:"update-flight-survey-date" doc:"Set the survey date."`
}

// Inputs of the flight operations.
type (
	DescribeUploadsStatus struct {
		Flights     IDs  `arg:"flights" wrap:"yes" doc:"flight, or a list of flights"`
		Missions    IDs  `arg:"missions" wrap:"yes" doc:"mission, or a list of missions"`
		Projects    IDs  `arg:"projects" wrap:"yes" doc:"project, or a list of projects"`
		Limit       *int `arg:"limit" doc:"maximum number of results"`
		Page        *int `arg:"page" doc:"number of the page to return"`
		ReturnTotal bool `arg:"return_total" in:"none" default:"false" doc:"return {total, results} instead of the list alone"`
		Extra
	}
	UpdateFlightGeodata struct {
		Ref
		Bbox     []float64 `arg:"bbox" wire:"data.bbox" doc:"bounding box: west, south, east, north in degrees"`
		Geometry Geometry  `arg:"geometry" wire:"data.geometry" doc:"outline, GeoJSON geometry"`
	}
	UpdateFlightStatus struct {
		Ref
		Status string `arg:"status,req" choices:"flying|uploading|temporary-blocked|error|completed" doc:"new status"`
	}
)

// Validate requires four numbers for the box.
func (in UpdateFlightGeodata) Validate() error { return geojson.CheckBox("argument bbox", in.Bbox, 4) }

// Shape sends data even when it is empty: the route requires it.
func (UpdateFlightGeodata) Shape(body map[string]any) error {
	if _, given := body["data"]; !given {
		body["data"] = map[string]any{}
	}
	return nil
}

func (c *Client) createFlight(context.Context, None) (None, error) {
	return None{}, fault.Hinted(fault.Of(&fault.UnsupportedOperationError{}, "flights cannot be created on their own"),
		"missions.create with number_of_images above 0 makes the mission and its flight")
}
