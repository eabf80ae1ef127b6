// Package analytic holds the analytics that the local platform runs itself: flight_report, in three versions,
// and rehearsal, for trying out scripts.
//
// The platform seeds its database with the Definition of each Program, checks the inputs and parameters of an
// order with Check, and runs the Program in a background job. A program gets an Order with functions to list
// images and to write log lines, and returns Deliverables, which the platform stores as datasets; it has no
// access to the database and the blobs. Begin with Program and flight_report.go.
package analytic

import (
	"context"
	"errors"
	"os"
)

// Program is an analytic that can be run.
type Program struct {
	Definition Definition
	// Run does the work. An error ends the product as failed, or as rejected
	// when it wraps ErrRejected.
	Run func(context.Context, *Order) ([]Deliverable, error)
}

// Definition is the public description of an analytic.
type Definition struct {
	Name         string   `json:"name"`
	Version      string   `json:"version"`
	DisplayName  string   `json:"display_name"`
	Description  string   `json:"description"`
	Inputs       []Slot   `json:"inputs"`
	Parameters   []Slot   `json:"parameters"`
	Deliverables []Slot   `json:"deliverables"`
	Tags         []string `json:"tags"`
	Groups       []string `json:"groups"`
}

// Slot is one named input, parameter or deliverable.
type Slot struct {
	Name        string         `json:"name"`
	DisplayName string         `json:"display_name"`
	Description string         `json:"description"`
	Required    bool           `json:"required"`
	Scheme      map[string]any `json:"scheme,omitempty"` // JSON Schema of the value
	Source      *Source        `json:"source,omitempty"`
}

// Source names the service and the kind of resource that a slot's value comes from.
type Source struct {
	Service  string         `json:"service"`
	Resource string         `json:"resource"`
	Scheme   map[string]any `json:"scheme,omitempty"`
}

// Order holds the inputs of a program and the functions it may call.
type Order struct {
	Inputs     map[string]any
	Parameters map[string]any
	// Wanted reports whether an optional deliverable was ordered.
	Wanted func(name string) bool
	// Images lists the images of a mission, in the order of their creation.
	Images func(ctx context.Context, mission string) ([]Image, error)
	// Log writes one log line. It fails when the order was cancelled.
	Log func(level, message string, fields map[string]any) error
}

// Image is one uploaded image.
type Image struct {
	Dataset  string // identifier
	Name     string
	Filename string
	Size     int64
	Checksum string // MD5 in hexadecimal
	Open     func() (*os.File, error)
}

// Deliverable is a dataset that a program produced.
type Deliverable struct {
	Name       string // of its slot
	Title      string // the dataset's name
	Type       string // the dataset's type
	Geometry   map[string]any
	Properties map[string]any
	Files      []File
}

// File is one component of a deliverable.
type File struct {
	Component string
	Filename  string
	Content   []byte
}

// ErrRejected ends a product as rejected instead of failed: its inputs cannot be processed.
var ErrRejected = errors.New("rejected")

// BuiltIn lists the programs, one for each version of an analytic.
func BuiltIn() []Program {
	return append(flightReports(), rehearsal())
}

// Find returns a program.
func Find(name, version string) (Program, bool) {
	for _, p := range BuiltIn() {
		if p.Definition.Name == name && p.Definition.Version == version {
			return p, true
		}
	}
	return Program{}, false
}
