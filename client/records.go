package client

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/client/fault"
)

// Typed records. Each keeps all that the platform sent; the fields named here
// are those Go programs commonly read. Dates are texts as they travel,
// 2006-01-02T15:04:05.000Z.
type (
	// Project is a site a company works on.
	Project struct {
		Record           `doc:"Site a company works on."`
		Name             string          `json:"name" doc:"name of the project"`
		Company          string          `json:"company" type:"id" doc:"company that owns it"`
		Geometry         json.RawMessage `json:"geometry" type:"geometry" doc:"outline"`
		Industry         string          `json:"industry" doc:"industry it belongs to"`
		Created          string          `json:"created" type:"date" doc:"when it was created"`
		Missions         []string        `json:"missions" type:"[]id" doc:"its missions"`
		User             string          `json:"user" type:"id" doc:"user who created it"`
		RealBbox         json.RawMessage `json:"real_bbox" type:"geometry" doc:"bounding box of its content"`
		PlaceName        string          `json:"place_name" doc:"name of the place"`
		Location         []float64       `json:"location" unit:"degrees" doc:"longitude and latitude, WGS 84"`
		Fixed            bool            `json:"fixed" doc:"true when the location does not follow the content"`
		HorizontalSRSWKT string          `json:"horizontal_srs_wkt" doc:"horizontal reference system, WKT"`
		VerticalSRSWKT   string          `json:"vertical_srs_wkt" doc:"vertical reference system, WKT"`
		LocalCoords      string          `json:"local_coords_dataset" type:"id" doc:"dataset with the local coordinates"`
		Status           string          `json:"status" choices:"pending|available|failed|maintenance" doc:"state"`
		Units            map[string]any  `json:"units" doc:"unit names by what they measure: distances, surfaces, volumes, altitude, gsd, weight, slope"`
		History
	}
	// Mission is a survey flown over a project.
	Mission struct {
		Record     `doc:"Survey flown over a project."`
		Name       string          `json:"name" doc:"name of the mission"`
		Project    string          `json:"project" type:"id" doc:"project it belongs to"`
		Company    string          `json:"company" type:"id" doc:"company that owns it"`
		SurveyDate string          `json:"survey_date" type:"date" doc:"when it was flown"`
		Flights    []string        `json:"flights" type:"[]id" doc:"its flights; none without images"`
		Geometry   json.RawMessage `json:"geometry" type:"geometry" doc:"outline"`
		Area       json.RawMessage `json:"area" type:"number" unit:"square metres" doc:"area of the outline"`
		Created    string          `json:"created" type:"date" doc:"when it was created"`
		User       string          `json:"user" type:"id" doc:"user who created it"`
		RealBbox   json.RawMessage `json:"real_bbox" type:"geometry" doc:"bounding box of its content"`
		History
	}
	// Flight is one taking of images of a mission.
	Flight struct {
		Record         `doc:"Flight of a mission, which takes its images."`
		Name           string          `json:"name" doc:"name of the flight"`
		Project        string          `json:"project" type:"id" doc:"project it belongs to"`
		Mission        string          `json:"mission" type:"id" doc:"mission it belongs to"`
		Company        string          `json:"company" type:"id" doc:"company that owns it"`
		Geometry       json.RawMessage `json:"geometry" type:"geometry" doc:"outline"`
		SurveyDate     string          `json:"survey_date" type:"date" doc:"when it was flown"`
		NumberOfPhotos int             `json:"number_of_photos" doc:"how many images it has"`
		Created        string          `json:"created" type:"date" doc:"when it was created"`
		User           string          `json:"user" type:"id" doc:"user who created it"`
		Status         json.RawMessage `json:"status" doc:"state: flying, uploading, temporary-blocked, error or completed; text, or a table with name (filter by status.name)"`
		History
	}
	// UploadsStatus is the progress of a flight's uploads. Its id is the flight's.
	UploadsStatus struct {
		Record `doc:"Progress of the uploads of a flight. Its id is the flight's."`
	}
	// Dataset is a set of files: its components.
	Dataset struct {
		Record           `doc:"Set of files, its components."`
		Name             string          `json:"name" doc:"name of the dataset"`
		Type             string          `json:"type" choices:"file|image|mesh|pcl|raster|vector" doc:"kind of dataset"`
		Categories       []string        `json:"categories" doc:"names of its categories"`
		Company          string          `json:"company" type:"id" doc:"company that owns it"`
		Project          string          `json:"project" type:"id" doc:"project it belongs to"`
		Mission          string          `json:"mission" type:"id" doc:"mission it belongs to"`
		Flight           string          `json:"flight" type:"id" doc:"flight an image was taken in"`
		Hidden           bool            `json:"hidden" doc:"true when end users do not see it"`
		Published        bool            `json:"published" doc:"true when it is ready for delivery"`
		HorizontalSRSWKT string          `json:"horizontal_srs_wkt" doc:"horizontal reference system, WKT"`
		VerticalSRSWKT   string          `json:"vertical_srs_wkt" doc:"vertical reference system, WKT"`
		Format           string          `json:"format" alias:"dataset_format" doc:"format of the files"`
		Geometry         json.RawMessage `json:"geometry" type:"geometry" doc:"where it is; the position of an image, the outline of a raster"`
		Footprint        json.RawMessage `json:"footprint" type:"geometry" doc:"ground that an image shows, estimated from its position, height and angles; the local platform knows it"`
		Properties       map[string]any  `json:"properties" doc:"properties of your own, by name; ask for properties.NAME"`
		Components       []Component     `json:"components" doc:"its files"`
		Size             json.RawMessage `json:"size" type:"integer" unit:"bytes" doc:"size of all its files"`
		AcquisitionDate  string          `json:"acquisition_date" type:"date" doc:"when an image was taken"`
		Width            int             `json:"width" unit:"pixels" doc:"width of an image or a raster"`
		Height           int             `json:"height" unit:"pixels" doc:"height of an image or a raster"`
		Sensor           map[string]any  `json:"sensor" doc:"what an image says of its sensor"`
		Lens             map[string]any  `json:"lens" doc:"what an image says of its lens"`
		CameraParameters json.RawMessage `json:"camera_parameters" type:"[]table" doc:"camera models of an image"`
		Panel            map[string]any  `json:"reflectance_calibration_panel" doc:"calibration panel an image shows"`
		Bands            []any           `json:"bands" doc:"description of each band of a raster"`
		Offset           []float64       `json:"offset" doc:"three numbers to add to the coordinates of a mesh"`
		Source           struct {
			Name    string `json:"name" doc:"service it comes from: map-service for a collection of features"`
			Product string `json:"product" type:"id" doc:"product that made it"`
		} `json:"source" doc:"where it comes from"`
		Ingestion struct {
			Status string `json:"status" doc:"state: pending, running, completed or failed; filters take complete for completed"`
			Date   string `json:"date" type:"date" doc:"when it ended"`
			Error  struct {
				Message string `json:"message" doc:"why it failed"`
			} `json:"error" doc:"of a failed ingestion"`
			Warning struct {
				Message string `json:"message" doc:"what could not be read of the files, such as their position"`
			} `json:"warning" doc:"of an ingestion that left something out; the local platform knows it"`
		} `json:"ingestion" doc:"reading of its files by the platform"`
		Resolution float64 `json:"resolution" unit:"metres" doc:"size of a pixel of a raster, mean distance between the points of a point cloud"`
		Tiles      struct {
			Format string `json:"format" doc:"file extension of the tiles, such as png"`
			Status string `json:"status" doc:"state on the local platform: pending, available or failed"`
			Error  struct {
				Message string `json:"message" doc:"why there are none"`
			} `json:"error" doc:"of tiles that cannot be made"`
		} `json:"tiles" doc:"its tiles"`
		Preview struct {
			Status string `json:"status" choices:"pending|available|failed" doc:"state"`
			Error  struct {
				Message string `json:"message" doc:"why there is none"`
			} `json:"error" doc:"of a failed preview"`
		} `json:"preview" doc:"its preview; the local platform knows it"`
		FeatureCount  int64 `json:"feature_count" doc:"number of features of a vector; the local platform knows it"`
		PointCount    int64 `json:"point_count" doc:"number of points of a point cloud; the local platform knows it"`
		VertexCount   int64 `json:"vertex_count" doc:"number of vertices of a mesh; the local platform knows it"`
		TriangleCount int64 `json:"triangle_count" doc:"number of triangles of a mesh; the local platform knows it"`
		History
	}
	// Component is a named file slot of a dataset.
	Component struct {
		Name       string          `json:"name" doc:"name, as uploads and downloads take it"`
		Status     string          `json:"status" choices:"pending|completed" doc:"completed once its file is there"`
		Filename   string          `json:"filename" doc:"name of the file that was uploaded"`
		Size       json.RawMessage `json:"size" type:"integer" unit:"bytes" doc:"size of the file"`
		Checksum   string          `json:"checksum" doc:"MD5 of the file, hexadecimal"`
		Collection struct {
			ID string `json:"id" type:"id" doc:"collection of features a vector shows"`
		} `json:"collection" doc:"of a vector made from features"`
	}
	// Analytic is an algorithm one can order.
	Analytic struct {
		Record       `doc:"Algorithm that can be ordered."`
		Name         string          `json:"name" doc:"name, unique together with version"`
		Version      string          `json:"version" doc:"semantic version"`
		Company      string          `json:"company" type:"id" doc:"company that owns it"`
		DisplayName  string          `json:"display_name" doc:"name people see"`
		Description  string          `json:"description" doc:"what it does"`
		Inputs       json.RawMessage `json:"inputs" type:"[]table" doc:"inputs it takes: list of {name, display_name, description, scheme, source, required}"`
		Parameters   json.RawMessage `json:"parameters" type:"[]table" doc:"parameters it takes: list of {name, display_name, description, required, scheme}"`
		Credentials  json.RawMessage `json:"credentials" type:"[]table" doc:"credentials it needs: list of {name, display_name, description, required, scheme}"`
		Deliverables json.RawMessage `json:"deliverables" type:"[]table" doc:"deliverables it makes, listed like inputs"`
		Outputs      json.RawMessage `json:"outputs" type:"[]table" doc:"outputs it makes"`
		Tags         []string        `json:"tags" doc:"tags"`
		Groups       []string        `json:"groups" doc:"groups of a catalogue it belongs to"`
		Algorithm    struct {
			DockerImage           string `json:"docker_image" alias:"container_image" doc:"image reference with the registry's address"`
			DockerCredentialsName string `json:"docker_credentials_name" alias:"container_credentials_name" doc:"name of the credentials for the registry"`
		} `json:"algorithm" doc:"what is run"`
		Instance struct {
			Type   string `json:"type" alias:"instance_type" doc:"kind of machine it runs on"`
			Volume int    `json:"volume" alias:"volume_size" unit:"gigabytes" doc:"disk"`
		} `json:"instance" doc:"machine it runs on"`
		History
	}
	// Product is an ordered analytic.
	Product struct {
		Record          `doc:"Ordered analytic."`
		Analytic        json.RawMessage `json:"analytic" type:"id" doc:"analytic that was ordered; some platforms send a table with _id"`
		Name            string          `json:"name" doc:"name of the analytic"`
		AnalyticName    string          `json:"analytic_name" doc:"name of the analytic"`
		AnalyticVersion string          `json:"analytic_version" doc:"version of the analytic"`
		Company         string          `json:"company" type:"id" doc:"company that owns it"`
		Project         string          `json:"project" type:"id" doc:"project it belongs to"`
		Mission         string          `json:"mission" type:"id" doc:"mission it belongs to"`
		Status          string          `json:"status" doc:"state, such as queued, pending or running; available, failed, rejected, cancelled and canceled are the last ones"`
		Inputs          json.RawMessage `json:"inputs" type:"table" doc:"inputs by name"`
		Parameters      json.RawMessage `json:"parameters" type:"table" doc:"parameters by name"`
		Deliverables    json.RawMessage `json:"deliverables" type:"table" doc:"datasets it made, by name of the deliverable"`
		Outputs         json.RawMessage `json:"outputs" type:"[]id" doc:"datasets it made"`
		Error           json.RawMessage `json:"error" type:"table" doc:"why it failed: {message}"`
		StartDate       string          `json:"start_date" type:"date" doc:"when it began to run"`
		EndDate         string          `json:"end_date" type:"date" doc:"when it ended"`
		History
	}
	// Company owns projects, datasets and analytics.
	Company struct {
		Record `doc:"Owner of projects, datasets and analytics."`
		Name   string `json:"name" doc:"name of the company"`
		History
	}
	// User is a person or program that uses the platform.
	User struct {
		Record      `doc:"Person or program that uses the platform."`
		Username    string   `json:"username" doc:"login name"`
		Email       string   `json:"email" doc:"address"`
		FirstName   string   `json:"firstName" doc:"first name"`
		LastName    string   `json:"lastName" doc:"last name"`
		DisplayName string   `json:"displayName" doc:"name people see"`
		Company     string   `json:"company" type:"id" doc:"company of the user"`
		Companies   []string `json:"companies" type:"[]id" doc:"companies of the user"`
		CompanyRole string   `json:"companyRole" doc:"role in the company"`
		Profile     string   `json:"profile" doc:"profile"`
		Status      string   `json:"status" doc:"state"`
		Language    string   `json:"language" doc:"language"`
		Country     string   `json:"country" doc:"country"`
		Created     string   `json:"created" type:"date" doc:"when the user was created"`

		DateFormat     string          `json:"dateFormat" doc:"how dates are shown"`
		Units          json.RawMessage `json:"units" doc:"units measures are shown in"`
		MarketingEmail bool            `json:"marketingEmail" doc:"true when marketing mail is wanted"`
		Segmentation   json.RawMessage `json:"segmentation" doc:"segmentation"`
		EULA           struct {
			ApprovalDate string          `json:"approvalDate" type:"date" doc:"when it was accepted"`
			Version      json.RawMessage `json:"version" doc:"version that was accepted"`
		} `json:"eula" doc:"licence agreement"`
		Scope struct {
			Projects map[string][]string `json:"projects" doc:"rights by project"`
		} `json:"scope" doc:"what the user may do"`
		History
	}
	// ShareToken opens the tiles of datasets.
	ShareToken struct {
		Record         `doc:"Token that grants access to the tiles of datasets."`
		Token          string          `json:"token" doc:"the token"`
		ExpirationDate string          `json:"expiration_date" type:"date" doc:"when it expires; absent when it never does"`
		Company        string          `json:"company" type:"id" doc:"company of the datasets"`
		Scope          json.RawMessage `json:"scope" type:"table" doc:"what it opens: {datasets}"`
		Tileserver     *string         `json:"tileserver" doc:"address that a local platform serves the tiles at, for clients inside its process; empty when nothing serves them"`
		History
	}
	// LogLine is one line of a product's log.
	LogLine struct {
		Timestamp string         `json:"timestamp"`
		Record    map[string]any `json:"record"`            // the whole line, as the platform sent it
		Product   string         `json:"product,omitempty"` // whose line it is, when following
		Cursor    string         `json:"cursor,omitempty"`  // position behind the line, for resuming
	}
	// ProductLogs are the log lines of a product, oldest first.
	ProductLogs struct {
		Total int64     `json:"total"` // lines written, as the platform counts
		Logs  []LogLine `json:"logs"`
	}
)

// Decode reads the flight and the mission of a survey's answer.
func (s *Survey) Decode(v declare.Value) error {
	var answer struct{ Flight, Mission json.RawMessage }
	s.Flight = &Flight{}
	if json.Unmarshal(v.JSON, &answer) != nil || declare.DecodeRecord(answer.Flight, s.Flight) != nil ||
		declare.DecodeRecord(answer.Mission, &s.Mission) != nil || s.Flight.ID == "" {
		return fault.Of(&fault.QueryError{}, "the answer does not hold a mission and a flight")
	}
	return nil
}

// Decode reads whether the request was accepted.
func (a *Accepted) Decode(v declare.Value) error {
	*a = gjson.GetBytes(v.JSON, "request").Str == "accepted"
	return nil
}

// History has when a record was made, changed and deleted, and by which user.
// Dates are texts, users are ids; what has not happened is empty.
type History struct {
	CreationDate     string `json:"creation_date" type:"date" doc:"when it was created"`
	CreationUser     string `json:"creation_user" type:"id" doc:"user who created it"`
	ModificationDate string `json:"modification_date" type:"date" doc:"when it was last changed"`
	ModificationUser string `json:"modification_user" type:"id" doc:"user who changed it last"`
	DeletionDate     string `json:"deletion_date" type:"date" doc:"when it was deleted; searches leave out what is deleted unless they filter by it"`
	DeletionUser     string `json:"deletion_user" type:"id" doc:"user who deleted it"`
}

// WithBothIDs returns a record as it is printed: its identifier is _id, as on the platform, and id, as in scripts.
func WithBothIDs(record []byte) []byte {
	id := gjson.GetBytes(record, "_id")
	if end := id.Index + len(id.Raw); id.Exists() && !gjson.GetBytes(record, "id").Exists() {
		return slices.Concat(record[:end], []byte(`,"id":`+id.Raw), record[end:])
	}
	return record
}
