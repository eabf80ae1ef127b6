package transfer

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	// Progress is recorded after this many bytes, and every second.
	recordBytes = 16 * MiB
	recordEvery = time.Second
	maxRecorded = 150 // ranges in a record
	// Partial downloads that are not resumed are removed after this time.
	partialAge = 7 * 24 * time.Hour

	temporaryPrefix = ".transect-"
	partSuffix      = ".part"
	recordSuffix    = ".resume"
)

// identity identifies the remote file that a partial file belongs to.
type identity struct {
	Source string `json:"source"` // hash of its origin
	Tag    string `json:"tag"`
	Total  int64  `json:"total"`
	MD5    string `json:"md5"`
}

// record is a line of the file next to a partial file. It lists only ranges on disk; the last line counts.
type record struct {
	identity
	Have spans `json:"have"`
}

func sourceHash(platform string, d Download) string {
	sum := sha256.Sum256([]byte(platform + "\x00" + d.Path + "\x00" + d.Query.Encode()))
	return fmt.Sprintf("%x", sum[:16])
}

// recordName returns the name of the record next to a temporary file.
func recordName(temp string) string { return strings.TrimSuffix(temp, partSuffix) + recordSuffix }

// record syncs the received bytes and records them. Whatever is not recorded is downloaded again.
func (t *target) record(have spans) {
	if t.shared || len(have) == 0 || t.file.Sync() != nil {
		return
	}
	line, err := json.Marshal(record{identity: t.identity, Have: have[:min(len(have), maxRecorded)]})
	if err != nil {
		return
	}
	if t.records == nil {
		if t.records, err = t.in.OpenFile(recordName(t.temp), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
			return
		}
	}
	_, _ = t.records.Write(append(line, '\n'))
}

// recorded returns the ranges that an earlier download of the same file has left.
func (t *target) recorded() spans {
	b, err := t.in.ReadFile(recordName(t.temp))
	info, err2 := t.file.Stat()
	if err != nil || err2 != nil {
		return nil
	}
	var last record
	for line := range bytes.Lines(b) {
		var r record
		if json.Unmarshal(line, &r) == nil { // a crash may cut the line short
			last = r
		}
	}
	have := last.Have
	if len(have) == 0 || last.identity != t.identity || !have.valid(min(info.Size(), t.identity.Total)) ||
		info.Size() > t.identity.Total {
		return nil
	}
	return have
}

// forgetRecord removes the record durably: if it came back after a power cut, it would claim bytes
// of another attempt.
func (t *target) forgetRecord() {
	if t.records != nil {
		_ = t.records.Close() // it is removed
		t.records = nil
	}
	if t.shared {
		return
	}
	f, err := t.in.OpenFile(recordName(t.temp), os.O_RDWR|os.O_TRUNC, 0)
	if err != nil {
		return // it does not exist
	}
	_ = f.Sync()
	_ = f.Close()
	_ = t.in.Remove(recordName(t.temp))
}

// pruneOnce removes old partial downloads from a folder, before the first download into it.
func (t *Transfers) pruneOnce(in folder) {
	if _, done := t.pruned.LoadOrStore(in.path, true); done {
		return
	}
	list, err := fs.ReadDir(in.FS(), ".")
	if err != nil {
		return
	}
	for _, e := range list {
		name := e.Name()
		partial := strings.HasSuffix(name, partSuffix) || strings.HasSuffix(name, recordSuffix)
		if !partial || !strings.HasPrefix(name, temporaryPrefix) || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < partialAge {
			continue
		}
		if strings.HasSuffix(name, recordSuffix) {
			name = strings.TrimSuffix(name, recordSuffix) + partSuffix
		}
		// Locking creates the file if only its record is left.
		if f, err := OpenLocked(in.Root, name); err == nil {
			_ = in.Remove(recordName(name))
			RemoveLocked(in.Root, name, f)
			t.Logger.Debug("removed an old partial download", "file", in.join(name))
		}
	}
}

// recordProgress records at intervals what is on disk, until ended is closed. recorded is how many
// bytes are recorded already.
func (r *receiver) recordProgress(recorded int64, ended <-chan struct{}) {
	tick := time.NewTicker(recordEvery / 10)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		r.mu.Lock()
		have := slices.Clone(r.have)
		r.mu.Unlock()
		if n := have.bytes(); n-recorded >= recordBytes || n > recorded && time.Since(last) >= recordEvery {
			r.file.record(have)
			recorded, last = n, time.Now()
		}
	}
}
