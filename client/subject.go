package client

import (
	"encoding/json"

	"transect/client/declare"
	"transect/client/fault"
)

// Subject is what a tag or a comment is about, with its type. A photo is known
// by its flight and itself.
type Subject struct {
	Target ID `arg:"target" in:"none" doc:"what it is about: a resource of that type"`
	Flight ID `arg:"flight" in:"none" doc:"flight of the photo; with type photo"`
}

// check requires both parts of a photo.
func (s Subject) check(kind string) error {
	switch {
	case kind != "photo":
		return nil
	case s.Target == "":
		return fault.Of(&fault.ParameterError{},
			"argument target is missing: type photo needs the photo as target, and its flight")
	case s.Flight == "":
		return fault.Of(&fault.ParameterError{}, "argument flight is missing: type photo needs the flight the photo is of")
	}
	return nil
}

// aim writes the target into a body.
func (s Subject) aim(body map[string]any, kind string) {
	target := map[string]any{"type": kind}
	switch {
	case kind == "photo":
		target["id"], target["subId"] = string(s.Flight), string(s.Target)
	case s.Target != "":
		target["id"] = string(s.Target)
	}
	body["target"] = target
}

// SubjectQuery are the arguments of searches for tags and comments.
type SubjectQuery struct {
	Project ID     `arg:"project,req" in:"query" wire:"project_id" doc:"project to search"`
	Type    string `arg:"type" in:"query" wire:"target_type" omit:"falsy" choices:"project|annotation|flight|photo|dataset|feature|gcp|task" doc:"kind of object they are about"`
	Target  ID     `arg:"target" in:"query" wire:"target_id" doc:"what they are about; for a photo together with flight"`
	Flight  ID     `arg:"flight" in:"query" wire:"target_id" doc:"flight of the photo"`
	Extra
}

// Validate requires both parts of a photo, or none for all photos.
func (q SubjectQuery) Validate() error {
	if q.Target == "" && q.Flight == "" {
		return nil
	}
	return Subject{q.Target, q.Flight}.check(q.Type)
}

// Shape names the photo: with a flight, target_id is the flight.
func (q SubjectQuery) Shape(query map[string]any) error {
	if q.Flight != "" && q.Target != "" {
		query["target_subid"] = string(q.Target)
	}
	return nil
}

// wording is what the entries of tags or comments are called on the wire: the
// answer's list of groups, the list in a group, and the names of fields.
type wording struct {
	groups, entries string
	fields          map[string]string // wire name to documented name
	users           map[string]string // user object to the field its id becomes
}

func (w wording) broken(what string) error {
	return fault.Of(&fault.QueryError{}, "the answer holds no %s", what)
}

// one reads the answer of a creation, {key: entry}.
func (w wording) one(body []byte, key string) ([]byte, error) {
	var answer map[string]any
	_ = json.Unmarshal(body, &answer) // then it holds none
	entry, ok := answer[key].(map[string]any)
	if !ok {
		return nil, w.broken(key)
	}
	return json.Marshal(w.entry(entry))
}

// all reads the answer of a search, groups of entries about one thing, as a
// flat list: each entry with what its group is about and the project asked for.
func (w wording) all(body []byte, project ID) ([]byte, error) {
	var answer map[string]json.RawMessage
	var groups []map[string]json.RawMessage
	if json.Unmarshal(body, &answer) != nil || json.Unmarshal(answer[w.groups], &groups) != nil {
		return nil, w.broken(w.groups)
	}
	list := []map[string]any{}
	for _, group := range groups {
		var entries []map[string]any
		if group[w.entries] != nil && json.Unmarshal(group[w.entries], &entries) != nil {
			return nil, w.broken("list of " + w.entries)
		}
		for _, entry := range entries {
			var target map[string]any // of its own: entry takes it apart
			if json.Unmarshal(group["_id"], &target) == nil && target != nil {
				entry["target"] = target
			}
			entry["project_id"] = string(project)
			list = append(list, w.entry(entry))
		}
	}
	return json.Marshal(list)
}

// entry renames the fields of an entry to their documented names. Those without
// another name stay, and those that have theirs already.
func (w wording) entry(fields map[string]any) map[string]any {
	target, described := fields["target"].(map[string]any)
	if described {
		delete(fields, "target")
	}
	for wire, name := range w.fields {
		move(fields, wire, fields, name)
	}
	for object, name := range w.users {
		if user, ok := fields[object].(map[string]any); ok {
			move(user, "id", fields, name)
			if len(user) == 0 {
				delete(fields, object)
			}
		}
	}
	move(target, "type", fields, "type")
	if _, photo := target["subId"]; photo {
		move(target, "id", fields, "flight")
		move(target, "subId", fields, "target")
	} else {
		move(target, "id", fields, "target")
	}
	return fields
}

func move(from map[string]any, name string, to map[string]any, as string) {
	if v, ok := from[name]; ok {
		delete(from, name)
		to[as] = v
	}
}

// cursorOver goes through records that one answer held.
func cursorOver[T interface{ JSON() []byte }](records []T, err error) (*Cursor[T], error) {
	all := make([][]byte, len(records))
	for i, r := range records {
		all[i] = r.JSON()
	}
	return &Cursor[T]{Stream: declare.NewStream(all, nil, nil)}, err
}
