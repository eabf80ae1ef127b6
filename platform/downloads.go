package platform

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	_ "image/png" // formats of previews
	"io"
	"maps"
	"mime"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"

	"transect/client/schema"
)

func downloadRoutes() []route {
	dataset := schema.Param{Name: "dataset", Type: "id"}
	kind := schema.Param{Name: "kind", Type: "string", Choices: slices.Sorted(maps.Keys(previewSides)), Optional: true}
	return []route{
		{method: "GET", path: "data-manager/download-component", args: fields{dataset, {Name: "component", Type: "word"}}, stream: downloadComponent},
		{method: "GET", path: "data-manager/download-image-as-jpeg", args: fields{dataset}, stream: downloadJPEG},
		{method: "GET", path: "data-manager/download-preview", args: fields{dataset, kind}, stream: downloadPreview},
	}
}

// maxPixels limits the memory that decoding an image may take.
const maxPixels = 250_000_000

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
			panic(fail(http.StatusNotFound, "ResourceNotFound", "the component %q of dataset %s was not uploaded yet", component, dataset))
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
	s, picture, format := r.picture(r.text("dataset"))
	filename := strings.TrimSuffix(s.filename, filepath.Ext(s.filename)) + ".jpg"
	if format == "jpeg" {
		f, err := r.p.blobs.Open(s.blob)
		check(err)
		defer f.Close()
		sendFile(w, r, f, "image/jpeg", filename, s.checksum)
		return
	}
	encodeJPEG(w, r, picture, filename, s.checksum+"-jpeg")
}

// picture decodes the file of an image dataset, or fails with 404.
func (r *Request) picture(dataset string) (s stored, picture image.Image, format string) {
	r.read(func() {
		if doc := r.get(datasets, dataset); doc["type"] != any("image") {
			panic(fail(http.StatusNotFound, "NoPicture", "dataset %s is not an image", dataset))
		}
	})
	s = r.storedFile(dataset, "image")
	f := must(r.p.blobs.Open(s.blob))
	defer f.Close()
	picture, format, err := decodePicture(f)
	if err != nil {
		panic(fail(http.StatusNotFound, "NoPicture", "the file of dataset %s cannot be decoded as an image: %v", dataset, err))
	}
	return s, picture, format
}

func decodePicture(f io.ReadSeeker) (image.Image, string, error) {
	config, format, err := image.DecodeConfig(f)
	if err != nil {
		return nil, "", err
	}
	if int64(config.Width)*int64(config.Height) > maxPixels {
		return nil, "", fmt.Errorf("%d x %d pixels are more than the limit of %d", config.Width, config.Height, maxPixels)
	}
	if _, err := f.Seek(0, 0); err != nil {
		return nil, "", err
	}
	picture, _, err := image.Decode(f)
	return picture, format, err
}

func encodeJPEG(w http.ResponseWriter, r *Request, picture image.Image, filename, tag string) {
	var b bytes.Buffer
	check(jpeg.Encode(&b, picture, &jpeg.Options{Quality: 90}))
	sendFile(w, r, bytes.NewReader(b.Bytes()), "image/jpeg", filename, tag)
}
