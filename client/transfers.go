package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/transfer"
)

// backoffFor returns a sleep that releases the transfer's connection meanwhile.
func backoffFor(sleep func(context.Context, time.Duration) error) func(context.Context, time.Duration) error {
	return func(ctx context.Context, d time.Duration) error {
		return transfer.Backoff(ctx, func() error { return sleep(ctx, d) })
	}
}

// TransferOptions configure the transfers of an operation.
type TransferOptions struct {
	Progress func(delta int64)       // bytes transferred since the last call; negative when a part starts over
	Found    func(delta int64)       // bytes of them that an earlier run has sent
	Uploaded func(transfer.Uploaded) // called with the result of an upload

	New      bool                        // the component was just created
	Turn     int64                       // of an upload in the queue for connections; behind those begun before when 0
	Begin    func(context.Context) error // called when an upload has its turn; its error ends it
	Reserved func(sent int64)            // of Reserve, for an upload; reserved when it begins if nil
}

type transferOptionsKey struct{}

// WithTransfers returns a context whose transfers have these options.
func WithTransfers(ctx context.Context, o TransferOptions) context.Context {
	return context.WithValue(ctx, transferOptionsKey{}, o)
}

func transferOptions(ctx context.Context) TransferOptions {
	o, _ := ctx.Value(transferOptionsKey{}).(TransferOptions)
	return o
}

// Uploaded reports an upload made elsewhere to the options in ctx.
func Uploaded(ctx context.Context, u transfer.Uploaded) {
	o := transferOptions(ctx)
	if o.Progress != nil {
		o.Progress(u.Bytes)
	}
	if o.Uploaded != nil {
		o.Uploaded(u)
	}
}

// Reserve reserves n bytes of the budget for an upload, which takes them by
// TransferOptions.Reserved; calling sent with n releases the rest.
func (c *Client) Reserve(n int64) (sent func(n int64), err error) { return c.transfers.Plan(n) }

// Room returns how many bytes are left of the budget, if there is one.
func (c *Client) Room() (n int64, limited bool) {
	if c.transfers.Room == nil {
		return 0, false
	}
	return c.transfers.Room()
}

// Missing returns how many bytes of a component no earlier run has sent.
func (c *Client) Missing(dataset, component, path string) (int64, error) {
	return c.transfers.Missing(transfer.Upload{Dataset: dataset, Component: component, Path: path, Multipart: true})
}

func (in UploadFile) upload() transfer.Upload {
	u := transfer.Upload{Dataset: string(in.Dataset), Component: in.Component, Path: string(in.FilePath), MD5: in.MD5,
		Multipart: *in.Multipart}
	if in.ChunkSize != nil {
		u.ChunkSize = *in.ChunkSize
	}
	return u
}

// FileMD5 returns the MD5 of a file that a call uploads; a following upload of the unchanged file reuses it.
func (c *Client) FileMD5(ctx context.Context, call *declare.Call, path string) (string, error) {
	u := transfer.Upload{Multipart: true}
	if in, ok := call.In.(UploadFile); ok {
		u = in.upload()
	}
	u.Path = path
	return c.transfers.Sum(ctx, u)
}

func (c *Client) uploadFile(ctx context.Context, in UploadFile) (None, error) {
	o := transferOptions(ctx)
	u := in.upload()
	u.Turn = o.Turn
	u.New, u.Begin, u.Progress, u.Found, u.Reserved = o.New, o.Begin, o.Progress, o.Found, o.Reserved
	sent, err := c.transfers.Upload(ctx, u)
	c.explainComponent(ctx, string(in.Dataset), in.Component, err)
	if o.Uploaded != nil && err == nil {
		o.Uploaded(sent)
	}
	return None{}, err
}

func (c *Client) download(ctx context.Context, path string, query url.Values, target Target,
	d transfer.Download) (Path, error) {
	d.Path, d.Query, d.TargetPath, d.TargetName, d.Overwrite = path, query, string(target.TargetPath), target.TargetName,
		target.Overwrite
	d.Progress = transferOptions(ctx).Progress
	for name, v := range declare.Running(ctx).Extra {
		if !query.Has(name) {
			query.Set(name, fmt.Sprint(v))
		}
	}
	file, err := c.transfers.Download(ctx, d)
	return Path(file), err
}

func (c *Client) downloadComponent(ctx context.Context, in DownloadComponent) (Path, error) {
	path, err := c.download(ctx, "/data-manager/download-component",
		url.Values{"dataset": {string(in.Dataset)}, "component": {in.Component}},
		Target{in.TargetPath, in.TargetName, in.Overwrite},
		transfer.Download{MD5: in.MD5, Checksum: func(ctx context.Context) string {
			return c.componentMD5(ctx, in)
		}})
	c.explainComponent(ctx, string(in.Dataset), in.Component, err)
	return path, err
}

// explainComponent lists the components of a dataset in the hint of an error where it
// has none of the name that was given.
func (c *Client) explainComponent(ctx context.Context, dataset, name string, err error) {
	var refused *fault.ResponseError
	if !errors.As(err, &refused) || refused.Status != http.StatusNotFound && refused.Status != http.StatusBadRequest {
		return
	}
	found, err := c.Datasets.Describe(ctx, Refs{IDs: IDs{dataset}})
	if err != nil || len(found) == 0 {
		return
	}
	var names []string
	for _, component := range gjson.GetBytes(found[0].JSON(), "components.#.name").Array() {
		names = append(names, component.String())
	}
	if len(names) > 0 && !slices.Contains(names, name) {
		refused.Hint = "its components are: " + strings.Join(names, ", ")
	}
}

// componentMD5 returns the platform's checksum of a component, or "".
func (c *Client) componentMD5(ctx context.Context, in DownloadComponent) string {
	found, err := c.Datasets.Describe(ctx, Refs{IDs: IDs{string(in.Dataset)}})
	if err != nil || len(found) == 0 {
		c.log.Debug("the component cannot be described", "dataset", in.Dataset, "reason", err)
		return ""
	}
	for _, component := range gjson.GetBytes(found[0].JSON(), "components").Array() {
		if component.Get("name").String() == in.Component {
			return component.Get("checksum").String()
		}
	}
	return ""
}

func (c *Client) downloadImage(ctx context.Context, in DownloadImage) (Path, error) {
	return c.download(ctx, "/data-manager/download-image-as-jpeg", url.Values{"dataset": {string(in.Dataset)}},
		in.Target, transfer.Download{MD5: in.MD5})
}

func (c *Client) downloadPreview(ctx context.Context, in DownloadPreview) (Path, error) {
	query := url.Values{"dataset": {string(in.Dataset)}}
	if in.Kind != "" {
		query.Set("kind", in.Kind)
	}
	return c.download(ctx, "/data-manager/download-preview", query, in.Target, transfer.Download{})
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
