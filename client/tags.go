package client

import (
	"context"
	"encoding/json"
)

// Tags are words attached to things of a project.
type Tags struct {
	Create          Op[CreateTag, Tag]             `create:"tags" doc:"Attach a tag to something of a project."`
	Delete          Op[TagOnly, None]              `delete:"tags/{tag}" method:"DELETE" extra:"no" doc:"Delete a tag."`
	Search          Op[TagQuery, []Tag]            `read:"tags" method:"GET" doc:"Find the tags of a project, or those of one thing in it."`
	SearchGenerator Op[SubjectQuery, *Cursor[Tag]] `read:"" composed:"yes" returns:"iterator of tags" doc:"Go through the tags of a project, or those of one thing in it."`
}

// Inputs of the tag operations.
type (
	CreateTag struct {
		Name    string `arg:"name,req,pos" wire:"text" doc:"the tag"`
		Project ID     `arg:"project,req" wire:"project_id" doc:"project it belongs to"`
		Type    string `arg:"type,req" wire:"target.type" choices:"project|annotation|flight|photo|dataset|feature|gcp|task" doc:"kind of thing it is attached to"`
		Subject
		Extra
	}
	TagOnly struct {
		Tag ID `arg:"tag,req,pos" in:"path" doc:"tag"`
	}
	TagQuery struct{ SubjectQuery }
)

// tagWording is how the platform words tags.
var tagWording = wording{
	groups: "tagGroups", entries: "tags",
	fields: map[string]string{"text": "name", "project_id": "project", "date": "creation_date", "deleted": "deletion_date"},
	users:  map[string]string{"author": "creation_user", "deleted_by": "deletion_user"},
}

// Validate wants both parts of a photo.
func (in CreateTag) Validate() error { return in.check(in.Type) }

// Shape writes what the tag is attached to.
func (in CreateTag) Shape(body map[string]any) error {
	in.aim(body, in.Type)
	return nil
}

// Answer reads the tag in its documented form.
func (CreateTag) Answer(body []byte) ([]byte, error) { return tagWording.one(body, "tag") }

// Answer reads the tags of all groups as one list.
func (in TagQuery) Answer(body []byte) ([]byte, error) { return tagWording.all(body, in.Project) }

func (c *Client) eachTag(ctx context.Context, in SubjectQuery) (*Cursor[Tag], error) {
	return cursorOver(c.Tags.Search(ctx, TagQuery{in}))
}

// Tag is a word attached to something of a project.
type Tag struct {
	Record  `doc:"Word attached to something of a project."`
	Name    string          `json:"name" doc:"the tag"`
	Project string          `json:"project" type:"id" doc:"project it belongs to"`
	Type    string          `json:"type" choices:"project|annotation|flight|photo|dataset|feature|gcp|task" doc:"kind of thing it is attached to"`
	Target  string          `json:"target" type:"id" doc:"what it is attached to; absent for the project itself"`
	Flight  string          `json:"flight" type:"id" doc:"flight of a photo"`
	Company string          `json:"company" type:"id" doc:"company of the project"`
	Author  json.RawMessage `json:"author" type:"table" doc:"who made it: {displayName}"`
	History
}
