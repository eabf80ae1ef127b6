package reference

import (
	"slices"
	"strings"

	"transect/client/declare"
	"transect/client/schema"
)

// raises lists the errors of an operation. What it declares says nearly all:
// which checks its arguments go through, and whether anything is sent.
func raises(s *declare.Spec) []Raise {
	list := []Raise{{"ParameterError", "an argument is missing, unknown or of the wrong type; nothing was sent"}}
	for _, p := range s.Params {
		if p.Raises != "" {
			list = append(list, Raise{p.Raises, p.Name + " is none of " + strings.Join(p.Choices, ", ")})
		}
	}
	list = append(list, transferErrors(s)...)
	list = append(list, own[s.FullName()]...)
	if when := queryErrors(s); when != "" {
		list = append(list, Raise{"QueryError", when})
	}
	if s.Missing != "QueryError" && s.ResultKey != "" {
		list = append(list, Raise{s.Missing, "the answer holds no " + s.ResultKey})
	}
	if sends(s) {
		list = append(list,
			Raise{"ResponseError", "the platform refuses: what is named does not exist, is not allowed, or is taken; status says which"},
			Raise{"TokenRenewalError", "the platform refuses the credentials"},
			Raise{"ConnectionError", "the platform cannot be reached; running again may help"})
	}
	return merged(list)
}

func queryErrors(s *declare.Spec) string {
	var when []string
	for _, p := range s.Params {
		if p.Type == "geometry" || p.Type == "drawing" {
			when = append(when, p.Name+" is no valid GeoJSON geometry")
		}
	}
	if len(s.Refused) > 0 {
		when = append(when, "an argument is given that a filter replaces ("+strings.Join(s.Refused, ", ")+")")
	}
	if s.Shape != declare.ShapeNone && sends(s) {
		when = append(when, "the answer is not of the documented form")
	}
	return strings.Join(when, "; ")
}

// transferErrors are those of operations that read or write local files.
func transferErrors(s *declare.Spec) []Raise {
	files := slices.ContainsFunc(s.Params, func(p schema.Param) bool { return strings.Contains(string(p.Type), "path") })
	switch {
	case !files:
		return nil
	case s.Effect != declare.Read:
		return []Raise{{"UploadError", "a file cannot be read, is empty, changes on the way, or arrives with another checksum"}}
	}
	return []Raise{
		{"FileExistsError", "the file exists and overwrite is not true"},
		{"FileError", "the file cannot be written"},
		{"DownloadError", "the file arrives with another checksum, or the transfer breaks off"},
	}
}

// sends tells whether an operation asks the platform anything. Some only exist
// to say what took their place.
func sends(s *declare.Spec) bool {
	if !s.Composed || len(s.Routes) > 0 || s.Shape != declare.ShapeNone {
		return true
	}
	return slices.ContainsFunc(s.Params, func(p schema.Param) bool { return p.In != schema.NotSent })
}

// own are the errors that operations raise from code of their own, beyond what
// their declarations tell.
var own = map[string][]Raise{
	"analytic_configurations.update": {{"QueryError", "nothing to change is given, versions comes with value, or value without analytic_version_range"}},
	"annotations.create":             {{"ValueError", "a colour or an opacity is out of range"}},
	"datasets.create_file_dataset":   {{"TypeError", "a component is neither a name nor a table"}},
	"datasets.share_tiles": {
		{"UnsupportedResourceError", "a dataset is not ingested, has no tiles, or is not of the same kind as the others"},
		{"RuntimeError", "there are too many rasters for one address, or the datasets belong to several companies"},
	},
	"datasets.upload_file":   {{"ValueError", "chunk_size is out of range"}},
	"flights.create":         {{"UnsupportedOperationError", "always: missions.create makes flights"}},
	"missions.create":        {{"QueryError", "with images, coordinates and geometry are both given, or neither"}},
	"missions.create_survey": {{"QueryError", "coordinates and geometry are both given, or neither"}},
	"share_tokens.create":    {{"RuntimeError", "the datasets belong to several companies"}},
}

// merged makes one entry of an error that has several reasons.
func merged(list []Raise) []Raise {
	var out []Raise
	for _, r := range list {
		i := slices.IndexFunc(out, func(o Raise) bool { return o.Name == r.Name })
		if i < 0 {
			out = append(out, r)
		} else {
			out[i].When += "; " + r.When
		}
	}
	return out
}
