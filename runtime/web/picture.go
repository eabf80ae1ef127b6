package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"html"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"transect/client"
	"transect/client/atomicfile"
	"transect/client/fault"
	"transect/client/formats"
)

// Pictures of datasets: the platform's own preview, or else drawn here from the files. Both are cached in a
// folder.
const (
	maxPictures     = 20_000
	maxPictureBytes = 512 << 20
	maxPicture      = 16 << 20 // bytes of one picture
	maxDrawn        = 4 << 30  // bytes of a file to draw from
	noPictureFor    = 5 * time.Minute
	pictureTimeout  = 2 * time.Minute
)

// pictures makes and caches pictures.
type pictures struct {
	server *Server
	making singleflight.Group
	slots  chan struct{} // limits drawing, which takes memory

	mu      sync.Mutex
	none    map[string]noPicture
	written int // since the cache was last trimmed
}

// noPicture is a cached error.
type noPicture struct {
	err   error
	until time.Time
}

func newPictures(s *Server) *pictures {
	return &pictures{server: s, slots: make(chan struct{}, 2), none: map[string]noPicture{}}
}

// pictureRoutes registers /picture/DATASET?kind=tiny|small&v=VERSION: a JPEG or PNG. v is anything that
// changes with the files, such as a checksum. Without a picture the response is 404, or with else=text an
// image of that text.
func (s *Server) pictureRoutes() {
	s.stream("/picture/{dataset}", s.picture)
}

func (s *Server) picture(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	kind := query.Get("kind")
	if kind == "" {
		kind = "small"
	}
	if formats.PreviewSides[kind] == 0 {
		return notFound("there are no pictures of the kind %q; the kinds are tiny and small", kind)
	}
	content, err := s.pictures.get(r.Context(), r.PathValue("dataset"), kind, query.Get("v"))
	if err != nil && query.Get("else") == "text" && !describe(err).Away {
		w.Header().Set("Content-Type", "image/svg+xml")
		_, err = io.WriteString(w, textPicture("no preview"))
		return err
	}
	if err != nil {
		return err
	}
	sendPicture(w, r, content)
	return nil
}

func sendPicture(w http.ResponseWriter, r *http.Request, content []byte) {
	sum := sha256.Sum256(content)
	w.Header().Set("Cache-Control", "private, no-cache")
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:8])+`"`)
	w.Header().Set("Content-Type", http.DetectContentType(content))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// textPicture returns an SVG of a word, which needs no styles.
func textPicture(text string) string {
	return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 160 90" width="320"><rect width="160" height="90" fill="#8883"/>` +
		`<text x="80" y="49" font-family="sans-serif" font-size="12" text-anchor="middle" fill="#888">` +
		html.EscapeString(text) + `</text></svg>`
}

// get returns a picture. Concurrent requests for the same one are merged.
func (p *pictures) get(ctx context.Context, dataset, kind, version string) ([]byte, error) {
	c, err := p.server.platform()
	if err != nil {
		return nil, err
	}
	name := strings.Join([]string{c.BaseURL(), p.server.Platform, dataset, kind, version}, "\n")
	return p.cached(ctx, name, func(ctx context.Context) ([]byte, error) { return p.make(ctx, c, dataset, kind) })
}

// cached returns a picture by name; make makes it if it is not cached.
func (p *pictures) cached(ctx context.Context, name string, make func(context.Context) ([]byte, error)) ([]byte,
	error) {
	sum := sha256.Sum256([]byte(name))
	key := hex.EncodeToString(sum[:16])
	if content := p.read(key); content != nil {
		return content, nil
	}
	p.mu.Lock()
	none, ok := p.none[key]
	p.mu.Unlock()
	if ok && time.Now().Before(none.until) {
		return nil, none.err
	}
	done := p.making.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(p.server.ctx, pictureTimeout) // continues when the browser scrolls on
		defer cancel()
		select {
		case p.slots <- struct{}{}:
			defer func() { <-p.slots }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		content, err := make(ctx)
		if err != nil {
			if !describe(err).Away {
				p.remember(key, err)
			}
			return nil, err
		}
		p.write(key, content)
		return content, nil
	})
	select {
	case result := <-done:
		if result.Err != nil {
			return nil, result.Err
		}
		return result.Val.([]byte), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// make requests a picture from the platform, and draws one if it has none.
func (p *pictures) make(ctx context.Context, c *client.Client, dataset, kind string) ([]byte, error) {
	content, err := platformPicture(ctx, c, dataset, kind)
	if err == nil || describe(err).Away {
		return content, err
	}
	found, err := c.Datasets.Describe(ctx, client.Refs{IDs: client.IDs{dataset}})
	if err != nil {
		return nil, err
	}
	main, sidecars := pictureFiles(ctx, c, found.One())
	if main == nil {
		return nil, notFound("the files of dataset %s have not been uploaded yet", dataset)
	}
	if main.Size > maxDrawn {
		return nil, notFound("%s is too large to be drawn here", main.Name)
	}
	return drawPicture(ctx, *main, sidecars, kind)
}

// drawPicture draws a file.
func drawPicture(ctx context.Context, main formats.File, sidecars []formats.File, kind string) ([]byte, error) {
	drawn, err := formats.Picture(ctx, main, formats.PreviewSides[kind], sidecars...)
	if err != nil {
		return nil, notFound("%s", describe(err).Message)
	}
	return formats.Encode(drawn)
}

// platformPicture returns the platform's preview.
func platformPicture(ctx context.Context, c *client.Client, dataset, kind string) ([]byte, error) {
	answer, err := c.OpenPreview(ctx, client.ID(dataset), kind)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(io.LimitReader(answer.Body, maxPicture+1))
	if err != nil {
		return nil, fault.Of(&fault.ConnectionError{}, "the download of the preview was interrupted: %w", fault.Reason(err))
	}
	declared, _, _ := mime.ParseMediaType(http.DetectContentType(content))
	if len(content) > maxPicture || !slices.Contains([]string{"image/jpeg", "image/png", "image/webp"}, declared) {
		return nil, notFound("the platform's preview of %s is not a picture", dataset)
	}
	return content, nil
}

func (p *pictures) remember(key string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.none) > 10_000 {
		clear(p.none)
	}
	p.none[key] = noPicture{err, time.Now().Add(noPictureFor)}
}

func (p *pictures) path(key string) string { return filepath.Join(p.server.Cache, key[:2], key) }

// read returns a picture from the cache, or nil.
func (p *pictures) read(key string) []byte {
	if p.server.Cache == "" {
		return nil
	}
	content, err := os.ReadFile(p.path(key))
	if err != nil || len(content) == 0 {
		return nil
	}
	return content
}

// write caches a picture. A cache that cannot be written is ignored.
func (p *pictures) write(key string, content []byte) {
	if p.server.Cache == "" {
		return
	}
	path := p.path(key)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = atomicfile.WriteUnsynced(path, content, 0o600)
	}
	if err != nil {
		p.server.Logger.Debug("a picture cannot be kept", "reason", err)
		return
	}
	p.mu.Lock()
	p.written++
	due := p.written%500 == 1
	p.mu.Unlock()
	if due {
		go p.bound()
	}
}

// bound removes the oldest pictures when the cache is too large.
func (p *pictures) bound() {
	type entry struct {
		path string
		size int64
		at   time.Time
	}
	var all []entry
	total := int64(0)
	err := filepath.WalkDir(p.server.Cache, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err == nil {
			all, total = append(all, entry{path, info.Size(), info.ModTime()}), total+info.Size()
		}
		return nil
	})
	if err != nil || len(all) <= maxPictures && total <= maxPictureBytes {
		return
	}
	slices.SortFunc(all, func(a, b entry) int { return a.at.Compare(b.at) })
	for left := len(all); left > maxPictures*9/10 || total > maxPictureBytes*9/10; left-- {
		if err := os.Remove(all[0].path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return
		}
		total -= all[0].size
		all = all[1:]
	}
}
