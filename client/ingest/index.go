package ingest

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"path"
	"slices"
	"strconv"

	"transect/client"
	"transect/client/fault"
	"transect/client/internal/reconcile"
	"transect/client/internal/tempfile"
)

// index holds the datasets of the target as of the start of the run: the records in a temporary
// file, in memory a sorted hash index of 16 to 24 bytes per dataset. It must be closed.
type index struct {
	seed    maphash.Seed
	records tempfile.Records
	// slots hold the upper 28 bits of a hash and the offset of a record. A record
	// that is not an image has a second slot, by base name and size; a complete one
	// has a slot by content as well.
	slots []uint64
	count int
}

const (
	pageSize   = 1000
	offsetBits = 36
)

// filter selects the datasets of the target. A run into a project does not include datasets of its
// missions, nor vice versa.
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

// contains reports whether a dataset belongs to the target.
func (t Target) contains(d client.Dataset) bool {
	switch {
	case t.Mission != "":
		return d.Mission == t.Mission
	case t.Project != "":
		return d.Project == t.Project && d.Mission == ""
	}
	return d.Company == t.Company && d.Project == ""
}

// search visits the datasets that a filter selects, in order of their IDs, with recordFields and
// more fields. The filter's _id, if any, is a map of operators.
func search(ctx context.Context, c *client.Client, filter client.Filter, visit func(client.Dataset),
	fields ...any) error {
	limit := pageSize
	for {
		page, err := c.Datasets.Search.Page(ctx, client.DatasetQuery{Query: client.Query{Filter: filter, Limit: &limit,
			Sort: client.Sort{{Attribute: "_id", Direction: 1}}, Fields: client.Object{"include": slices.Concat(recordFields,
				fields)}}})
		if err != nil {
			return err
		}
		for _, d := range page.Results {
			visit(d)
		}
		if len(page.Results) < limit {
			return nil
		}
		id, _ := filter["_id"].(map[string]any)
		if id == nil {
			id = map[string]any{}
			filter["_id"] = id
		}
		last := page.Results[len(page.Results)-1].ID
		if id["$gt"] == last {
			return fault.Hinted(fault.Of(&fault.QueryError{}, "the platform lists the same datasets again after %s", last),
				"it ignores the filter by _id: check whether a proxy or another server answers in its place")
		}
		id["$gt"] = last
	}
}

// load reads the datasets of a target into a temporary file in dir.
func load(ctx context.Context, c *client.Client, t Target, dir string) (*index, error) {
	ix := &index{seed: maphash.MakeSeed()}
	ix.records.Dir = dir
	if err := search(ctx, c, t.filter(), ix.add); err != nil {
		ix.close()
		return nil, err
	}
	slices.Sort(ix.slots)
	return ix, nil
}

func (ix *index) close() {
	if ix != nil {
		ix.records.Close()
	}
}

func (ix *index) add(d client.Dataset) {
	r := recordOf(d)
	record, err := json.Marshal(r)
	if err != nil {
		return // cannot happen: it has only texts and numbers
	}
	offset := ix.records.Add(record)
	ix.count++
	ix.addSlot(reconcile.Identity(d.Type, r.Name), offset)
	if d.Type != "image" && r.Key != "" && r.Complete() {
		ix.addSlot(locationIdentity(d.Type, r.Name, r.Size), offset)
	}
	if r.Content != "" && r.Complete() {
		ix.addSlot(r.Content, offset)
	}
}

func (ix *index) addSlot(identity string, offset int64) {
	if n := len(ix.slots); n == cap(ix.slots) && n > pageSize {
		ix.slots = slices.Grow(ix.slots, n/8) // append would double the capacity
	}
	ix.slots = append(ix.slots, ix.prefix(identity)|uint64(offset))
}

// prefix returns a hash with low bits free for an offset.
func (ix *index) prefix(identity string) uint64 {
	return maphash.String(ix.seed, identity) >> offsetBits << offsetBits
}

// locationIdentity returns the key to look up relocated files by.
func locationIdentity(kind, name string, size int64) string {
	return kind + "\x00" + path.Base(name) + "\x00" + strconv.FormatInt(size, 10)
}

// find returns at most so many records with a slot of an identity, in order of dataset IDs.
// Collisions may be among them.
func (ix *index) find(identity string, most int) (list []reconcile.Dataset, err error) {
	prefix := ix.prefix(identity)
	i, _ := slices.BinarySearch(ix.slots, prefix)
	for ; i < len(ix.slots) && ix.slots[i]>>offsetBits<<offsetBits == prefix && len(list) < most; i++ {
		d, err := ix.at(int64(ix.slots[i] - prefix))
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

func (ix *index) at(offset int64) (d reconcile.Dataset, err error) {
	record, err := ix.records.Get(offset)
	if err == nil {
		err = json.Unmarshal(record, &d)
	}
	if err != nil {
		err = fault.Of(&fault.FileError{}, "cannot read the list of datasets back from a temporary file: %w", err)
	}
	return d, err
}

// byName returns the datasets with the kind and name of an item.
func (ix *index) byName(kind, name string) ([]reconcile.Dataset, error) {
	identity := reconcile.Identity(kind, name)
	list, err := ix.find(identity, ix.count)
	return slices.DeleteFunc(list,
		func(d reconcile.Dataset) bool { return reconcile.Identity(kind, d.Name) != identity }), err
}

// maxRelocated is how many datasets of one base name and size are examined. If there are more, like
// tiles of a map, relocated files are not recognised.
const maxRelocated = 200

// relocated returns the complete datasets of a kind, base name and size.
func (ix *index) relocated(kind, name string, size int64) ([]reconcile.Dataset, error) {
	list, err := ix.find(locationIdentity(kind, name, size), maxRelocated+1)
	if len(list) > maxRelocated {
		list = nil
	}
	return list, err
}

// same returns the complete datasets with a hash of content.
func (ix *index) same(content string) ([]reconcile.Dataset, error) {
	list, err := ix.find(content, maxRelocated)
	return slices.DeleteFunc(list, func(d reconcile.Dataset) bool { return d.Content != content }), err
}

// all yields the records in order of dataset IDs, and stops at an error.
func (ix *index) all(yield func(reconcile.Dataset, error) bool) {
	offsets := make([]int64, 0, len(ix.slots))
	for _, slot := range ix.slots {
		offsets = append(offsets, int64(slot&(1<<offsetBits-1)))
	}
	slices.Sort(offsets)
	for _, offset := range slices.Compact(offsets) {
		if d, err := ix.at(offset); !yield(d, err) || err != nil {
			return
		}
	}
}
