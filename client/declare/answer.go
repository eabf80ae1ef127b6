package declare

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"transect/client/fault"
)

// result extracts the result from an answer, by the operation's shape.
func (s *Spec) result(body []byte, many bool) (Value, error) {
	switch s.Shape {
	case ShapeNone:
		return Value{Shape: ShapeNone}, nil
	case ShapePage:
		items, total, err := splitPage(body)
		if err != nil {
			return Value{}, err
		}
		for i := range items {
			if items[i], err = s.renamed(items[i]); err != nil {
				return Value{}, err
			}
		}
		return Value{Shape: ShapePage, Items: items, Total: total}, nil
	case ShapeResources:
		items, err := SplitArray(body)
		return Value{Shape: ShapeResources, Items: items}, err
	case ShapeSome:
		if many && len(s.Routes) > 1 {
			items, err := SplitArray(body)
			return Value{Shape: ShapeResources, Items: items}, err
		}
	}
	body = bytes.TrimSpace(body)
	if !jsontext.Value(body).IsValid() {
		return Value{}, notA("JSON object", body, nil)
	}
	if s.ResultKey != "" {
		inner := gjson.GetBytes(body, s.ResultKey)
		if !inner.IsObject() {
			return Value{}, fault.Of(fault.Named(s.Missing), "the answer holds no %s", s.ResultKey)
		}
		body = []byte(inner.Raw)
	}
	shape := s.Shape
	if shape == ShapeSome {
		shape = ShapeResource
	}
	body, err := s.renamed(body)
	return Value{Shape: shape, JSON: body}, err
}

// renamed returns a record with a key renamed to its documented name.
func (s *Spec) renamed(record []byte) ([]byte, error) {
	if s.Rename[0] == "" {
		return record, nil
	}
	old := gjson.GetBytes(record, s.Rename[0])
	if !old.Exists() {
		return record, nil
	}
	record, err := sjson.SetRawBytes(record, s.Rename[1], []byte(old.Raw))
	if err != nil || s.Rename[1] == "_id" {
		return record, err
	}
	return sjson.DeleteBytes(record, s.Rename[0])
}
