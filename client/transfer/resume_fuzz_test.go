package transfer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// FuzzRecord reads any bytes as the record of a partial file. An accepted record is within the file
// and has the same source.
func FuzzRecord(f *testing.F) {
	const total = 4 << 20
	same := identity{Source: "s", Tag: `"t"`, Total: total, MD5: ""}
	good, err := json.Marshal(record{identity: same, Have: spans{{0, 1 << 20}, {2 << 20, 3 << 20}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{}, good)
	f.Add(good, []byte(`{"source":"s","tag":"\"t\"","total":4194304,"have":[[0,9223372036854775807]]}`))
	f.Add([]byte(`{"source":"s","tag":"\"t\"","total":4194304,"have":[[-5,3],[1,2]]}`), good)
	f.Add(good, good[:len(good)/2])
	f.Fuzz(func(t *testing.T, one, two []byte) {
		folder := t.TempDir()
		file, err := newTarget(opened(t, folder), "ortho.tif")
		if err != nil {
			t.Fatal(err)
		}
		defer file.discard()
		file.identity = same
		if err := file.file.Truncate(3 << 20); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, recordName(file.temp)), append(append(one, '\n'), two...), 0o600); err != nil {
			t.Fatal(err)
		}
		have := file.recorded()
		if len(have) > 0 && (!have.valid(3<<20) || have[0][0] < 0) {
			t.Errorf("%v of a file of %d bytes", have, 3<<20)
		}
		for _, gap := range have.gaps(total, 1<<20) {
			if gap[0] < 0 || gap[1] > total || gap[0] >= gap[1] {
				t.Errorf("%v leaves the gap %v", have, gap)
			}
		}
	})
}
