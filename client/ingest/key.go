package ingest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"path"
	"strconv"
	"time"

	"transect/client/scan"
)

// The key of an item says which file a dataset was made for:
//
//	kind, name, and for each file its component, size and samples of its content
//
// The name of an image is its base name: the same photo below another folder
// is the same photo. Of anything else it is the name within the source, as
// equal files in two folders may both be meant; moved.go says how one is
// known whose source now begins elsewhere. Nothing of the machine is in
// it: a card at another mount point, or copied to another disk without its
// times, gives the same keys. Content is in it because every memory card has a
// DJI_0001.JPG: the same name with another content is another file.
//
// The samples are the first, the middle and the last 16 KiB. An edit that
// leaves size and samples alone is noticed by the time of the file: when that
// differs from the one noted, the checksums are compared. So a changed file is
// a new file: it becomes a dataset of its own, and the platform keeps what it
// has, on which analytics may have been run. With Options.Replace it goes into
// the dataset of its earlier state instead.

const sample = 16 << 10

// noteName is the property that holds what is noted of a file.
const noteName = "transect"

// note is what a dataset's properties tell of the file it was made for.
type note struct {
	Key      string `json:"key"`
	File     string `json:"file"`     // name within the source
	Size     int64  `json:"size"`     // of all files
	Modified string `json:"modified"` // of the first file
	Run      string `json:"run"`      // that created the dataset
	Replaces string `json:"replaces"` // dataset of an earlier state that it takes the place of, or ""
}

func (n note) object() map[string]any {
	o := map[string]any{"key": n.Key, "file": n.File, "size": n.Size, "modified": n.Modified, "run": n.Run}
	if n.Replaces != "" {
		o["replaces"] = n.Replaces
	}
	return o
}

const timeForm = "2006-01-02T15:04:05.000Z"

func stamp(t time.Time) string { return t.UTC().Format(timeForm) }

// identity is what an item is looked up by: its kind and name.
func identity(kind, name string) string {
	if kind == "image" {
		name = path.Base(name)
	}
	return kind + "\x00" + name
}

// keyer works a key out while the files of an item are read.
type keyer struct{ h hash.Hash }

func newKeyer(item scan.Item) keyer {
	k := keyer{sha256.New()}
	k.write(identity(item.Kind, item.Name))
	return k
}

func (k keyer) write(text string) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(text)))
	k.h.Write(n[:]) // never fails
	io.WriteString(k.h, text)
}

// file adds one file.
func (k keyer) file(component string, f io.ReaderAt, size int64, buffer []byte) error {
	k.write(component)
	k.write(strconv.FormatInt(size, 10))
	spans := []int64{0, size/2 - sample/2, size - sample}
	length := int64(sample)
	if size <= 3*sample {
		spans, length = spans[:1], size
	}
	for _, at := range spans {
		if n, err := f.ReadAt(buffer[:length], at); int64(n) < length {
			return shortRead(err)
		}
		k.h.Write(buffer[:length])
	}
	return nil
}

func shortRead(err error) error {
	if err == io.EOF || err == nil {
		return fmt.Errorf("it became shorter while it was read")
	}
	return err
}

func (k keyer) sum() string { return hex.EncodeToString(k.h.Sum(nil)[:16]) }
