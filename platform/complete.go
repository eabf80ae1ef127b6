package platform

import (
	"errors"
	"maps"
	"net/http"
	"os"
	"slices"

	"transect/platform/blob"
	"transect/platform/store"
)

// completeUpload ends the upload of a whole file or of parts. Repeating it does
// no harm: clients do when they got no answer. It opens transactions of its own,
// as reading the parts together may take long.
func completeUpload(multipart bool) streamer {
	return func(w http.ResponseWriter, r *Request) {
		var u upload
		var parts map[int64]blob.Blob
		r.read(func() {
			u = r.componentUpload()
			parts = r.partsOf(u)
		})
		switch {
		case u.multipart() && !multipart:
			panic(conflict("the upload to this component is in parts: complete-multipart-upload ends it"))
		case !u.multipart() && multipart:
			panic(conflict("the upload to this component is not in parts: complete-upload-component ends it"))
		}
		if !u.complete {
			whole := r.assemble(u, parts)
			r.write(func() { r.finishUpload(u, whole) })
		}
		writeJSON(w, http.StatusOK, completed(u))
	}
}

// completed is the answer once an upload is complete.
func completed(u upload) store.Doc {
	return store.Doc{"dataset": u.dataset, "component": u.component, "status": componentCompleted}
}

// assemble returns the bytes of an upload whose parts are all here and have,
// together, the right checksum.
func (r *Request) assemble(u upload, parts map[int64]blob.Blob) blob.Blob {
	var missing []int64
	for number := int64(1); number <= u.parts; number++ {
		if _, ok := parts[number]; !ok {
			missing = append(missing, number)
		}
	}
	if missing != nil {
		f := fail(http.StatusBadRequest, "MissingParts", "%d of %d parts are missing", len(missing), u.parts)
		f.Details = store.Doc{"missing": missing}
		panic(f)
	}
	if !u.multipart() {
		return parts[1] // its checksum was verified when it came
	}
	whole, err := r.p.blobs.Sum(u.id)
	switch {
	case errors.Is(err, os.ErrNotExist):
		panic(conflict("a later upload to this component replaced this one"))
	case err == nil && whole.MD5 != u.checksum:
		panic(fail(http.StatusBadRequest, "BadDigest", "the parts together have the MD5 %s, expected %s", whole.MD5, u.checksum))
	}
	check(err)
	return whole
}

// finishUpload marks an upload as complete and gives its bytes to the component.
func (r *Request) finishUpload(u upload, whole blob.Blob) {
	if r.needUpload("id = ?", u.id).complete {
		return // another request completed it meanwhile
	}
	r.exec("DELETE FROM parts WHERE upload = ?", u.id)
	r.exec("UPDATE uploads SET complete = 1 WHERE id = ?", u.id)
	doc, c := r.componentOf(u.dataset, u.component)
	r.keepWhole(u, whole, doc, c)
}

// keepWhole makes a blob the bytes of a component. With the last component of a
// dataset its ingestion becomes due.
func (r *Request) keepWhole(u upload, whole blob.Blob, doc, c store.Doc) {
	if old, ok := r.bytesOf(u.dataset, u.component); ok {
		r.afterwards(func() { r.p.blobs.Remove(old.blob) })
	}
	maps.Copy(c, r.keepBytes(u.dataset, u.component, u.filename, whole))
	if allCompleted(doc) {
		store.Set(doc, "ingestion.status", ingestionRunning)
		delete(objectOf(doc, "ingestion"), "error")
		r.enqueue(ingestionJob, u.dataset)
	}
	r.save(datasets, doc)
}

// keepBytes makes a blob the file of a component, and returns how the dataset
// describes the component.
func (t tx) keepBytes(dataset, component, filename string, b blob.Blob) store.Doc {
	t.exec(`INSERT OR REPLACE INTO components (dataset, component, blob, size, checksum, filename)
		VALUES (?, ?, ?, ?, ?, ?)`, dataset, component, b.ID, b.Size, b.MD5, filename)
	return store.Doc{"name": component, "status": componentCompleted, "filename": filename, "size": b.Size, "checksum": b.MD5}
}

// stored is the file of a component.
type stored struct {
	blob, checksum, filename string
	size                     int64
}

// bytesOf returns the file of a component, or false when it was not uploaded yet.
func (t tx) bytesOf(dataset, component string) (s stored, ok bool) {
	ok = found(t.QueryRow("SELECT blob, checksum, filename, size FROM components WHERE dataset = ? AND component = ?",
		dataset, component).Scan(&s.blob, &s.checksum, &s.filename, &s.size))
	return s, ok
}

func allCompleted(dataset store.Doc) bool {
	return !slices.ContainsFunc(listOf(dataset, "components"), func(v any) bool {
		return store.Text(v.(map[string]any), "status") != componentCompleted
	})
}
