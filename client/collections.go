package client

import (
	"context"
	"encoding/json"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/transfer"
)

// Collections are named groups of features.
type Collections struct {
	Create            Op[CreateCollection, Collection]    `create:"create-collection" unknown:"ask" doc:"Create a collection."`
	CreateCollections Op[CreateCollections, []Collection] `create:"create-collections" unknown:"ask" doc:"Create many collections in one request."`
	Delete            Op[DeleteCollections, None]         `delete:"delete-collection|delete-collections|delete-collection-permanently|delete-collections-permanently" chunk:"100" does:"features.delete" doc:"Delete one collection or a list of collections, for good if asked to. Otherwise they can be restored."`
	Describe          Op[Refs, Some[Collection]]          `read:"describe-collection|describe-collections" chunk:"10" doc:"Describe one collection or a list of collections."`
	Export            Op[ExportCollection, Path]          `read:"export-collection" returns:"path of the file" does:"features.search" doc:"Write a collection to a file, such as GeoJSON. An existing file is replaced once the new one is complete."`
	Restore           Op[Refs, None]                      `set:"restore-collection|restore-collections" unknown:"probe deletion_date=none" doc:"Restore deleted collections."`
}

// Inputs of the collection operations.
type (
	CreateCollection struct {
		Name       string `arg:"name" doc:"name of the collection"`
		Features   []ID   `arg:"features" set:"yes" doc:"features it starts with"`
		Properties Object `arg:"properties" doc:"properties of your own"`
		Schema     Object `arg:"schema" doc:"JSON schema of the features' properties"`
		Extra
	}
	CreateCollections struct {
		Descriptions []CreateCollection `arg:"descriptions,req,pos" wire:"collections" doc:"collections, each a table with the arguments of create"`
		Extra
	}
	DeleteCollections struct {
		Refs
		Permanent bool `arg:"permanent" in:"none" default:"false" doc:"true deletes for good"`
	}
	ExportCollection struct {
		Collection ID     `arg:"collection,req,pos" doc:"collection"`
		TargetPath Path   `arg:"target_path,req,pos" in:"none" doc:"folder, made when missing"`
		TargetName string `arg:"target_name,req,pos" in:"none" doc:"name of the file"`
		Format     string `arg:"format_requested,pos" wire:"format" default:"geojson" doc:"format of the file"`
	}
)

// Route selects the second pair of routes to delete for good.
func (in DeleteCollections) Route(routes []string) []string {
	return restorableOrNot(routes, in.Permanent)
}

func restorableOrNot(routes []string, permanent bool) []string {
	if permanent {
		return routes[2:]
	}
	return routes[:2]
}

func (c *Client) exportCollection(ctx context.Context, in ExportCollection) (Path, error) {
	asked := declare.Running(ctx).Extra
	if asked == nil {
		asked = map[string]any{}
	}
	asked["collection"], asked["format"] = string(in.Collection), in.Format
	body, err := declare.Encode(asked)
	if err != nil {
		return "", err
	}
	file, err := c.transfers.Download(ctx, transfer.Download{
		Path: "/map-service/features/export-collection", Body: body, TargetPath: string(in.TargetPath),
		TargetName: in.TargetName,
		Overwrite:  true, Progress: transferOptions(ctx).Progress})
	return Path(file), err
}

// Collection is a named group of features.
type Collection struct {
	Record     `doc:"Named group of features."`
	Name       string          `json:"name" doc:"name of the collection"`
	Company    string          `json:"company" type:"id" doc:"company that owns it"`
	Features   []string        `json:"features" type:"[]id" doc:"its features"`
	Properties map[string]any  `json:"properties" doc:"properties of your own, by name"`
	Schema     json.RawMessage `json:"schema" type:"table" doc:"what the properties of its features are like"`
	History
}

// CollectionTasks are orders to collect data in the field.
type CollectionTasks struct {
	Create               Op[CreateCollectionTask, CollectionTask]    `create:"create-task" unknown:"search name,company,site" doc:"Create a collection task."`
	CreateFlightLog      Op[Ref, None]                               `create:"/dct-service/task-management/create-or-update-task-flight-log" unknown:"repeat" does:"change" doc:"Create or replace the flight log of a task. The log itself goes in extra."`
	Delete               Op[Ref, None]                               `delete:"delete-task" doc:"Delete a collection task."`
	Describe             Op[CollectionTaskIDs, Some[CollectionTask]] `read:"describe-task|describe-tasks" chunk:"1000" doc:"Describe one collection task or a list of collection tasks."`
	Rename               Op[Rename, CollectionTask]                  `set:"set-task-name" doc:"Rename a collection task."`
	Search               SearchOp[Query, CollectionTask]             `read:"search-tasks" page:"0" doc:"Find collection tasks."`
	SetFieldreportInTask Op[SetFieldReport, CollectionTask]          `set:"set-fieldreport-in-task" doc:"Set the report on the collection of the data."`
	SetTaskStatus        Op[SetTaskStatus, CollectionTask]           `set:"set-task-status" unknown:"probe status" doc:"Set the status of a collection task."`
	Update               Op[UpdateCollectionTask, CollectionTask]    `set:"update-task" does:"collection_tasks.rename" doc:"Change a collection task. What is not given stays."`
}

// Inputs of the collection task operations.
type (
	CreateCollectionTask struct {
		Name    string `arg:"name,req" doc:"name of the task"`
		Company ID     `arg:"company,req" doc:"company it belongs to"`
		TaskDetails
	}
	UpdateCollectionTask struct {
		Task ID     `arg:"task,req,pos" doc:"collection task"`
		Name string `arg:"name" doc:"new name"`
		TaskDetails
	}
	TaskDetails struct {
		Site               ID            `arg:"site" doc:"site to collect data of"`
		Survey             ID            `arg:"survey" doc:"survey the data is for"`
		Location           *TaskLocation `arg:"location" doc:"where it is: {adress = {street, zipcode, city}, contact = {name, phone, email}, task_area}"`
		ForecastDateRange  *DateRange    `arg:"forecast_date_range" doc:"when it is expected, {start_date, end_date}"`
		ScheduledDateRange *DateRange    `arg:"scheduled_date_range" doc:"when it is scheduled, {start_date, end_date}"`
		Team               ID            `arg:"team" doc:"team that does it"`
		PIC                ID            `arg:"pic" doc:"pilot in charge"`
		Comment            string        `arg:"comment" doc:"remark"`
		CustomProps        Object        `arg:"custom_props" doc:"properties of your own"`
		Requirement        Object        `arg:"requirement" doc:"what the data must be like"`
		Purpose            string        `arg:"purpose" doc:"what the data is for, such as mapping"`
		Extra
	}
	CollectionTaskIDs struct {
		Task   IDs    `arg:"task,req,pos" many:"tasks" doc:"collection task, or a list of collection tasks"`
		Fields Object `arg:"fields" omit:"falsy" doc:"properties to return: {include = {names}} or {exclude = {names}}, not both"`
		Extra
	}
	SetTaskStatus struct {
		Ref
		Status string `arg:"status,req" choices:"pending|ready|assigned|scheduled|data-captured|data-submitted|completed" doc:"new status"`
	}
	SetFieldReport struct {
		Task   ID          `arg:"task,req" doc:"collection task"`
		Report FieldReport `arg:"field_report,req" doc:"{capture_date, team, pic, weather, carrier, sensor, speed, altitude, duration, overlap, comment, custom_props}"`
		Extra
	}
	// TaskLocation is where a task is.
	TaskLocation struct {
		Adress   Object `arg:"adress" alias:"address" doc:"{street, zipcode, city}; the platform spells it so"`
		Contact  Object `arg:"contact" doc:"{name, phone, email}"`
		TaskArea Object `arg:"task_area" doc:"area to collect data of"`
	}
	// FieldReport describes how the data was collected.
	FieldReport struct {
		CaptureDate Date      `arg:"capture_date" doc:"when it was"`
		Team        ID        `arg:"team" doc:"team that did it"`
		PIC         ID        `arg:"pic" doc:"pilot in charge"`
		Weather     *Weather  `arg:"weather" doc:"{wind_speed, type, dew, wind}"`
		Carrier     ID        `arg:"carrier" doc:"carrier that was used"`
		Sensor      ID        `arg:"sensor" doc:"sensor that was used"`
		Speed       *Quantity `arg:"speed" doc:"{value, unit}, in m/s"`
		Altitude    *Quantity `arg:"altitude" doc:"{value, unit}, in m"`
		Duration    *Quantity `arg:"duration" doc:"{value, unit}, in min"`
		Overlap     *Overlap  `arg:"overlap" doc:"overlap of images, {forward, lateral}"`
		Comment     string    `arg:"comment" doc:"remark"`
		CustomProps Object    `arg:"custom_props" doc:"properties of your own"`
	}
	// Weather is the weather while the data was collected.
	Weather struct {
		WindSpeed *Quantity `arg:"wind_speed" doc:"{value, unit}"`
		Type      string    `arg:"type" doc:"kind of weather"`
		Dew       *bool     `arg:"dew" doc:"true when there was dew"`
		Wind      *bool     `arg:"wind" doc:"true when there was wind"`
	}
)

// Validate refuses fields that both include and exclude.
func (in CollectionTaskIDs) Validate() error { return oneChoice(&fault.ParameterError{}, in.Fields) }

// CollectionTask is an order to collect data in the field.
type CollectionTask struct {
	Record             `doc:"Order to collect data in the field."`
	Name               string          `json:"name" doc:"name of the task"`
	Company            string          `json:"company" type:"id" doc:"company it belongs to"`
	Site               string          `json:"site" type:"id" doc:"site to collect data of"`
	Survey             string          `json:"survey" type:"id" doc:"survey the data is for"`
	Location           json.RawMessage `json:"location" type:"table" doc:"where it is: {adress = {street, zipcode, city}, contact = {name, phone, email}, task_area}"`
	ForecastDateRange  json.RawMessage `json:"forecast_date_range" type:"table" doc:"when it is expected, {start_date, end_date}"`
	ScheduledDateRange json.RawMessage `json:"scheduled_date_range" type:"table" doc:"when it is scheduled, {start_date, end_date}"`
	Team               string          `json:"team" type:"id" doc:"team that does it"`
	PIC                string          `json:"pic" type:"id" doc:"pilot in charge"`
	Comment            string          `json:"comment" doc:"remark"`
	CustomProps        json.RawMessage `json:"custom_props" type:"table" doc:"properties of your own"`
	Requirement        json.RawMessage `json:"requirement" type:"table" doc:"what the data must be like"`
	Purpose            string          `json:"purpose" doc:"what the data is for, such as mapping"`
	Status             string          `json:"status" choices:"pending|ready|assigned|scheduled|data-captured|data-submitted|completed" doc:"state"`
	FieldReport        json.RawMessage `json:"field_report" type:"table" doc:"how the data was collected: {capture_date, team, pic, weather, carrier, sensor, speed, altitude, duration, overlap, comment, custom_props}"`
	History
}
