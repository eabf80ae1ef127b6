package platform

import (
	"database/sql"
	"errors"
	"maps"
	"net/http"
	"os"

	"transect/platform/blob"
	"transect/platform/store"
)

// completeUpload ends the upload of a whole file or of parts. Repeating it does
// no harm: clients do when they got no answer. It opens transactions of its own,
// as reading the parts together may take long.
func completeUpload(multipart bool) func(http.ResponseWriter, *Request) error {
	return func(w http.ResponseWriter, r *Request) error {
		dataset, component := r.text("dataset"), r.text("component")
		var u upload
		var parts map[int64]blob.Blob
		if err := r.read(func() (err error) {
			if _, _, err = r.componentOf(dataset, component); err != nil {
				return err
			}
			if u, err = r.uploadOf(dataset, component); err != nil {
				return err
			}
			parts, err = r.partsOf(u)
			return err
		}); err != nil {
			return err
		}
		switch {
		case u.multipart() && !multipart:
			return conflict("the upload to this component is in parts: complete-multipart-upload ends it")
		case !u.multipart() && multipart:
			return conflict("the upload to this component is not in parts: complete-upload-component ends it")
		}
		if !u.complete {
			whole, err := r.assemble(u, parts)
			if err != nil {
				return err
			}
			if err := r.write(func() error { return r.finishUpload(u, whole) }); err != nil {
				return err
			}
		}
		writeJSON(w, http.StatusOK, completed(u))
		return nil
	}
}

// completed is the answer once an upload is complete.
func completed(u upload) store.Doc {
	return store.Doc{"dataset": u.dataset, "component": u.component, "status": componentCompleted}
}

// assemble returns the bytes of an upload whose parts are all here and have,
// together, the right checksum.
func (r *Request) assemble(u upload, parts map[int64]blob.Blob) (blob.Blob, error) {
	var missing []int64
	for number := int64(1); number <= u.parts; number++ {
		if _, ok := parts[number]; !ok {
			missing = append(missing, number)
		}
	}
	if missing != nil {
		f := fail(http.StatusBadRequest, "MissingParts", "%d of %d parts are missing", len(missing), u.parts)
		f.Details = store.Doc{"missing": missing}
		return blob.Blob{}, f
	}
	if !u.multipart() {
		return parts[1], nil // its checksum was verified when it came
	}
	whole, err := r.p.blobs.Sum(u.id)
	switch {
	case errors.Is(err, os.ErrNotExist):
		err = conflict("a later upload to this component replaced this one")
	case err == nil && whole.MD5 != u.checksum:
		err = fail(http.StatusBadRequest, "BadDigest", "the parts together have the MD5 %s, expected %s", whole.MD5, u.checksum)
	}
	return whole, err
}

// finishUpload marks an upload as complete and gives its bytes to the component.
func (r *Request) finishUpload(u upload, whole blob.Blob) error {
	now, err := r.uploadByID(u.id)
	if err != nil || now.complete {
		return err // another request completed it meanwhile
	}
	if err := r.tx.Exec("DELETE FROM parts WHERE upload = ?", u.id); err != nil {
		return err
	}
	if err := r.tx.Exec("UPDATE uploads SET complete = 1 WHERE id = ?", u.id); err != nil {
		return err
	}
	doc, c, err := r.componentOf(u.dataset, u.component)
	if err != nil {
		return err
	}
	return r.keepWhole(u, whole, doc, c)
}

// keepWhole makes a blob the bytes of a component. With the last component of a
// dataset its ingestion becomes due.
func (r *Request) keepWhole(u upload, whole blob.Blob, doc, c store.Doc) error {
	old, err := bytesOf(r.tx, u.dataset, u.component)
	switch {
	case err == nil:
		r.afterwards(func() { r.p.blobs.Remove(old.blob) })
	case !errors.Is(err, sql.ErrNoRows):
		return err
	}
	kept, err := keepBytes(r.tx, u.dataset, u.component, u.filename, whole)
	if err != nil {
		return err
	}
	maps.Copy(c, kept)
	if allCompleted(doc) {
		store.Set(doc, "ingestion.status", ingestionRunning)
		if object, ok := doc["ingestion"].(map[string]any); ok {
			delete(object, "error")
		}
		r.afterwards(r.p.workers.wake)
		if err := enqueue(r.tx, ingestionJob, u.dataset); err != nil {
			return err
		}
	}
	return r.save(datasets, doc)
}

// keepBytes makes a blob the file of a component, and returns how the dataset
// describes the component.
func keepBytes(tx *store.Tx, dataset, component, filename string, b blob.Blob) (store.Doc, error) {
	c := store.Doc{"name": component, "status": componentCompleted, "filename": filename, "size": b.Size, "checksum": b.MD5}
	return c, tx.Exec(`INSERT OR REPLACE INTO components (dataset, component, blob, size, checksum, filename)
		VALUES (?, ?, ?, ?, ?, ?)`, dataset, component, b.ID, b.Size, b.MD5, filename)
}

// stored is the file of a component.
type stored struct {
	blob, checksum, filename string
	size                     int64
}

// bytesOf returns the file of a component, or sql.ErrNoRows.
func bytesOf(tx *store.Tx, dataset, component string) (s stored, err error) {
	err = tx.QueryRow("SELECT blob, checksum, filename, size FROM components WHERE dataset = ? AND component = ?",
		dataset, component).Scan(&s.blob, &s.checksum, &s.filename, &s.size)
	return s, err
}

func allCompleted(dataset store.Doc) bool {
	list, _ := dataset["components"].([]any)
	for _, v := range list {
		if c, ok := v.(map[string]any); ok && c["status"] != any(componentCompleted) {
			return false
		}
	}
	return true
}
