package ingest

import (
	"strconv"
	"time"

	"github.com/tidwall/gjson"
)

// held is a dataset the platform holds, as little of it as a decision needs.
type held struct {
	name     uint64 // hash of the identity
	full     uint64 // hash of the name within the source: images of several folders share an identity
	look     uint64 // what a dataset of another folder is found by; 0 when it is not
	key      uint64 // short key; 0 when nothing is noted
	sum      uint64 // first half of the MD5 of the only file; 0 when not known
	size     int64  // bytes of all files; 0 when not known
	modified int64  // of the first file, milliseconds since 1970
	taken    int64  // acquisition of an image, milliseconds since 1970; 0 when not known
	id       datasetID
	replaces datasetID // what it is there to take the place of; none mostly
	run      int32     // place of the run that made it
	number   int32     // of the record
	state    uint8
}

// datasetID is an identifier as a record holds it.
type datasetID struct {
	raw   [12]byte
	other int32 // place among those of another form; 0 when it is of this one
}

const (
	complete uint8 = 1 << iota // all its files are there
	several                    // it has several files
	empty                      // none of its files is there
)

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

// short is a key, or a checksum, as it is held in memory.
func short(key string) uint64 {
	n, err := strconv.ParseUint(key[:min(16, len(key))], 16, 64)
	if err != nil {
		return 0
	}
	return n
}
