package transfer

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"
)

// FuzzRecord reads any bytes as the record of a partial file. As text is given
// without its checksum, so that the mutator gets behind that. Whatever comes
// out lies within the file and is of the same source.
func FuzzRecord(f *testing.F) {
	const total = 4 << 20
	same := identity{Source: "s", Tag: `"t"`, Total: total, MD5: ""}
	good, err := json.Marshal(record{identity: same, Turn: 3, Have: spans{{0, 1 << 20}, {2 << 20, 3 << 20}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{}, good, false)
	f.Add(good, []byte(`{"source":"s","tag":"\"t\"","total":4194304,"turn":9,"have":[[0,9223372036854775807]]}`), false)
	f.Add([]byte(`{"source":"s","tag":"\"t\"","total":4194304,"turn":9,"have":[[-5,3],[1,2]]}`), good, false)
	f.Add([]byte("0000000"), []byte{}, true)
	folder := f.TempDir()
	f.Fuzz(func(t *testing.T, one, two []byte, raw bool) {
		file, err := newTarget(opened(t, folder), "ortho.tif")
		if err != nil {
			t.Fatal(err)
		}
		defer file.discard()
		file.identity = same
		if err := file.file.Truncate(3 << 20); err != nil {
			t.Fatal(err)
		}
		var text []byte
		for _, slot := range [][]byte{one, two} {
			if !raw && len(slot) <= recordSize-8 {
				slot = append(fmt.Appendf(nil, "%08x", crc32.ChecksumIEEE(slot)), slot...)
				for len(slot) < recordSize {
					slot = append(slot, '\n')
				}
			}
			text = append(text, slot...)
		}
		if err := os.WriteFile(filepath.Join(folder, file.recordName()), text, 0o600); err != nil {
			t.Fatal(err)
		}
		have := file.left()
		if len(have) > 0 && (!have.sound(3<<20) || have[0][0] < 0) {
			t.Errorf("%v of a file of %d bytes", have, 3<<20)
		}
		for _, gap := range have.gaps(total, 1<<20) {
			if gap[0] < 0 || gap[1] > total || gap[0] >= gap[1] {
				t.Errorf("%v leaves the gap %v", have, gap)
			}
		}
	})
}
