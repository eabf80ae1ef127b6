package ingest

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// What is no image is known by its name within the source. The same file has
// another name there when its folder is brought in from above or below where
// it was before: survey/area.shp of /media/card is area.shp of
// /media/card/survey, and backup/survey/area.shp of the disk it was copied to.
// One of the two names ends with the other. Such a file is there already when
// the bytes of all its files are those on the platform, by their checksums, and
// the source has no file of the other name as well: then both are meant.

// maxMoved is how many datasets of one base name and size are looked at. Where
// there are more (the tiles of a map), a file is known by its name alone.
const maxMoved = lookupSize

func (ix *index) look(kind, name string, size int64) uint64 {
	return ix.hash(kind + "\x00" + path.Base(name) + "\x00" + strconv.FormatInt(size, 10))
}

// movables gives the complete datasets of that base name and size, no images.
func (ix *index) movables(kind, name string, size int64) (list []held, err error) {
	look := ix.look(kind, name, size)
	for number := range ix.moved.all(look) {
		h, err := ix.at(number)
		if err != nil || len(list) > maxMoved {
			return list, err
		}
		if h.look == look {
			list = append(list, h)
		}
	}
	return list, nil
}

// moved finds the dataset of a file that was brought in from another folder,
// and the name it had there; nil when there is none.
func (r *reader) moved(ctx context.Context, w *work) (h *held, from string, err error) {
	if w.item.Kind == "image" {
		return nil, "", nil
	}
	list, err := r.index.movables(w.item.Kind, w.item.Name, w.item.Size())
	if err != nil || len(list) == 0 || len(list) > maxMoved {
		return nil, "", err
	}
	sums := make([]string, len(w.item.Members))
	for i, m := range w.item.Members {
		if sums[i], err = md5Of(ctx, r.o.Source.Open, m.Path); err != nil {
			return nil, "", err
		}
	}
	var ids []string
	for i := range list {
		if h := &list[i]; h.sum == 0 || h.sum == short(sums[0]) {
			ids = append(ids, r.index.dataset(h))
		}
	}
	if len(ids) == 0 {
		return nil, "", nil
	}
	found, err := described(ctx, r.c, ids)
	if err != nil {
		return nil, "", err
	}
	for i := range list {
		id := r.index.dataset(&list[i])
		d, there := found[id]
		if !there {
			continue
		}
		from := gjson.GetBytes(d.JSON(), "properties."+noteName+".file").String()
		if within(from, w.item.Name) && !r.brings(from) && w.is(d.JSON(), sums) && r.claim(id) {
			return &list[i], from, nil
		}
	}
	return nil, "", nil
}

// within tells whether one of two names ends with the other.
func within(a, b string) bool {
	return a != b && (strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a))
}

// brings tells whether the source of this run has a file of that name, too.
func (r *run) brings(name string) bool {
	if r.o.Source.Root == "" || !filepath.IsLocal(filepath.FromSlash(name)) {
		return false // files that are listed have names that differ from the end on
	}
	_, err := os.Lstat(filepath.Join(r.o.Source.Root, filepath.FromSlash(name)))
	return err == nil
}

// is tells whether a dataset has exactly the files of a work.
func (w *work) is(record []byte, sums []string) bool {
	components := gjson.GetBytes(record, "components")
	if len(components.Array()) != len(w.item.Members) {
		return false
	}
	for i, m := range w.item.Members {
		held := components.Get(`#(name=="` + m.Component + `")`)
		if held.Get("status").String() != "completed" || held.Get("checksum").String() != sums[i] {
			return false
		}
	}
	return true
}

// claim takes a dataset for one file of this run; false when another has it.
func (r *run) claim(dataset string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.claimed[dataset] {
		return false
	}
	if r.claimed == nil {
		r.claimed = map[string]bool{}
	}
	r.claimed[dataset] = true
	return true
}
