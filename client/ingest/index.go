package ingest

import (
	"context"
	"encoding/hex"
	"hash/maphash"

	"github.com/tidwall/gjson"

	"transect/client"
	"transect/client/fault"
	"transect/client/tempfile"
)

// index holds what is at the target: the records in a temporary file once they
// are many, in memory where to find them. It does not change once it is loaded,
// and must be closed.
type index struct {
	seed   maphash.Seed
	list   tempfile.Column[held] // in the order of identifiers
	named  places                // by identity
	moved  places                // those that may be of another folder, by what they are found by
	others labels                // identifiers of another form
	runs   labels                // that made datasets
}

const indexPage = 1000

// filter finds the datasets of the target. Those of a mission are no business
// of a run that brings files into its project, and the other way round.
func (t Target) filter() client.Filter {
	is := func(v string) map[string]any { return map[string]any{"$eq": v} }
	none := map[string]any{"$exists": false}
	switch {
	case t.Mission != "":
		return client.Filter{"mission": is(t.Mission)}
	case t.Project != "":
		return client.Filter{"project": is(t.Project), "mission": none}
	}
	return client.Filter{"company": is(t.Company), "project": none}
}

// heldFields are what is asked of each dataset.
var heldFields = client.Object{"include": []any{"name", "type", "acquisition_date", "components", "properties." + noteName, "ingestion"}}

// load reads the target, once, in the order of identifiers. Its temporary file
// lies in dir.
func load(ctx context.Context, c *client.Client, t Target, dir string) (*index, error) {
	ix := &index{seed: maphash.MakeSeed()}
	ix.list.Dir = dir
	if err := ix.read(ctx, c, t); err != nil {
		ix.close()
		return nil, err
	}
	ix.named.sort()
	ix.moved.sort()
	return ix, nil
}

func (ix *index) read(ctx context.Context, c *client.Client, t Target) error {
	limit, last := indexPage, ""
	for {
		filter := t.filter()
		if last != "" {
			filter["_id"] = map[string]any{"$gt": last}
		}
		page, err := c.Datasets.Search.Page(ctx, client.DatasetQuery{Query: client.Query{
			Filter: filter, Limit: &limit, Fields: heldFields, Sort: client.Sort{{Attribute: "_id", Direction: 1}}}})
		if err != nil {
			return err
		}
		if last == "" && page.Total > int64(limit) {
			ix.named = make(places, 0, page.Total+page.Total/64)
		}
		for _, d := range page.Results {
			ix.add(d.ID, d.JSON())
		}
		if len(page.Results) < limit {
			return nil
		}
		last = page.Results[len(page.Results)-1].ID
	}
}

// close removes the temporary file.
func (ix *index) close() {
	if ix != nil {
		ix.list.Close()
	}
}

func (ix *index) hash(identity string) uint64 { return maphash.String(ix.seed, identity) }

func (ix *index) add(id string, record []byte) {
	fields := gjson.GetManyBytes(record, "name", "type", "acquisition_date", "components", "properties."+noteName)
	name, kind, noted := fields[0].String(), fields[1].String(), fields[4]
	h := held{taken: parsed(fields[2].String()).UnixMilli()}
	if fields[2].String() == "" {
		h.taken = 0
	}
	if noted.IsObject() && noted.Get("key").String() != "" {
		name = noted.Get("file").String()
		h.key, h.size = short(noted.Get("key").String()), noted.Get("size").Int()
		h.modified = parsed(noted.Get("modified").String()).UnixMilli()
		h.run = ix.runs.number(noted.Get("run").String())
		h.replaces = ix.datasetID(noted.Get("replaces").String())
	}
	h.name, h.full, h.id, h.number = ix.hash(identity(kind, name)), ix.hash(name), ix.datasetID(id), int32(ix.list.Len())
	h.components(fields[3])
	ix.named.add(h.name, ix.list.Len())
	if kind != "image" && h.key != 0 && h.state&complete != 0 {
		h.look = ix.look(kind, name, h.size)
		ix.moved.add(h.look, ix.list.Len())
	}
	ix.list.Add(h)
}

func (ix *index) datasetID(text string) (id datasetID) {
	if raw, err := hex.DecodeString(text); err == nil && len(raw) == len(id.raw) && hex.EncodeToString(raw) == text {
		copy(id.raw[:], raw)
		return id
	}
	id.other = ix.others.number(text)
	return id
}

// dataset is the identifier.
func (ix *index) dataset(h *held) string {
	if h.id.other > 0 {
		return ix.others.text(h.id.other)
	}
	return hex.EncodeToString(h.id.raw[:])
}

// replaced is the dataset whose place another one takes, when it is still
// there: among those of the same identity.
func (ix *index) replaced(h *held, candidates []held) string {
	for i := range candidates {
		if h.replaces != (datasetID{}) && candidates[i].id == h.replaces {
			return ix.dataset(&candidates[i])
		}
	}
	return ""
}

// at gives a record.
func (ix *index) at(number int) (held, error) {
	h, err := ix.list.Get(number)
	if err != nil {
		err = fault.Of(&fault.FileError{}, "cannot read back, from a temporary file, what the platform holds: %w", err)
	}
	return h, err
}

// of gives the datasets of one identity, in the order of identifiers.
func (ix *index) of(identity string) (list []held, err error) {
	name := ix.hash(identity)
	for number := range ix.named.all(name) {
		h, err := ix.at(number)
		if err != nil {
			return nil, err
		}
		if h.name == name {
			list = append(list, h)
		}
	}
	return list, nil
}
