package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/transfer"
	"transect/client/transport"
)

// wire makes the requests of transfers on the client's transport.
type wire struct{ client *Client }

func (w wire) Call(ctx context.Context, service, route string, body, out any) error {
	text, err := declare.Encode(body)
	if err != nil {
		return err
	}
	answer, err := w.client.transport.Do(ctx, transport.Request{Repeatable: true, Path: "/" + service + "/" + route, Body: text})
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(answer.Body, out); err != nil {
		return fault.Hinted(fault.Of(&fault.QueryError{}, "the platform's answer to %s is not what it should be: %w", route, err),
			"does something on the way change answers? running again does no harm")
	}
	return nil
}

func (w wire) Post(ctx context.Context, path string, query url.Values, body func() (io.ReadCloser, error), size int64) error {
	_, err := w.client.transport.Do(ctx, transport.Request{Repeatable: true, Path: path, Query: query, BodyReader: body, Size: size})
	return err
}

func (w wire) Put(ctx context.Context, address string, header http.Header, body func() (io.ReadCloser, error), size int64) (int, error) {
	answer, err := w.client.transport.Storage(ctx, http.MethodPut, address, header, body, size)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // so that the connection can be used again
	return answer.StatusCode, nil
}

func (w wire) Get(ctx context.Context, path string, query url.Values, part transfer.Span) (*http.Response, error) {
	return w.client.transport.Stream(ctx, transport.Request{Repeatable: true, Method: http.MethodGet, Path: path, Query: query, Header: part.Header()})
}

// backoffFor returns a sleep that releases the transfer's connection meanwhile.
func backoffFor(sleep func(context.Context, time.Duration) error) func(context.Context, time.Duration) error {
	return func(ctx context.Context, d time.Duration) error {
		return transfer.Backoff(ctx, func() error { return sleep(ctx, d) })
	}
}

// Transferring says how the transfers of an operation are done, and who hears
// of them.
type Transferring struct {
	Progress func(delta int64)       // bytes moved since it was called last; negative when a part starts over
	Found    func(delta int64)       // which of these bytes an earlier run had sent
	Uploaded func(transfer.Uploaded) // what was sent

	New bool // the component was made just now
}

type transferringKey struct{}

// WithTransfers returns a context whose transfers are done like that.
func WithTransfers(ctx context.Context, t Transferring) context.Context {
	return context.WithValue(ctx, transferringKey{}, t)
}

func transferring(ctx context.Context) Transferring {
	t, _ := ctx.Value(transferringKey{}).(Transferring)
	return t
}

func (c *Client) uploadFile(ctx context.Context, in UploadFile) (None, error) {
	how := transferring(ctx)
	u := transfer.Upload{Dataset: string(in.Dataset), Component: in.Component, Path: string(in.FilePath), MD5: in.MD5,
		Multipart: *in.Multipart, New: how.New, Progress: how.Progress, Found: how.Found}
	if in.ChunkSize != nil {
		u.ChunkSize = *in.ChunkSize
	}
	sent, err := c.transfers.Upload(ctx, u)
	if how.Uploaded != nil && err == nil {
		how.Uploaded(sent)
	}
	return None{}, err
}

func (c *Client) download(ctx context.Context, path string, query url.Values, target Target, md5 string) (Path, error) {
	file, err := c.transfers.Download(ctx, transfer.Download{Path: path, Query: query, TargetPath: string(target.TargetPath),
		TargetName: target.TargetName, Overwrite: target.Overwrite, MD5: md5, Progress: transferring(ctx).Progress})
	return Path(file), err
}

func (c *Client) downloadComponent(ctx context.Context, in DownloadComponent) (Path, error) {
	return c.download(ctx, "/data-manager/download-component", url.Values{"dataset": {string(in.Dataset)}, "component": {in.Component}},
		Target{in.TargetPath, in.TargetName, in.Overwrite}, in.MD5)
}

func (c *Client) downloadImage(ctx context.Context, in DownloadImage) (Path, error) {
	return c.download(ctx, "/data-manager/download-image-as-jpeg", url.Values{"dataset": {string(in.Dataset)}}, in.Target, in.MD5)
}

func (c *Client) downloadPreview(ctx context.Context, in DownloadPreview) (Path, error) {
	query := url.Values{"dataset": {string(in.Dataset)}}
	if in.Kind != "" {
		query.Set("kind", in.Kind)
	}
	return c.download(ctx, "/data-manager/download-preview", query, in.Target, "")
}

func lookup(env func(string) (string, bool), name string) (string, bool) {
	if env == nil {
		env = os.LookupEnv
	}
	return env(name)
}

// uploadMode reads USE_LEGACY_UPLOADER.
func uploadMode(env func(string) (string, bool)) transfer.UploadMode {
	text, _ := lookup(env, "USE_LEGACY_UPLOADER")
	if slices.Contains([]string{"yes", "true", "1"}, strings.ToLower(text)) {
		return transfer.ThroughPlatform
	}
	return transfer.ToStorage
}
