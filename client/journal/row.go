package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"transect/client/checksum"
	"transect/client/transfer"
)

// place is the key of all rows: a hash of where a file goes.
type place [16]byte

func placeOf(p transfer.Place) place {
	sum := sha256.Sum256([]byte(p.Platform + "\x00" + p.Dataset + "\x00" + p.Component))
	return place(sum[:16])
}

// state is one state of one file.
type state struct {
	path  int64 // hash
	size  int64
	mtime int64 // nanoseconds since 1970
}

func stateOf(f transfer.File) state {
	sum := sha256.Sum256([]byte(f.Path))
	return state{path: int64(binary.LittleEndian.Uint64(sum[:8])), size: f.Size, mtime: f.ModTime.UnixNano()}
}

// What is known of a file, in the column state.
const (
	finished = 1 << iota // it was completed
	computed             // its checksum was computed from it, not given
)

// fileRow is a row of files, without key and time.
type fileRow struct {
	state
	whole []byte
	flags int64
}

// uploadRow is a row of uploads: what goes to the place now.
type uploadRow struct {
	chunk int64
	begun int64 // random number of this beginning
	done  []byte
}

func crc(p place, numbers []int64, blobs ...[]byte) int64 {
	b := slices.Clone(p[:])
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	for _, blob := range blobs {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(blob)))
		b = append(b, blob...)
	}
	return int64(checksum.CRC32C(b))
}

func (r fileRow) check(p place) int64 {
	return crc(p, []int64{r.path, r.size, r.mtime, r.flags}, r.whole)
}

// check binds an upload to its file: parts of another state are worth nothing.
func (u uploadRow) check(p place, f fileRow) int64 {
	return crc(p, []int64{f.path, f.size, f.mtime, u.chunk, u.begun}, f.whole, u.done)
}

func sumsCheck(p place, f fileRow, chunk int64, parts []byte) int64 {
	return crc(p, []int64{f.path, f.size, f.mtime, chunk}, f.whole, parts)
}

// partsOf is how many parts a file is cut into.
func partsOf(size, chunk int64) int64 {
	if chunk <= 0 {
		return 0
	}
	return size/chunk + min(1, size%chunk)
}

// Bitmaps: part n, from 1, is bit n-1.

func has(bits []byte, part int) bool {
	i := part - 1
	return i >= 0 && i/8 < len(bits) && bits[i/8]&(1<<(i%8)) != 0
}

func with(bits []byte, part int) []byte {
	i := part - 1
	for len(bits) <= i/8 {
		bits = append(bits, 0)
	}
	bits[i/8] |= 1 << (i % 8)
	return bits
}

func packSums(parts []string) []byte {
	var out []byte
	for _, p := range parts {
		b, err := hex.DecodeString(p)
		if err != nil || len(b) != 16 {
			return nil
		}
		out = append(out, b...)
	}
	return out
}

func unpackSums(b []byte) []string {
	var out []string
	for ; len(b) >= 16; b = b[16:] {
		out = append(out, hex.EncodeToString(b[:16]))
	}
	return out
}
