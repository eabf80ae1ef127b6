package ingest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"hash/maphash"
	"slices"
	"strconv"
	"time"

	"github.com/tidwall/gjson"

	"transect/client"
)

// held is a dataset the platform holds, as little of it as a decision needs: a
// million of them are to fit into memory.
type held struct {
	name     uint64 // hash of the identity
	key      uint64 // short key; 0 when nothing is noted
	sum      uint64 // first half of the MD5 of the only file; 0 when not known
	size     int64  // bytes of all files; 0 when not known
	modified int64  // of the first file, milliseconds since 1970
	taken    int64  // acquisition of an image, milliseconds since 1970; 0 when not known
	id       [12]byte
	other    int32 // place among the ids of another form, from 1
	run      int32 // place of the run that made it
	state    uint8
	full     [3]byte // hash of the name within the source: images of several folders share an identity
}

const (
	complete uint8 = 1 << iota // all its files are there
	several                    // it has several files
	empty                      // none of its files is there
)

// index holds what is at the target, in the order of names and identifiers. It
// does not change once it is loaded.
type index struct {
	seed   maphash.Seed
	list   []held
	others []string
	runs   []string         // that made datasets; the first is none
	known  map[string]int32 // their places
	// replaces says which datasets are there to take the place of others. Those
	// are deleted last, so a run that was stopped may have left them.
	replaces map[string]string
	movable  []movable // in the order of what they are looked up by
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

// load reads the target, once, in the order of identifiers.
func load(ctx context.Context, c *client.Client, t Target) (*index, error) {
	ix := &index{seed: maphash.MakeSeed(), replaces: map[string]string{}, runs: []string{""}, known: map[string]int32{"": 0}}
	limit, last := indexPage, ""
	for {
		filter := t.filter()
		if last != "" {
			filter["_id"] = map[string]any{"$gt": last}
		}
		page, err := c.Datasets.Search.Page(ctx, client.DatasetQuery{Query: client.Query{
			Filter: filter, Limit: &limit, Fields: heldFields, Sort: client.Sort{{Attribute: "_id", Direction: 1}}}})
		if err != nil {
			return nil, err
		}
		if last == "" && page.Total > int64(limit) {
			ix.list = make([]held, 0, page.Total+page.Total/64)
		}
		for _, d := range page.Results {
			ix.add(d.ID, d.JSON())
		}
		if len(page.Results) < limit {
			break
		}
		last = page.Results[len(page.Results)-1].ID
	}
	slices.SortFunc(ix.list, func(a, b held) int {
		if a.name != b.name {
			return cmp.Compare(a.name, b.name)
		}
		return cmp.Or(bytes.Compare(a.id[:], b.id[:]), cmp.Compare(a.other, b.other))
	})
	slices.SortFunc(ix.movable, func(a, b movable) int { return cmp.Or(cmp.Compare(a.look, b.look), cmp.Compare(a.name, b.name)) })
	ix.movable = slices.Compact(ix.movable)
	return ix, nil
}

func (ix *index) hash(identity string) uint64 { return maphash.String(ix.seed, identity) }

func (ix *index) short(name string) [3]byte {
	n := ix.hash(name)
	return [3]byte{byte(n), byte(n >> 8), byte(n >> 16)}
}

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
		h.run = ix.place(noted.Get("run").String())
		if earlier := noted.Get("replaces").String(); earlier != "" {
			ix.replaces[id] = earlier
		}
	}
	h.name, h.full = ix.hash(identity(kind, name)), ix.short(name)
	h.setID(ix, id)
	h.components(fields[3])
	ix.list = append(ix.list, h)
	if kind != "image" && h.key != 0 && h.state&complete != 0 {
		ix.movable = append(ix.movable, movable{ix.look(kind, name, h.size), h.name})
	}
}

// place gives the number of a run.
func (ix *index) place(run string) int32 {
	n, known := ix.known[run]
	if !known {
		n = int32(len(ix.runs))
		ix.runs = append(ix.runs, run)
		ix.known[run] = n
	}
	return n
}

func (h *held) setID(ix *index, id string) {
	if raw, err := hex.DecodeString(id); err == nil && len(raw) == len(h.id) && hex.EncodeToString(raw) == id {
		copy(h.id[:], raw)
		return
	}
	ix.others = append(ix.others, id)
	h.other = int32(len(ix.others))
}

// components takes over the state of the files.
func (h *held) components(list gjson.Result) {
	h.state |= complete | empty
	var size int64
	files := list.Array()
	for _, c := range files {
		if c.Get("status").String() != "completed" {
			h.state &^= complete
		} else {
			h.state &^= empty
		}
		size += c.Get("size").Int()
	}
	if h.size == 0 {
		h.size = size
	}
	if len(files) > 1 {
		h.state |= several
	} else if len(files) == 1 {
		h.sum = short(files[0].Get("checksum").String())
	}
}

func parsed(text string) time.Time {
	at, _ := time.Parse(time.RFC3339, text)
	return at
}

// dataset is the identifier.
func (ix *index) dataset(h *held) string {
	if h.other > 0 {
		return ix.others[h.other-1]
	}
	return hex.EncodeToString(h.id[:])
}

// replaced is the dataset whose place another one takes, when it is still
// there: among those of the same identity.
func (ix *index) replaced(h *held, candidates []held) string {
	earlier := ix.replaces[ix.dataset(h)]
	for i := range candidates {
		if earlier != "" && ix.dataset(&candidates[i]) == earlier {
			return earlier
		}
	}
	return ""
}

// named gives the datasets of one identity.
func (ix *index) named(identity string) []held {
	first, last := ix.places(identity)
	return ix.list[first:last]
}

// places says where in the list the datasets of one identity are.
func (ix *index) places(identity string) (first, last int) {
	return ix.placesOf(ix.hash(identity))
}

func (ix *index) placesOf(name uint64) (first, last int) {
	first, _ = slices.BinarySearchFunc(ix.list, name, func(h held, name uint64) int { return cmp.Compare(h.name, name) })
	last = first
	for last < len(ix.list) && ix.list[last].name == name {
		last++
	}
	return first, last
}

// short is a key, or a checksum, as it is held in memory.
func short(key string) uint64 {
	n, err := strconv.ParseUint(key[:min(16, len(key))], 16, 64)
	if err != nil {
		return 0
	}
	return n
}
