package web

import (
	"cmp"

	"transect/client/human"

	"github.com/tidwall/gjson"
)

// ingestionStep is a line of what became of a dataset.
type ingestionStep struct {
	What, State, When, Message string
	Bad                        bool // the message is an error
}

// ingestionSteps is what the platform knows of a dataset's way: when it was created
// and its files arrived, what became of its ingestion, tiles and preview, with what the
// platform said of them.
func ingestionSteps(record []byte) (steps []ingestionStep) {
	d := gjson.ParseBytes(record)
	add := func(what, state, when string, said gjson.Result) {
		step := ingestionStep{What: what, State: state, When: when}
		if step.Message = said.Get("error.message").Str; step.Message != "" {
			step.Bad = true
		} else {
			step.Message = cmp.Or(said.Get("warning.message").Str, said.Get("message").Str)
		}
		steps = append(steps, step)
	}
	add("Created", "", d.Get("creation_date").Str, gjson.Result{})
	arrived, parts := 0, d.Get("components").Array()
	for _, part := range parts {
		if part.Get("status").Str == "completed" {
			arrived++
		}
	}
	if len(parts) > 0 {
		add("Files", human.Number(arrived)+" of "+human.Number(len(parts))+" uploaded", d.Get("modification_date").Str,
			gjson.Result{})
	}
	for _, s := range [][2]string{{"Ingestion", "ingestion"}, {"Tiles", "tiles"}, {"Preview", "preview"}} {
		if said := d.Get(s[1]); said.Get("status").Str != "" {
			add(s[0], said.Get("status").Str, said.Get("date").Str, said)
		}
	}
	if deleted := d.Get("deletion_date").Str; deleted != "" {
		add("Deleted", "", deleted, gjson.Result{})
	}
	return steps
}
