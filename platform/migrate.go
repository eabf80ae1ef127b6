package platform

import (
	"context"
	"errors"
	"os"
	"strings"

	"transect/platform/store"
)

// unpackBlobs moves the blobs of earlier versions, which packed small ones
// together in large files, to files of their own.
func (p *Platform) unpackBlobs(ctx context.Context) error {
	has, err := p.blobs.HasPacks()
	if err != nil || !has {
		return err
	}
	if err := p.store.Write(ctx, func(tx *store.Tx) error {
		ids, err := packedBlobs(tx)
		if err != nil {
			return err
		}
		if err := tx.Exec("CREATE INDEX components_blob ON components(blob)"); err != nil {
			return err
		}
		for _, id := range ids {
			unpacked, err := p.blobs.Unpack(id)
			if errors.Is(err, os.ErrNotExist) {
				p.log.Error("a stored file is lost", "error", err)
				continue
			}
			if err != nil {
				return err
			}
			for _, table := range []string{"components", "parts"} {
				if err := tx.Exec("UPDATE "+table+" SET blob = ? WHERE blob = ?", unpacked, id); err != nil {
					return err
				}
			}
		}
		return tx.Exec("DROP INDEX components_blob")
	}); err != nil {
		return err
	}
	return p.blobs.RemovePacks()
}

func packedBlobs(tx *store.Tx) (ids []string, err error) {
	rows, err := tx.Query("SELECT blob FROM components UNION SELECT blob FROM parts")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		if strings.Contains(id, ".") {
			ids = append(ids, id)
		}
	}
	return ids, rows.Err()
}
