package platform

import (
	"database/sql"
	"errors"
	"net/http"
	"os"

	"transect/platform/blob"
	"transect/platform/store"
)

// completeWhole ends an upload in one piece. Repeating it does no harm: clients
// do when they did not hear the answer.
func completeWhole(r *Request) (any, error) {
	a := r.args()
	dataset, component := a.id("dataset"), a.text("component")
	if a.err != nil {
		return nil, a.err
	}
	return r.completeWhole(dataset, component)
}

func (r *Request) completeWhole(dataset, component string) (any, error) {
	doc, c, err := r.componentOf(dataset, component)
	if err != nil {
		return nil, err
	}
	u, err := r.uploadOf(dataset, component)
	switch {
	case err != nil:
		return nil, err
	case u.chunk > 0:
		return nil, conflict("the upload to this component is in parts: complete-multipart-upload ends it")
	case u.complete:
		return completed(u), nil
	}
	whole := blob.Blob{MD5: u.checksum} // verified when it came
	err = r.tx.QueryRow("SELECT blob, size FROM parts WHERE upload = ? AND number = ?", u.id, 1).Scan(&whole.ID, &whole.Size)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, missingParts(u, []int64{1})
	}
	if err != nil {
		return nil, err
	}
	if err := r.tx.Exec("DELETE FROM parts WHERE upload = ?", u.id); err != nil {
		return nil, err
	}
	return completed(u), r.completeUpload(u, whole, doc, c)
}

// completed is the answer once an upload is complete.
func completed(u upload) store.Doc {
	return store.Doc{"dataset": u.dataset, "component": u.component, "status": componentCompleted}
}

func missingParts(u upload, missing []int64) error {
	f := fail(http.StatusBadRequest, "MissingParts", "%d of %d parts did not come yet", len(missing), u.parts)
	f.Details = store.Doc{"missing": missing}
	return f
}

// completeMultipart ends an upload in parts. Repeating it does no harm.
func completeMultipart(w http.ResponseWriter, r *Request) error {
	if err := r.readBody(); err != nil {
		return err
	}
	a := r.args()
	dataset, component := a.id("dataset"), a.text("component")
	if a.err != nil {
		return a.err
	}
	var u upload
	if err := r.read(func() (err error) {
		if _, _, err = r.componentOf(dataset, component); err != nil {
			return err
		}
		if u, err = r.uploadOf(dataset, component); err == nil && u.chunk == 0 {
			err = conflict("the upload to this component is in one piece: complete-upload-component ends it")
		}
		return err
	}); err != nil {
		return err
	}
	if !u.complete {
		whole, err := r.assemble(u)
		if err != nil {
			return err
		}
		if err := r.keepAssembled(u, whole); err != nil {
			return err
		}
	}
	writeJSON(w, http.StatusOK, completed(u))
	return nil
}

// assemble checks that all parts are there, with the checksum announced. It
// runs outside of transactions, as it may take long.
func (r *Request) assemble(u upload) (blob.Blob, error) {
	var blobs map[int64]string
	if err := r.read(func() (err error) {
		blobs, err = r.partsOf(u)
		return err
	}); err != nil {
		return blob.Blob{}, err
	}
	var missing []int64
	for number := int64(1); number <= u.parts; number++ {
		if _, ok := blobs[number]; !ok {
			missing = append(missing, number)
		}
	}
	if missing != nil {
		return blob.Blob{}, missingParts(u, missing)
	}
	whole, err := r.p.blobs.Whole(u.id, u.size)
	if errors.Is(err, os.ErrNotExist) {
		return whole, replacedUpload()
	}
	if err == nil && whole.MD5 != u.checksum {
		err = fail(http.StatusBadRequest, "BadDigest", "the parts together have the MD5 %s, announced was %s", whole.MD5, u.checksum)
	}
	return whole, err
}

// keepAssembled makes the file of the parts that of the component.
func (r *Request) keepAssembled(u upload, whole blob.Blob) error {
	return r.write(func() error {
		now, err := r.uploadByID(u.id)
		if err != nil || now.complete {
			return err // complete: another request was quicker
		}
		if err := r.tx.Exec("DELETE FROM parts WHERE upload = ?", u.id); err != nil {
			return err
		}
		doc, c, err := r.componentOf(u.dataset, u.component)
		if err != nil {
			return err
		}
		return r.completeUpload(u, whole, doc, c)
	})
}

// completeUpload ends an upload whose bytes are there.
func (r *Request) completeUpload(u upload, whole blob.Blob, doc, c store.Doc) error {
	if err := r.tx.Exec("UPDATE uploads SET complete = 1 WHERE id = ?", u.id); err != nil {
		return err
	}
	return r.keepWhole(u, whole, doc, c)
}

// keepAtOnce notes an upload whose bytes came with it: it begins and is complete
// once they are there. What breaks off on its way takes nobody's place, and of
// several the one that was there last wins.
func (r *Request) keepAtOnce(u upload, whole blob.Blob) (replaced string, err error) {
	doc, c, err := r.componentOf(u.dataset, u.component)
	if err != nil {
		return "", err
	}
	if c["status"] == any(componentCompleted) && c["checksum"] == any(whole.MD5) && c["filename"] == any(u.filename) &&
		store.Lookup(doc, "ingestion.status") != any(ingestionFailed) {
		return whole.ID, nil // the client did not hear that it was complete and sent again
	}
	u.complete = true
	if err := r.placeUpload(&u); err != nil {
		return "", err
	}
	return "", r.keepWhole(u, whole, doc, c)
}

// keepWhole makes a blob the bytes of a component. With the last component the
// dataset's ingestion is due.
func (r *Request) keepWhole(u upload, whole blob.Blob, doc, c store.Doc) error {
	if err := r.replaceBytes(u, whole, c); err != nil {
		return err
	}
	c["status"], c["filename"], c["size"], c["checksum"] = componentCompleted, u.filename, whole.Size, whole.MD5
	if allCompleted(doc) {
		if err := r.dueIngestion(doc, u.dataset, whole); err != nil {
			return err
		}
	}
	return r.save(datasets, doc)
}

// dueIngestion makes the ingestion of a dataset due. When its one photo was
// looked at already, and no earlier one is under way, it is that ingestion.
func (r *Request) dueIngestion(doc store.Doc, id string, whole blob.Blob) error {
	underWay := store.Lookup(doc, "ingestion.status") == any(ingestionRunning)
	seen, ok := r.p.looked.of(whole.ID)
	if ok {
		r.afterwards(func() { r.p.looked.drop(whole.ID) })
	}
	if ok && isPhoto(doc) && !underWay {
		found := store.Doc{"size": whole.Size}
		if seen.err == nil {
			describePhoto(found, seen.photo, doc)
		}
		r.p.ingested(doc, found, problemOf(seen.err))
		return nil
	}
	store.Set(doc, "ingestion.status", ingestionRunning)
	if object, ok := doc["ingestion"].(map[string]any); ok {
		delete(object, "error")
	}
	r.afterwards(r.p.workers.wake)
	return enqueue(r.tx, ingestionJob, id)
}

// replaceBytes notes which blob a component has now.
func (r *Request) replaceBytes(u upload, whole blob.Blob, c store.Doc) error {
	if c["status"] == any(componentCompleted) {
		old, err := r.bytesOf(u.dataset, u.component)
		if err == nil {
			r.afterwards(func() { r.p.blobs.Remove(old.blob) })
		} else if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	return keepBytes(r.tx, u.dataset, u.component, u.filename, whole)
}

func keepBytes(tx *store.Tx, dataset, component, filename string, b blob.Blob) error {
	return tx.Exec(`INSERT OR REPLACE INTO components (dataset, component, blob, size, checksum, filename)
		VALUES (?, ?, ?, ?, ?, ?)`, dataset, component, b.ID, b.Size, b.MD5, filename)
}

// stored is the file of a component.
type stored struct {
	blob, checksum, filename string
	size                     int64
}

// bytesOf finds the file of a component, or fails with sql.ErrNoRows.
func (r *Request) bytesOf(dataset, component string) (stored, error) {
	return bytesOf(r.tx, dataset, component)
}

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
