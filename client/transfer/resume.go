package transfer

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"strings"
	"time"
)

const (
	// What is on disk is noted each time this much came, or each second.
	recordEvery = 16 * MiB
	// A record has two places, written in turn: one is always whole.
	recordSize = 8 << 10
	mostSpans  = 150
	// Leftovers that nobody goes on with are removed after this long.
	leftoverAge = 7 * 24 * time.Hour

	temporaryStart = ".transect-"
	temporaryEnd   = ".part"
	recordEnd      = ".resume"
)

// identity tells whether what is left of a download is of the same file.
type identity struct {
	Source string `json:"source"` // hash of where it came from
	Tag    string `json:"tag"`
	Total  int64  `json:"total"`
	MD5    string `json:"md5"`
}

// record is what is known of a partial file: never more than is on disk.
type record struct {
	identity
	Turn int64 `json:"turn"`
	Have spans `json:"have"`
}

func sourceOf(platform string, d Download) string {
	sum := sha256.Sum256([]byte(platform + "\x00" + d.Path + "\x00" + d.Query.Encode()))
	return fmt.Sprintf("%x", sum[:16])
}

func (t *target) recordName() string { return recordOf(t.temp) }

// recordOf is the name of the record beside a temporary file.
func recordOf(temp string) string { return strings.TrimSuffix(temp, temporaryEnd) + recordEnd }

// record brings what was received to disk and notes it. What cannot be noted
// is fetched again some day, no more.
func (t *target) record(have spans) {
	if t.shared || len(have) == 0 || t.file.Sync() != nil {
		return
	}
	t.turn++
	text, err := json.Marshal(record{identity: t.identity, Turn: t.turn, Have: have[:min(len(have), mostSpans)]})
	if err != nil || len(text) > recordSize-9 {
		return
	}
	slot := make([]byte, 0, recordSize)
	slot = append(slot, fmt.Sprintf("%08x", crc32.ChecksumIEEE(text))...)
	slot = append(slot, text...)
	slot = append(slot, bytes.Repeat([]byte{'\n'}, recordSize-len(slot))...)
	if t.notes == nil {
		if t.notes, err = t.in.OpenFile(t.recordName(), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
			return
		}
	}
	_, _ = t.notes.WriteAt(slot, t.turn%2*recordSize)
}

// left gives what an earlier download has left of the same file.
func (t *target) left() spans {
	b, err := t.in.ReadFile(t.recordName())
	if err != nil || len(b) > 2*recordSize {
		return nil
	}
	var best record
	for ; len(b) > 0; b = b[min(len(b), recordSize):] {
		if r, ok := readRecord(b[:min(len(b), recordSize)]); ok && r.Turn > best.Turn {
			best = r
		}
	}
	info, err := t.file.Stat()
	if err != nil || len(best.Have) == 0 || best.identity != t.identity || !best.Have.sound(t.identity.Total) ||
		info.Size() < best.Have[len(best.Have)-1][1] || info.Size() > t.identity.Total {
		return nil
	}
	t.turn = best.Turn
	return best.Have
}

func readRecord(slot []byte) (r record, ok bool) {
	slot = bytes.TrimRight(slot, "\n")
	if len(slot) < 8 || fmt.Sprintf("%08x", crc32.ChecksumIEEE(slot[8:])) != string(slot[:8]) {
		return r, false
	}
	return r, json.Unmarshal(slot[8:], &r) == nil
}

// forgetRecord removes the record for good: one that came back after a crash
// would claim bytes of another attempt.
func (t *target) forgetRecord() {
	if t.notes != nil {
		_ = t.notes.Close() // it is removed
		t.notes = nil
	}
	if t.shared {
		return
	}
	f, err := t.in.OpenFile(t.recordName(), os.O_RDWR|os.O_TRUNC, 0)
	if err != nil {
		return // there is none
	}
	_ = f.Sync()
	_ = f.Close()
	_ = t.in.Remove(t.recordName())
}

// pruneOnce removes leftovers of other downloads from a folder, the first time
// something is fetched into it.
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
		stem, ours := strings.CutPrefix(name, temporaryStart)
		if !ours || !e.Type().IsRegular() || !strings.HasSuffix(stem, temporaryEnd) && !strings.HasSuffix(stem, recordEnd) {
			continue
		}
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < leftoverAge {
			continue
		}
		if strings.HasSuffix(name, recordEnd) {
			name = strings.TrimSuffix(name, recordEnd) + temporaryEnd
		}
		// Claiming makes the file where only its record is left.
		if f, err := claim(in.Root, name); err == nil {
			_ = in.Remove(recordOf(name))
			removeClaimed(in.Root, name, f)
			t.log.Debug("removed the leftovers of a download", "file", in.told(name))
		}
	}
}
