package ingest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"strconv"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/tidwall/gjson"

	"transect/client"
	"transect/client/internal/reconcile"
	"transect/client/scan"
	"transect/client/verdict"
)

// The key of an item identifies the content that a dataset was created for. It is a hash of
//
//	kind, name, and for each file its component, size and samples of its content
//
// where the name of an image is its base name, and of any other file its path within the source. It
// includes nothing of the machine: a memory card at another mount point, or copied without its
// modification times, has the same keys. It includes content because every memory card has a
// DJI_0001.JPG.
//
// The samples are the first, the middle and the last 16 KiB. An edit that changes neither size nor
// samples is noticed by the modification time: when it differs from the recorded one, checksums are
// compared, and the checksum becomes part of the edited file's key.

const sampleSize = 16 << 10

// PropertyName is the property of a dataset that records its file.
const PropertyName = "transect"

// property is the value of that property.
type property struct {
	Key      string `json:"key"`
	File     string `json:"file"`               // path within the source
	Size     int64  `json:"size"`               // of all files together
	Modified string `json:"modified"`           // of the main file
	Run      string `json:"run"`                // ID of the ingest that created the dataset
	PartOf   string `json:"part_of,omitempty"`  // ID of the script's run
	Replaces string `json:"replaces,omitempty"` // dataset of the previous version
	Content  string `json:"content,omitempty"`  // hash of kind and samples, to find duplicates
	// Parts are the paths within the source of files outside the folder of the main one, by
	// component: a download restores them there.
	Parts map[string]string `json:"parts,omitempty"`
	// Problem is the check's finding about a file that was sent nevertheless.
	Problem *problem `json:"problem,omitempty"`
}

// problem is a problem of a file.
type problem struct {
	Verdict verdict.Verdict `json:"verdict"`
	Cause   string          `json:"cause"`
	Hint    string          `json:"hint,omitempty"`
}

const timeLayout = "2006-01-02T15:04:05.000Z"

func timestamp(t time.Time) string { return t.UTC().Format(timeLayout) }

// millis returns a timestamp in milliseconds since 1970, 0 for none.
func millis(text string) int64 {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0
	}
	return t.UnixMilli()
}

// recordFields are the fields that recordOf needs, and the state of the ingestion.
var recordFields = []any{"name", "type", "acquisition_date", "components", "properties." + PropertyName, "ingestion"}

// targetFields are the fields that Target.contains needs.
var targetFields = []any{"company", "project", "mission"}

// recordOf extracts the data for reconcile from a dataset.
func recordOf(d client.Dataset) reconcile.Dataset {
	fields := gjson.GetManyBytes(d.JSON(), "acquisition_date", "components", "properties."+PropertyName,
		"ingestion.error.message")
	r := reconcile.Dataset{ID: d.ID, Name: d.Name, Taken: millis(fields[0].String()) / 1000 * 1000}
	if p := fields[2]; p.Get("key").String() != "" {
		r.Key, r.Name, r.Size = p.Get("key").String(), p.Get("file").String(), p.Get("size").Int()
		r.Modified, r.Run, r.Replaces = millis(p.Get("modified").String()), p.Get("run").String(), p.Get("replaces").String()
		r.Content = p.Get("content").String()
	}
	noted := r.Size != 0
	fields[1].ForEach(func(_, c gjson.Result) bool {
		part := reconcile.Component{Name: c.Get("name").String(), MD5: c.Get("checksum").String(), Size: c.Get("size").Int(),
			Uploaded: c.Get("status").String() == "completed"}
		r.Components = append(r.Components, part)
		if !noted {
			r.Size += part.Size
		}
		return true
	})
	switch d.Ingestion.Status {
	case "failed":
		r.Verdict, r.Cause, r.Hint = verdict.Refused, refusal(fields[3].String()), refusalHint
	case "running", "pending":
		r.Pending = r.Complete()
	}
	if p := fields[2].Get("problem"); p.Exists() {
		cause := p.Get("cause").String()
		if r.Verdict == verdict.Refused {
			cause += "; " + r.Cause
		}
		r.Verdict, r.Cause, r.Hint = verdict.Verdict(p.Get("verdict").String()), cause, p.Get("hint").String()
	}
	return r
}

// refusal returns the cause for a file that the platform could not read.
func refusal(message string) string {
	if message == "" {
		return "the platform could not read it and gave no reason"
	}
	return "the platform could not read it: " + message
}

const refusalHint = "check the file; a corrected one is sent by the next run; to send it again unchanged, delete its " +
	"dataset first"

// keyer computes a key while the files of an item are read, and the same hash without the base name.
type keyer struct {
	h       hash.Hash
	content *xxhash.Digest
}

func newKeyer(item scan.Item) keyer {
	k := keyer{sha256.New(), xxhash.New()}
	k.write(reconcile.Identity(item.Kind, item.Name))
	k.content.WriteString(item.Kind) // never fails
	if item.Kind != "image" {        // equal files of other kinds in two folders may both be meant
		k.content.WriteString(path.Dir(item.Name)) // never fails
	}
	return k
}

func (k keyer) write(text string) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(text)))
	k.h.Write(n[:]) // never fails
	io.WriteString(k.h, text)
}

// file adds one file.
func (k keyer) file(component string, s *samples) {
	k.write(component)
	k.write(strconv.FormatInt(s.size, 10))
	fmt.Fprintf(k.content, "\x00%s\x00%d\x00", component, s.size) // never fails
	for i := range s.offsets {
		k.h.Write(s.sample(i))
		k.content.Write(s.sample(i)) // never fails
	}
}

func (k keyer) sum() string { return hex.EncodeToString(k.h.Sum(nil)[:16]) }

func (k keyer) sumOfContent() string { return fmt.Sprintf("%016x", k.content.Sum64()) }

// samples are the parts of a file that its key covers. They usually include its metadata.
type samples struct {
	f       *os.File
	size    int64
	offsets []int64
	length  int64 // of each sample
	buffer  [3 * sampleSize]byte
}

var sampleBuffers = sync.Pool{New: func() any { return new(samples) }}

func (s *samples) sample(i int) []byte { return s.buffer[i*sampleSize:][:s.length] }

func (s *samples) read(f *os.File, size int64) error {
	s.f, s.size, s.offsets, s.length = f, size, []int64{0, size/2 - sampleSize/2, size - sampleSize}, sampleSize
	if size <= 3*sampleSize {
		s.offsets, s.length = s.offsets[:1], size
	}
	for i, offset := range s.offsets {
		if n, err := f.ReadAt(s.sample(i), offset); int64(n) < s.length {
			if err == io.EOF || err == nil {
				return fmt.Errorf("it became shorter while it was read")
			}
			return err
		}
	}
	return nil
}

// ReadAt reads from the samples if possible, else from the file.
func (s *samples) ReadAt(b []byte, offset int64) (int, error) {
	for i, from := range s.offsets {
		if offset >= from && offset+int64(len(b)) <= from+s.length {
			return copy(b, s.sample(i)[offset-from:]), nil
		}
	}
	return s.f.ReadAt(b, offset)
}
