package platform

import (
	"database/sql"
	"errors"

	"transect/platform/blob"
)

// startUpload replaces the upload to a component, if there is one, with u.
func (r *Request) startUpload(u *upload) error {
	if _, _, err := r.componentOf(u.dataset, u.component); err != nil {
		return err
	}
	u.id = blob.NewID()
	return r.insertUpload(*u)
}

// insertUpload stores u as the upload to its component, and drops the one before
// it with the bytes received so far.
func (r *Request) insertUpload(u upload) error {
	before, err := r.uploadOf(u.dataset, u.component)
	var none *failure
	switch {
	case errors.As(err, &none):
	case err != nil:
		return err
	default:
		if err := r.dropUpload(before); err != nil {
			return err
		}
	}
	return r.tx.Exec("INSERT INTO uploads ("+uploadColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		u.id, u.dataset, u.component, u.filename, u.checksum, u.chunk, u.size, u.parts, u.direct, u.complete)
}

func (r *Request) dropUpload(u upload) error {
	if !u.complete {
		parts, err := r.partsOf(u)
		if err != nil {
			return err
		}
		r.afterwards(func() {
			r.p.blobs.Remove(u.id)
			for _, b := range parts { // earlier versions gave a whole file another ID
				r.p.blobs.Remove(b.ID)
			}
		})
		if err := r.tx.Exec("DELETE FROM parts WHERE upload = ?", u.id); err != nil {
			return err
		}
	}
	return r.tx.Exec("DELETE FROM uploads WHERE id = ?", u.id)
}

const uploadColumns = "id, dataset, component, filename, checksum, chunk_size, total_size, total_parts, direct, complete"

func scanUpload(row *sql.Row) (u upload, err error) {
	err = row.Scan(&u.id, &u.dataset, &u.component, &u.filename, &u.checksum, &u.chunk, &u.size, &u.parts, &u.direct, &u.complete)
	if errors.Is(err, sql.ErrNoRows) {
		err = conflict("there is no upload to this component, or a later one replaced it")
	}
	return u, err
}

func (r *Request) uploadByID(id string) (upload, error) {
	return scanUpload(r.tx.QueryRow("SELECT "+uploadColumns+" FROM uploads WHERE id = ?", id))
}

// uploadOf returns the latest upload to a component.
func (r *Request) uploadOf(dataset, component string) (upload, error) {
	return scanUpload(r.tx.QueryRow("SELECT "+uploadColumns+" FROM uploads WHERE dataset = ? AND component = ?", dataset, component))
}

// partsOf returns the parts that were received, by their number from 1. All
// parts of an upload are in one blob; a whole file is part 1.
func (r *Request) partsOf(u upload) (map[int64]blob.Blob, error) {
	rows, err := r.tx.Query("SELECT number, blob, size, checksum FROM parts WHERE upload = ?", u.id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	parts := map[int64]blob.Blob{}
	for rows.Next() {
		var number int64
		var b blob.Blob
		if err := rows.Scan(&number, &b.ID, &b.Size, &b.MD5); err != nil {
			return nil, err
		}
		parts[number] = b
	}
	return parts, rows.Err()
}

// keepPart stores that a part was received, unless the upload is complete.
func (r *Request) keepPart(u upload, part int64, b blob.Blob) error {
	now, err := r.uploadByID(u.id)
	if err != nil || now.complete {
		return err
	}
	return r.tx.Exec("INSERT OR REPLACE INTO parts (upload, number, blob, size, checksum) VALUES (?, ?, ?, ?, ?)",
		u.id, part, b.ID, b.Size, b.MD5)
}
