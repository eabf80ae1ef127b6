package client

import (
	"cmp"
	"time"

	"transect/client/declare"
	"transect/client/fault"
)

// nest checks a table of a known form inside an argument, as the arguments of
// a call are checked, and puts what travels in its place.
func nest[In any](body map[string]any, key string, table Object) (err error) {
	if table != nil {
		body[key], err = declare.Body[In](key, table)
	}
	return err
}

// nestAll does the same for a list of such tables.
func nestAll[In any](body map[string]any, key string, tables []Object) (err error) {
	if tables != nil {
		body[key], err = declare.Bodies[In](key, tables)
	}
	return err
}

// Tables of a known form that several arguments take.
type (
	// Quantity is a measured value.
	Quantity struct {
		Value *float64 `arg:"value,req" doc:"the number"`
		Unit  string   `arg:"unit,req" doc:"its unit, such as m/s"`
	}
	// Weight is a quantity whose units are few.
	Weight struct {
		Value *float64 `arg:"value,req" doc:"the number"`
		Unit  string   `arg:"unit,req" choices:"g|kg" doc:"its unit"`
	}
	// QuantityRange is a lowest and a highest quantity.
	QuantityRange struct {
		Min Object `arg:"min" doc:"lowest, {value, unit}"`
		Max Object `arg:"max" doc:"highest, {value, unit}"`
	}
	// DateRange is a period of time.
	DateRange struct {
		StartDate Date `arg:"start_date" doc:"when it starts"`
		EndDate   Date `arg:"end_date" doc:"when it ends"`
	}
	// Overlap is how much neighbouring images share.
	Overlap struct {
		Forward *float64 `arg:"forward" doc:"with the next image of the line"`
		Lateral *float64 `arg:"lateral" doc:"with the images of the next line"`
	}
	// Band is a part of the spectrum a sensor sees.
	Band struct {
		Name                 string   `arg:"name" doc:"name of the band"`
		FullWidthHalfMaximum *float64 `arg:"full_width_half_maximum" doc:"width in nanometres where sensitivity is half its peak"`
		CentralWavelength    *float64 `arg:"central_wavelength" doc:"wavelength of its centre in nanometres"`
	}
)

// Shape checks both ends.
func (in QuantityRange) Shape(body map[string]any) error {
	return cmp.Or(nest[Quantity](body, "min", in.Min), nest[Quantity](body, "max", in.Max))
}

// Validate refuses a period that ends before it starts.
func (in DateRange) Validate() error {
	start, end := moment(in.StartDate), moment(in.EndDate)
	if !start.IsZero() && !end.IsZero() && end.Before(start) {
		return fault.Of(&fault.ParameterError{}, "end_date %s is before start_date %s", in.EndDate, in.StartDate)
	}
	return nil
}

// dateForms are the texts a date may be given as, by what they end in.
var dateForms = []string{time.DateOnly, time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05",
	"2006-01-02T15:04Z07:00", "2006-01-02T15:04Z0700", "2006-01-02T15:04"}

// moment reads a date; without a zone it is taken as UTC.
func moment(d Date) time.Time {
	for _, form := range dateForms {
		if t, err := time.Parse(form, string(d)); err == nil {
			return t
		}
	}
	return time.Time{}
}
