package main

import (
	"bytes"
	"strings"
	"testing"

	"transect/client"
	"transect/platform"
)

func TestList(t *testing.T) {
	ctx := t.Context()
	p, err := platform.Open(ctx, platform.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c, err := p.Connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"North quarry", "South quarry"} {
		project, err := c.Projects.Create(ctx, client.CreateProject{Name: name, Company: client.ID(p.Credentials().Company)})
		if err != nil {
			t.Fatal(err)
		}
		for _, month := range []string{"May", "June"} {
			if _, err := c.Missions.Create(ctx, client.CreateMissionOrSurvey{Project: client.ID(project.ID), Name: month + " of " + name,
				SurveyDate: client.Date("2026-05-04")}); err != nil {
				t.Fatal(err)
			}
		}
	}
	var out bytes.Buffer
	if err := list(ctx, &out, c, "North quarry"); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if strings.Count(text, "\n") != 2 || !strings.Contains(text, "\tMay of North quarry\n") || !strings.Contains(text, "\tJune of North quarry\n") {
		t.Errorf("%q", text)
	}
}
