package imagery

import (
	"errors"
	"fmt"

	"transect/client/fault"
)

// Cause is why an image cannot be used.
type Cause string

// The causes.
const (
	Unreadable  Cause = "unreadable" // the system refuses to read the file
	Empty       Cause = "empty"      // 0 bytes
	Truncated   Cause = "truncated"  // the end of the file is missing
	Damaged     Cause = "damaged"    // the structure is invalid
	NotImage    Cause = "not an image"
	Unsupported Cause = "unsupported" // an image of another format
	NoPosition  Cause = "no position"
	Duplicate   Cause = "duplicate" // identical to another photo of the survey
)

// hints are the remedies for each cause.
var hints = map[Cause]string{
	Unreadable:  "check that the file exists and its permissions",
	Empty:       "copy the file again from the camera's card",
	Truncated:   "copy the file again from the camera's card",
	Damaged:     "copy the file again from the camera's card, or export it again",
	NotImage:    "move the file out of the folder, or give it its right extension",
	Unsupported: "convert the file to JPEG or TIFF, keeping its metadata",
	NoPosition:  "write the position into the photo's EXIF record, or leave the photo out",
	Duplicate:   "remove one of the two files",
}

// Problem is why an image file is excluded from a survey.
type Problem struct {
	Path    string
	Cause   Cause
	Message string // without the path
	Hint    string // next step
}

// String returns one line.
func (p Problem) String() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

func newProblem(path string, cause Cause, format string, args ...any) Problem {
	return Problem{Path: path, Cause: cause, Message: fmt.Sprintf(format, args...), Hint: hints[cause]}
}

func problemOf(path string, err error) Problem {
	var d *defect
	if !errors.As(err, &d) {
		return newProblem(path, Unreadable, "%v", err)
	}
	return newProblem(path, d.cause, "%v", d)
}

func (p Problem) fault(cause error) error {
	f := fault.Of(&fault.FileError{}, "%s", p.String())
	f.Cause = cause
	f.Hint = p.Hint
	return f
}

// defect is an error with its cause.
type defect struct {
	cause Cause
	err   error
}

func (d *defect) Error() string { return d.err.Error() }
func (d *defect) Unwrap() error { return errors.Unwrap(d.err) }

func defectf(cause Cause, format string, args ...any) error {
	return &defect{cause, fmt.Errorf(format, args...)}
}
