package client

import (
	"context"
	"encoding/json"

	"transect/client/fault"
)

// Comments are people's comments on things of a project.
type Comments struct {
	Create          Op[CreateComment, Comment]         `create:"comments" unknown:"list" doc:"Comment on an object of a project."`
	MarkAsRead      Op[MarkCommentsAsRead, None]       `set:"comments/mark-as-read" doc:"Mark the comments of a project, or those about one object in it, as read by the current user."`
	Search          Op[CommentQuery, []Comment]        `read:"comments" method:"GET" doc:"Find the comments of a project, or those about one object in it."`
	SearchGenerator Op[SubjectQuery, *Cursor[Comment]] `read:"" composed:"yes" returns:"iterator of comments" doc:"Go through the comments of a project, or those about one object in it."`
}

// Inputs of the comment operations.
type (
	CreateComment struct {
		Text    string `arg:"text,req,pos" doc:"the comment"`
		Project ID     `arg:"project,req" wire:"project_id" doc:"project it belongs to"`
		Type    string `arg:"type,req" wire:"target.type" choices:"project|annotation|flight|photo|dataset|feature|gcp|task" doc:"kind of object it is about"`
		Subject
		Extra
	}
	MarkCommentsAsRead struct {
		Project ID     `arg:"project,req" wire:"project_id" doc:"project"`
		Type    string `arg:"type" wire:"target.type" choices:"project|annotation|flight|photo|dataset|feature|gcp|task" doc:"kind of object the comments are about; all of the project when absent"`
		Subject
		Extra
	}
	CommentQuery struct{ SubjectQuery }
)

// commentWording is how the platform words comments.
var commentWording = wording{
	groups: "conversations", entries: "comments",
	fields: map[string]string{"project_id": "project", "date": "creation_date"},
	users:  map[string]string{"author": "creation_user"},
}

// Validate requires both parts of a photo.
func (in CreateComment) Validate() error { return in.check(in.Type) }

// Shape writes what the comment is about.
func (in CreateComment) Shape(body map[string]any) error {
	in.aim(body, in.Type)
	return nil
}

// Answer reads the comment in its documented form.
func (CreateComment) Answer(body []byte) ([]byte, error) { return commentWording.one(body, "comment") }

// Validate requires a type with a target: without one the whole project would be
// marked as read.
func (in MarkCommentsAsRead) Validate() error {
	if in.Type == "" && (in.Target != "" || in.Flight != "") {
		return fault.Hinted(fault.Of(&fault.ParameterError{}, "argument type is missing: target and flight require it"),
			"name the kind of target, such as type = \"dataset\"; without type, target and flight all comments of the project "+
				"are marked")
	}
	return in.check(in.Type)
}

// Shape writes what the comments are about, unless all of the project is meant.
func (in MarkCommentsAsRead) Shape(body map[string]any) error {
	if in.Type != "" {
		in.aim(body, in.Type)
	}
	return nil
}

// Answer reads the comments of all conversations as one list.
func (in CommentQuery) Answer(body []byte) ([]byte, error) {
	return commentWording.all(body, in.Project)
}

func (c *Client) eachComment(ctx context.Context, in SubjectQuery) (*Cursor[Comment], error) {
	return cursorOver(c.Comments.Search(ctx, CommentQuery{in}))
}

// Comment is a person's comment on something of a project.
type Comment struct {
	Record       `doc:"Comment on an object of a project."`
	Text         string          `json:"text" doc:"the comment"`
	Project      string          `json:"project" type:"id" doc:"project it belongs to"`
	Type         string          `json:"type" choices:"project|annotation|flight|photo|dataset|feature|gcp|task" doc:"kind of object it is about"`
	Target       string          `json:"target" type:"id" doc:"what it is about; absent for the project itself"`
	Flight       string          `json:"flight" type:"id" doc:"flight of a photo"`
	Company      string          `json:"company" type:"id" doc:"company of the project"`
	Author       json.RawMessage `json:"author" type:"table" doc:"who made it: {displayName}"`
	CreationDate string          `json:"creation_date" type:"date" doc:"when it was written"`
	CreationUser string          `json:"creation_user" type:"id" doc:"user who wrote it"`
	ReadBy       json.RawMessage `json:"read_by" doc:"users who have read it"`
	Deleted      json.RawMessage `json:"deleted" doc:"when it was deleted"`
	DeletedBy    json.RawMessage `json:"deleted_by" doc:"user who deleted it"`
}

// Tags are words attached to things of a project.
type Tags struct {
	Create          Op[CreateTag, Tag]             `create:"tags" unknown:"list" doc:"Attach a tag to an object of a project."`
	Delete          Op[TagOnly, None]              `delete:"tags/{tag}" method:"DELETE" doc:"Delete a tag."`
	Search          Op[TagQuery, []Tag]            `read:"tags" method:"GET" doc:"Find the tags of a project, or of one object in it."`
	SearchGenerator Op[SubjectQuery, *Cursor[Tag]] `read:"" composed:"yes" returns:"iterator of tags" doc:"Go through the tags of a project, or of one object in it."`
}

// Inputs of the tag operations.
type (
	CreateTag struct {
		Name    string `arg:"name,req,pos" wire:"text" doc:"the tag"`
		Project ID     `arg:"project,req" wire:"project_id" doc:"project it belongs to"`
		Type    string `arg:"type,req" wire:"target.type" choices:"project|annotation|flight|photo|dataset|feature|gcp|task" doc:"kind of object it is attached to"`
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
	fields: map[string]string{"text": "name", "project_id": "project", "date": "creation_date",
		"deleted": "deletion_date"},
	users: map[string]string{"author": "creation_user", "deleted_by": "deletion_user"},
}

// Validate requires both parts of a photo.
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
	Record  `doc:"Tag on an object of a project."`
	Name    string          `json:"name" doc:"the tag"`
	Project string          `json:"project" type:"id" doc:"project it belongs to"`
	Type    string          `json:"type" choices:"project|annotation|flight|photo|dataset|feature|gcp|task" doc:"kind of object it is attached to"`
	Target  string          `json:"target" type:"id" doc:"what it is attached to; absent for the project itself"`
	Flight  string          `json:"flight" type:"id" doc:"flight of a photo"`
	Company string          `json:"company" type:"id" doc:"company of the project"`
	Author  json.RawMessage `json:"author" type:"table" doc:"who made it: {displayName}"`
	History
}
