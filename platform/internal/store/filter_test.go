package store

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func openTest(t testing.TB) *Store {
	t.Helper()
	s, err := Open(context.Background(), filepath.Join(t.TempDir(), "docs.db"), Options{Temporary: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestFilterAgreesWithEvaluator compares the SQL of random filters with a
// direct reading of what the operators mean.
func TestFilterAgreesWithEvaluator(t *testing.T) {
	s := openTest(t)
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		docs := rapid.SliceOfN(documents(), 1, 8).Draw(t, "documents")
		filter := filters(2).Draw(t, "filter")
		var got, want []string
		undo := errors.New("undo")
		err := s.Write(ctx, func(tx *Tx) error {
			ids := &IDs{}
			for i, doc := range docs {
				doc["_id"] = ids.Next(time0.Add(0))
				doc = roundTrip(t, doc)
				if err := tx.Insert("things", doc); err != nil {
					t.Fatalf("document %d: %v", i, err)
				}
				if holds(doc, filter) && (doc["deletion_date"] == nil || speaksOf(filter, "deletion_date")) {
					want = append(want, doc["_id"].(string))
				}
			}
			page, err := tx.Search("things", Query{Filter: filter, Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			for _, raw := range page.Results {
				doc, err := Decode(raw)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, doc["_id"].(string))
			}
			if page.Total != len(got) {
				t.Fatalf("total %d for %d results", page.Total, len(got))
			}
			return undo
		})
		if !errors.Is(err, undo) {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			f, _ := json.Marshal(filter)
			d, _ := json.Marshal(docs)
			t.Fatalf("filter %s\ndocuments %s\nSQL finds %v, evaluator %v", f, d, got, want)
		}
	})
}

func roundTrip(t *rapid.T, doc Doc) Doc {
	body, err := encode(doc)
	if err != nil {
		t.Fatal(err)
	}
	doc, err = Decode(body)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

var (
	words   = []string{"", "a", "B", "ab", "Été", "été", "10", "x%_", `"q'`}
	numbers = []any{0, 1, -1, 2, 1.5, 1e3, 9007199254740993}
)

func scalars() *rapid.Generator[any] {
	return rapid.OneOf(
		rapid.Map(rapid.SampledFrom(words), func(s string) any { return s }),
		rapid.SampledFrom(numbers),
		rapid.SampledFrom([]any{true, false, nil}),
	)
}

func values(depth int) *rapid.Generator[any] {
	if depth == 0 {
		return scalars()
	}
	return rapid.OneOf(
		scalars(),
		rapid.Map(rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[any] { return values(depth - 1) }), 0, 3),
			func(v []any) any { return v }),
		rapid.Map(objects(depth-1), func(d Doc) any { return d }),
	)
}

func objects(depth int) *rapid.Generator[Doc] {
	return rapid.MapOfN(rapid.SampledFrom([]string{"k", "l", "$odd"}), values(depth), 0, 3)
}

func documents() *rapid.Generator[Doc] {
	return rapid.Custom(func(t *rapid.T) Doc {
		doc := objects(3).Draw(t, "body")
		for _, key := range []string{"name", "project", "deletion_date"} {
			if rapid.Bool().Draw(t, key+" given") {
				doc[key] = rapid.SampledFrom(words).Draw(t, key)
			}
		}
		switch rapid.IntRange(0, 2).Draw(t, "status") {
		case 0:
			doc["status"] = "a"
		case 1:
			doc["status"] = Doc{"name": "a"}
		}
		return doc
	})
}

func filters(depth int) *rapid.Generator[Doc] {
	return rapid.Custom(func(t *rapid.T) Doc {
		filter := Doc{}
		keys := []string{"k", "l", "k.k", "k.l", "k.k.l", "name", "project", "status", "status.name", "deletion_date", "_id"}
		for range rapid.IntRange(0, 2).Draw(t, "keys") {
			filter[rapid.SampledFrom(keys).Draw(t, "key")] = asked().Draw(t, "asked")
		}
		if depth > 0 && rapid.Bool().Draw(t, "nested") {
			var list []any
			for _, f := range rapid.SliceOfN(filters(depth-1), 1, 3).Draw(t, "list") {
				list = append(list, f)
			}
			filter[rapid.SampledFrom([]string{"$and", "$or"}).Draw(t, "word")] = list
		}
		return filter
	})
}

// asked draws a plain value or operators.
func asked() *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		if rapid.Bool().Draw(t, "plain") {
			return scalars().Draw(t, "value")
		}
		operators := Doc{}
		for range rapid.IntRange(1, 2).Draw(t, "operators") {
			switch operator := rapid.SampledFrom(Operators).Draw(t, "operator"); operator {
			case "$and", "$or":
				operators["$exists"] = rapid.Bool().Draw(t, "exists")
			case "$in", "$nin":
				operators[operator] = rapid.SliceOfN(scalars(), 0, 3).Draw(t, "list")
			case "$match":
				operators[operator] = rapid.SampledFrom(words).Draw(t, "text")
			case "$exists":
				operators[operator] = rapid.Bool().Draw(t, "exists")
			case "$eq", "$ne":
				operators[operator] = scalars().Draw(t, "value")
			default:
				operators[operator] = rapid.OneOf(rapid.SampledFrom(numbers),
					rapid.Map(rapid.SampledFrom(words), func(s string) any { return s })).Draw(t, "bound")
			}
		}
		return operators
	})
}

func TestFilterRefusals(t *testing.T) {
	s := openTest(t)
	for filter, want := range map[string]string{
		`{"name": {"$eqq": 1}}`:     "filter.name: unknown operator $eqq; did you mean $eq?",
		`{"$nor": []}`:              "filter: unknown operator $nor; did you mean $or?",
		`{"$and": []}`:              "filter.$and: must be a list of at least one filter",
		`{"$or": [1]}`:              "filter.$or[0]: must be an object",
		`{"name": {}}`:              "filter.name: must be a value or an object of operators",
		`{"source": {"name": "x"}}`: "ask for the key inside it (source.name)",
		`{"a": [1]}`:                "use $in",
		`{"a": {"$in": 1}}`:         "filter.a.$in: must be a list",
		`{"a": {"$gt": null}}`:      "filter.a.$gt: must be text or a number",
		`{"a": {"$match": 1}}`:      "filter.a.$match: must be text",
		`{"a": {"$exists": 1}}`:     "filter.a.$exists: must be true or false",
		`{"a..b": 1}`:               "filter.a..b",
		`{"a\"b": 1}`:               "is not a key",
		strings.Repeat(`{"$and":[`, 40) + `{}` + strings.Repeat(`]}`, 40): "nested too deep",
	} {
		doc, err := Decode([]byte(filter))
		if err != nil {
			t.Fatal(err)
		}
		err = s.Read(context.Background(), func(tx *Tx) error {
			_, err := tx.Search("things", Query{Filter: doc, Limit: 1})
			return err
		})
		var q *QueryError
		if !errors.As(err, &q) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", filter, err, want)
		}
	}
}

// A key inside a list of objects is tested in every element, whichever comes last.
func TestFilterOnElements(t *testing.T) {
	s := openTest(t)
	var found Page
	for filter, want := range map[string]int{
		`{"parts.name": "a"}`: 1, `{"parts.name": "b"}`: 1, `{"parts.name": "c"}`: 0,
		`{"parts.name": {"$ne": "a"}}`: 0, `{"parts.name": {"$nin": ["c"]}}`: 1, `{"parts.name": {"$in": ["c", "a"]}}`: 1,
	} {
		asked, err := Decode([]byte(filter))
		if err != nil {
			t.Fatal(err)
		}
		undo := errors.New("undo")
		if err := s.Write(t.Context(), func(tx *Tx) error {
			doc := Doc{"_id": (&IDs{}).Next(time0), "parts": []any{Doc{"name": "a"}, Doc{"name": "b"}}}
			if err := tx.Insert("things", doc); err != nil {
				return err
			}
			if found, err = tx.Search("things", Query{Filter: asked, Limit: 10}); err != nil {
				return err
			}
			return undo
		}); !errors.Is(err, undo) {
			t.Fatal(err)
		}
		if len(found.Results) != want {
			t.Errorf("%s found %d, not %d", filter, len(found.Results), want)
		}
	}
}
