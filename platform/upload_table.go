package platform

import (
	"database/sql"
	"errors"
	"time"

	"transect/platform/blob"
)

// startUpload keeps a new upload in the place of the last one to its component.
func (r *Request) startUpload(u *upload) error {
	if _, _, err := r.componentOf(u.dataset, u.component); err != nil {
		return err
	}
	return r.placeUpload(u)
}

// placeUpload is startUpload for a component that is there.
func (r *Request) placeUpload(u *upload) error {
	kept, err := r.keptUpload(u.dataset, u.component)
	var none *failure
	if err == nil {
		err = r.dropUpload(kept)
	}
	if err != nil && !errors.As(err, &none) {
		return err
	}
	u.id = uploadID(time.Now())
	r.afterwards(func() { r.p.announced.drop(*u) })
	return r.insertUpload(*u)
}

func (r *Request) insertUpload(u upload) error {
	return r.tx.Exec(`INSERT INTO uploads (id, dataset, component, filename, checksum, chunk_size, total_size, total_parts, direct, complete)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, u.id, u.dataset, u.component, u.filename, u.checksum, u.chunk, u.size, u.parts, u.direct, u.complete)
}

// dropUpload forgets an upload and what came of it so far.
func (r *Request) dropUpload(u upload) error {
	if !u.complete {
		blobs, err := r.partsOf(u)
		if err != nil {
			return err
		}
		r.afterwards(func() {
			r.p.blobs.Remove(u.id) // the file of its parts, if any
			for _, id := range blobs {
				r.p.blobs.Remove(id)
			}
		})
		if err := r.tx.Exec("DELETE FROM parts WHERE upload = ?", u.id); err != nil {
			return err
		}
	}
	return r.tx.Exec("DELETE FROM uploads WHERE id = ?", u.id)
}

// partsOf gives the blobs of the parts that came.
func (r *Request) partsOf(u upload) (map[int64]string, error) {
	rows, err := r.tx.Query("SELECT number, blob FROM parts WHERE upload = ?", u.id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	blobs := map[int64]string{}
	for rows.Next() {
		var number int64
		var id string
		if err := rows.Scan(&number, &id); err != nil {
			return nil, err
		}
		blobs[number] = id
	}
	return blobs, rows.Err()
}

const uploadColumns = "id, dataset, component, filename, checksum, chunk_size, total_size, total_parts, direct, complete"

func scanUpload(row *sql.Row) (u upload, err error) {
	err = row.Scan(&u.id, &u.dataset, &u.component, &u.filename, &u.checksum, &u.chunk, &u.size, &u.parts, &u.direct, &u.complete)
	if errors.Is(err, sql.ErrNoRows) {
		err = replacedUpload()
	}
	return u, err
}

func replacedUpload() error {
	return conflict("no upload to this component was started, or another one took its place")
}

func (r *Request) uploadByID(id string) (upload, error) {
	return scanUpload(r.tx.QueryRow("SELECT "+uploadColumns+" FROM uploads WHERE id = ?", id))
}

// uploadOf is the last upload to a component.
func (r *Request) uploadOf(dataset, component string) (upload, error) {
	kept, err := r.keptUpload(dataset, component)
	var none *failure
	if last, ok := r.p.announced.of(dataset, component); ok && (errors.As(err, &none) || err == nil && last.id > kept.id) {
		return last, nil
	}
	return kept, err
}

func (r *Request) keptUpload(dataset, component string) (upload, error) {
	return scanUpload(r.tx.QueryRow("SELECT "+uploadColumns+" FROM uploads WHERE dataset = ? AND component = ?", dataset, component))
}

// multipartUpload returns an upload in parts that is under way.
func (r *Request) multipartUpload(dataset, component string, direct bool) (upload, error) {
	if _, _, err := r.componentOf(dataset, component); err != nil {
		return upload{}, err
	}
	u, err := r.uploadOf(dataset, component)
	switch {
	case err != nil:
		return u, err
	case u.chunk == 0:
		return u, conflict("the upload to this component is not in parts")
	case u.complete:
		// Parts of another upload must not vanish into one that is over.
		return u, conflict("the upload to this component is complete; start another one")
	case u.direct && !direct:
		return u, conflict("the upload was started with direct_upload: its parts go to signed addresses")
	case !u.direct && direct:
		return u, conflict("the upload was started without direct_upload: its parts go to upload-part")
	}
	return u, nil
}

// takePlace makes an upload in one piece, whose bytes are there, the last one to
// its component. Of several the one announced last wins. again says that bytes
// of this very upload came before.
func (r *Request) takePlace(u upload) (again bool, err error) {
	last, announced := r.p.announced.of(u.dataset, u.component)
	if announced && last.id > u.id {
		return false, replacedUpload()
	}
	kept, err := r.keptUpload(u.dataset, u.component)
	var none *failure
	switch {
	case errors.As(err, &none):
	case err != nil:
		return false, err
	case kept.id == u.id:
		return true, nil
	case kept.id > u.id && !announced:
		return false, replacedUpload()
	default:
		if err := r.dropUpload(kept); err != nil {
			return false, err
		}
	}
	r.afterwards(func() { r.p.announced.drop(u) })
	return false, nil
}

// keepPiece notes that the bytes of an upload in one piece came, and returns the
// blob they take the place of.
func (r *Request) keepPiece(u upload, b blob.Blob) (replaced string, err error) {
	again, err := r.takePlace(u)
	if err != nil {
		return "", err
	}
	if again {
		return r.keepPart(u.id, 1, b)
	}
	if err := r.insertUpload(u); err != nil {
		return "", err
	}
	return "", r.insertPart(u.id, 1, b)
}

func (r *Request) insertPart(upload string, part int64, b blob.Blob) error {
	return r.tx.Exec("INSERT OR REPLACE INTO parts (upload, number, blob, size, checksum) VALUES (?, ?, ?, ?, ?)",
		upload, part, b.ID, b.Size, b.MD5)
}

// keepPart notes that a part came, and returns the blob it takes the place of.
func (r *Request) keepPart(upload string, part int64, b blob.Blob) (replaced string, err error) {
	u, err := r.uploadByID(upload)
	if err != nil {
		return "", err
	}
	if u.complete {
		// The client did not hear that it was complete and sends again.
		return b.ID, nil
	}
	err = r.tx.QueryRow("SELECT blob FROM parts WHERE upload = ? AND number = ?", upload, part).Scan(&replaced)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", err
	}
	return replaced, r.insertPart(upload, part, b)
}
