package platform

import (
	"bytes"
	"image/jpeg"
	"io"
	"maps"
	"mime"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"transect/client/formats"
	"transect/client/schema"
)

func downloadRoutes() []route {
	dataset := schema.Param{Name: "dataset", Type: "id"}
	kind := schema.Param{Name: "kind", Type: "string", Choices: slices.Sorted(maps.Keys(formats.PreviewSides)),
		Optional: true}
	return []route{
		{method: "GET", path: "data-manager/download-component", args: fields{dataset, {Name: "component", Type: "word"}},
			stream: downloadComponent},
		{method: "GET", path: "data-manager/download-image-as-jpeg", args: fields{dataset}, stream: downloadJPEG},
		{method: "GET", path: "data-manager/download-preview", args: fields{dataset, kind}, stream: downloadPreview},
	}
}

// maxSide is the longest side of an image that JPEG has room for, in pixels.
const maxSide = 1<<16 - 1

// downloadComponent sends the file of a component, or a range of it.
func downloadComponent(w http.ResponseWriter, r *Request) {
	s := r.storedFile(r.text("dataset"), r.text("component"))
	f := must(r.p.blobs.Open(s.blob))
	defer f.Close()
	sendFile(w, r, f, "application/octet-stream", s.filename, s.checksum)
}

// sendFile sends content as an attachment.
func sendFile(w http.ResponseWriter, r *Request, content io.ReadSeeker, contentType, filename, tag string) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Disposition", disposition(filename))
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r.http, "", time.Time{}, content)
}

// storedFile returns the file of a component.
func (r *Request) storedFile(dataset, component string) (s stored) {
	r.read(func() {
		var ok bool
		r.componentOf(dataset, component)
		if s, ok = r.bytesOf(dataset, component); !ok {
			panic(fail(http.StatusNotFound, "ResourceNotFound", "the component %q of dataset %s was not uploaded yet", component,
				dataset))
		}
	})
	return s
}

// disposition returns a Content-Disposition header, with the name percent-encoded
// when it is not plain.
func disposition(filename string) string {
	if value := mime.FormatMediaType("attachment", map[string]string{"filename": filename}); value != "" {
		// Some clients do not accept Go's lower-case charset.
		return strings.Replace(value, "filename*=utf-8''", "filename*=UTF-8''", 1)
	}
	return "attachment"
}

// downloadJPEG sends the file of an image dataset as JPEG.
func downloadJPEG(w http.ResponseWriter, r *Request) {
	dataset := r.text("dataset")
	r.read(func() {
		if doc := r.get(datasets, dataset); doc["type"] != any("image") {
			panic(fail(http.StatusNotFound, "NoPicture", "dataset %s is not an image", dataset))
		}
	})
	s := r.storedFile(dataset, "image")
	f := must(r.p.blobs.Open(s.blob))
	defer f.Close()
	filename := strings.TrimSuffix(s.filename, filepath.Ext(s.filename)) + ".jpg"
	file := formats.File{Name: s.filename, Data: f, Size: s.size}
	if content := must(formats.Recognise(file)); content.Format == "jpeg" {
		sendFile(w, r, f, "image/jpeg", filename, s.checksum)
		return
	}
	picture, err := formats.Picture(r.http.Context(), file, maxSide)
	if err != nil {
		panic(fail(http.StatusNotFound, "NoPicture", "the file of dataset %s cannot be shown as JPEG: %s", dataset,
			errorText(err)))
	}
	var b bytes.Buffer
	check(jpeg.Encode(&b, picture, &jpeg.Options{Quality: 90}))
	sendFile(w, r, bytes.NewReader(b.Bytes()), "image/jpeg", filename, s.checksum+"-jpeg")
}
