package client

import (
	"encoding/json"

	"transect/client/declare"
	"transect/client/fault"
)

// Typed records. Each keeps all that the platform sent; the fields named here
// are those Go programs commonly read. Dates are texts as they travel,
// 2006-01-02T15:04:05.000Z.
type (
	// Project is a site a company works on.
	Project struct {
		Record
		Name             string          `json:"name"`
		Company          string          `json:"company"`
		Geometry         json.RawMessage `json:"geometry"`
		Industry         string          `json:"industry"`
		Created          string          `json:"created"`
		Missions         []string        `json:"missions"`
		User             string          `json:"user"`
		ModificationDate string          `json:"modification_date"`
		ModificationUser string          `json:"modification_user"`
		RealBbox         json.RawMessage `json:"real_bbox"`
		PlaceName        string          `json:"place_name"`
		Location         []float64       `json:"location"` // longitude, latitude in degrees
		Fixed            bool            `json:"fixed"`    // the location does not follow the content
		HorizontalSRSWKT string          `json:"horizontal_srs_wkt"`
		VerticalSRSWKT   string          `json:"vertical_srs_wkt"`
		LocalCoords      string          `json:"local_coords_dataset"`
		Status           string          `json:"status"`
		Units            map[string]any  `json:"units"` // unit names, by what they measure
	}
	// Mission is a survey flown over a project.
	Mission struct {
		Record
		Name             string          `json:"name"`
		Project          string          `json:"project"`
		SurveyDate       string          `json:"survey_date"`
		Flights          []string        `json:"flights"`
		Geometry         json.RawMessage `json:"geometry"`
		Created          string          `json:"created"`
		User             string          `json:"user"`
		ModificationDate string          `json:"modification_date"`
		ModificationUser string          `json:"modification_user"`
		RealBbox         json.RawMessage `json:"real_bbox"`
	}
	// Flight is one taking of images of a mission.
	Flight struct {
		Record
		Name           string          `json:"name"`
		Project        string          `json:"project"`
		Mission        string          `json:"mission"`
		SurveyDate     string          `json:"survey_date"`
		NumberOfPhotos int             `json:"number_of_photos"`
		Created        string          `json:"created"`
		User           string          `json:"user"`
		Status         json.RawMessage `json:"status"` // a name, or an object with a name
		CreationDate   string          `json:"creation_date"`
		Modified       string          `json:"modification_date"`
	}
	// UploadsStatus tells how far the uploads of a flight are. Its id is the flight's.
	UploadsStatus struct {
		Record
	}
	// Dataset is a set of files: its components.
	Dataset struct {
		Record
		Name             string          `json:"name"`
		Type             string          `json:"type"` // file, image, mesh, pcl, raster, vector
		Categories       []string        `json:"categories"`
		Company          string          `json:"company"`
		Project          string          `json:"project"`
		Mission          string          `json:"mission"`
		Flight           string          `json:"flight"`
		Hidden           bool            `json:"hidden"`
		Published        bool            `json:"published"`
		HorizontalSRSWKT string          `json:"horizontal_srs_wkt"`
		VerticalSRSWKT   string          `json:"vertical_srs_wkt"`
		Format           string          `json:"format"`
		Geometry         json.RawMessage `json:"geometry"`
		Properties       map[string]any  `json:"properties"`
		Components       []Component     `json:"components"`
		AcquisitionDate  string          `json:"acquisition_date"`
		Width            int             `json:"width"`  // pixels
		Height           int             `json:"height"` // pixels
		CreationDate     string          `json:"creation_date"`
		Sensor           map[string]any  `json:"sensor"`
		Lens             map[string]any  `json:"lens"`
		CameraParameters json.RawMessage `json:"camera_parameters"`
		Panel            map[string]any  `json:"reflectance_calibration_panel"`
		Bands            []any           `json:"bands"`  // of a raster
		Offset           []float64       `json:"offset"` // of a mesh
		Source           struct {
			Name string `json:"name"`
		} `json:"source"`
		Ingestion struct {
			Status string `json:"status"`
		} `json:"ingestion"`
		Tiles struct {
			Format string `json:"format"`
		} `json:"tiles"`
	}
	// Component is a named file slot of a dataset.
	Component struct {
		Name       string `json:"name"`
		Collection struct {
			ID string `json:"id"`
		} `json:"collection"`
	}
	// Analytic is an algorithm one can order.
	Analytic struct {
		Record
		Name         string          `json:"name"`
		Version      string          `json:"version"`
		Company      string          `json:"company"`
		DisplayName  string          `json:"display_name"`
		Description  string          `json:"description"`
		Inputs       json.RawMessage `json:"inputs"`
		Parameters   json.RawMessage `json:"parameters"`
		Credentials  json.RawMessage `json:"credentials"`
		Deliverables json.RawMessage `json:"deliverables"`
		Outputs      json.RawMessage `json:"outputs"`
		Tags         []string        `json:"tags"`
		Groups       []string        `json:"groups"`
		Algorithm    struct {
			DockerImage           string `json:"docker_image"`
			DockerCredentialsName string `json:"docker_credentials_name"`
		} `json:"algorithm"`
		Instance struct {
			Type   string `json:"type"`
			Volume int    `json:"volume"` // gigabytes
		} `json:"instance"`
	}
	// Product is an ordered analytic.
	Product struct {
		Record
		Analytic json.RawMessage `json:"analytic"` // id, or an object
		Project  string          `json:"project"`
		Mission  string          `json:"mission"`
		Status   string          `json:"status"`
	}
	// Company owns projects, datasets and analytics.
	Company struct {
		Record
		Name string `json:"name"`
	}
	// User is a person or program that uses the platform.
	User struct {
		Record
		Username    string   `json:"username"`
		Email       string   `json:"email"`
		FirstName   string   `json:"firstName"`
		LastName    string   `json:"lastName"`
		DisplayName string   `json:"displayName"`
		Company     string   `json:"company"`
		Companies   []string `json:"companies"`
		CompanyRole string   `json:"companyRole"`
		Profile     string   `json:"profile"`
		Status      string   `json:"status"`
		Language    string   `json:"language"`
		Country     string   `json:"country"`
		Created     string   `json:"created"`

		DateFormat     string          `json:"dateFormat"`
		Units          json.RawMessage `json:"units"`
		MarketingEmail bool            `json:"marketingEmail"`
		Segmentation   json.RawMessage `json:"segmentation"`
		EULA           struct {
			ApprovalDate string          `json:"approvalDate"`
			Version      json.RawMessage `json:"version"`
		} `json:"eula"`
		Scope struct {
			Projects map[string][]string `json:"projects"` // rights, by project
		} `json:"scope"`
	}
	// ShareToken opens the tiles of datasets.
	ShareToken struct {
		Record
		Token          string          `json:"token"`
		ExpirationDate string          `json:"expiration_date"` // empty when it never expires
		Scope          json.RawMessage `json:"scope"`
	}
	// LogLine is one line of a product's log.
	LogLine struct {
		Timestamp string         `json:"timestamp"`
		Record    map[string]any `json:"record"`            // all other fields of the line
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
	if err := json.Unmarshal(v.JSON, &answer); err != nil || answer.Mission == nil || answer.Flight == nil {
		return fault.Of(&fault.QueryError{}, "the answer does not hold a mission and a flight")
	}
	s.Flight = &Flight{}
	if err := declare.DecodeRecord(answer.Flight, s.Flight); err != nil {
		return err
	}
	return declare.DecodeRecord(answer.Mission, &s.Mission)
}

// Decode reads whether the request was accepted.
func (a *Accepted) Decode(v declare.Value) error {
	var answer struct{ Request string }
	err := json.Unmarshal(v.JSON, &answer)
	*a = Accepted(answer.Request == "accepted")
	return err
}

// History is when and by whom a record was made, changed and deleted. Dates
// are texts, users are ids; what has not happened is empty.
type History struct {
	CreationDate     string `json:"creation_date"`
	CreationUser     string `json:"creation_user"`
	ModificationDate string `json:"modification_date"`
	ModificationUser string `json:"modification_user"`
	DeletionDate     string `json:"deletion_date"`
	DeletionUser     string `json:"deletion_user"`
}
