package client

import (
	"time"

	"transect/client/fault"
)

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
		Min *Quantity `arg:"min" doc:"lowest, {value, unit}"`
		Max *Quantity `arg:"max" doc:"highest, {value, unit}"`
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
