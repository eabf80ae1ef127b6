package platform

import (
	"context"
	"errors"
	"os"
	"strings"
)

// unpackBlobs moves the blobs of earlier versions, which packed small ones
// together in large files, to files of their own.
func (p *Platform) unpackBlobs(ctx context.Context) error {
	has, err := p.blobs.HasPacks()
	if err != nil || !has {
		return err
	}
	if err := p.write(ctx, func(t tx) {
		var packed []string
		for row := range t.rows("SELECT blob FROM components UNION SELECT blob FROM parts") {
			var id string
			check(row.Scan(&id))
			if strings.Contains(id, ".") {
				packed = append(packed, id)
			}
		}
		t.exec("CREATE INDEX components_blob ON components(blob)")
		for _, id := range packed {
			unpacked, err := p.blobs.Unpack(id)
			if errors.Is(err, os.ErrNotExist) {
				p.log.Error("a stored file is lost", "error", err)
				continue
			}
			check(err)
			for _, table := range []string{"components", "parts"} {
				t.exec("UPDATE "+table+" SET blob = ? WHERE blob = ?", unpacked, id)
			}
		}
		t.exec("DROP INDEX components_blob")
	}); err != nil {
		return err
	}
	return p.blobs.RemovePacks()
}
