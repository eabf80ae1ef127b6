package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"transect/client"
	"transect/client/formats"
	"transect/client/transfer"
)

// component reads the file of a component by ranges, as drawing a picture needs. It caches the last blocks.
type component struct {
	ctx           context.Context
	client        *client.Client
	dataset, name string
	size          int64

	mu     sync.Mutex
	blocks []block // least recently used first
}

type block struct {
	number int64
	data   []byte
}

const (
	blockSize = 512 << 10
	maxBlocks = 32
)

// ReadAt reads from cached blocks, or else from the platform.
func (c *component) ReadAt(p []byte, at int64) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n < len(p) {
		if at >= c.size {
			return n, io.EOF
		}
		data, err := c.block(at / blockSize)
		if err != nil {
			return n, err
		}
		within := int(at % blockSize)
		if within >= len(data) {
			return n, io.ErrUnexpectedEOF
		}
		k := copy(p[n:], data[within:])
		n, at = n+k, at+int64(k)
	}
	return n, nil
}

func (c *component) block(number int64) ([]byte, error) {
	if i := slices.IndexFunc(c.blocks, func(b block) bool { return b.number == number }); i >= 0 {
		b := c.blocks[i]
		c.blocks = append(slices.Delete(c.blocks, i, i+1), b)
		return b.data, nil
	}
	from := number * blockSize
	to := min(from+blockSize, c.size)
	answer, err := c.client.OpenComponent(c.ctx, client.ID(c.dataset), c.name,
		http.Header{"Range": {fmt.Sprintf("bytes=%d-%d", from, to-1)}})
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusPartialContent && to-from < c.size {
		return nil, errors.New("the platform does not send parts of files")
	}
	data := make([]byte, to-from)
	if _, err := io.ReadFull(answer.Body, data); err != nil {
		return nil, err
	}
	if len(c.blocks) == maxBlocks {
		c.blocks = c.blocks[1:]
	}
	c.blocks = append(c.blocks, block{number, data})
	return data, nil
}

// pictureFiles returns the file of a dataset to draw a picture from, and its sidecar files; nil while it is
// not uploaded. The main component has the name of the dataset's kind.
func pictureFiles(ctx context.Context, c *client.Client, d client.Dataset) (main *formats.File,
	sidecars []formats.File) {
	for _, part := range d.Components {
		n := whole(part.Size)
		if part.Status != "completed" || n < 0 {
			continue
		}
		f := formats.File{Name: cmp.Or(part.Filename, d.Name), Size: n,
			Data: &component{ctx: ctx, client: c, dataset: d.ID, name: part.Name, size: n}}
		switch {
		case main == nil:
			main = &f
		case part.Name == d.Type:
			main, sidecars = &f, append(sidecars, *main)
		default:
			sidecars = append(sidecars, f)
		}
	}
	return main, sidecars
}

// download sends the file of a component, or the range that the browser requests, without revealing its
// address on the platform.
func (s *Server) download(w http.ResponseWriter, r *http.Request, c *client.Client) error {
	found, err := c.Datasets.Describe(r.Context(), client.Refs{IDs: client.IDs{r.PathValue("dataset")}})
	if err != nil {
		return err
	}
	name := ""
	for _, part := range found.One().Components {
		if part.Name == r.PathValue("component") {
			name = cmp.Or(part.Filename, part.Name)
		}
	}
	if name == "" {
		return notFound("dataset %s has no component %s", r.PathValue("dataset"), r.PathValue("component"))
	}
	header := http.Header{}
	for _, h := range []string{"Range", "If-Range"} {
		if v := r.Header.Get(h); v != "" {
			header.Set(h, v)
		}
	}
	answer, err := c.OpenComponent(r.Context(), client.ID(found.One().ID), r.PathValue("component"), header)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	h := w.Header()
	for _, name := range []string{"Content-Range", "Accept-Ranges", "ETag"} {
		if v := answer.Header.Get(name); v != "" {
			h.Set(name, v)
		}
	}
	if answer.ContentLength >= 0 {
		h.Set("Content-Length", strconv.FormatInt(answer.ContentLength, 10))
	}
	// Never shown in the page's own origin: a file may be a page or a drawing.
	h.Set("Content-Type", "application/octet-stream")
	attach(w, transfer.SafeName(name))
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	w.WriteHeader(answer.StatusCode)
	_, err = io.Copy(w, answer.Body)
	return err
}
