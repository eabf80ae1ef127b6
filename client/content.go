package client

import (
	"context"
	"net/http"
	"net/url"

	"transect/client/transfer"
)

// OpenComponent opens the file of a component for reading: all of it, or what
// the header Range asks for. The answer's status is 200 or 206; the caller closes
// its body. Its request may hold a signed address, which is a secret.
func (c *Client) OpenComponent(ctx context.Context, dataset ID, component string, header http.Header) (*http.Response, error) {
	return c.transfers.OpenDownload(ctx, transfer.Download{Path: "/data-manager/download-component",
		Query: url.Values{"dataset": {string(dataset)}, "component": {component}}}, header)
}

// OpenPreview opens the small picture of a dataset that the platform has, of a
// kind: tiny or small. The caller closes the body of the answer.
func (c *Client) OpenPreview(ctx context.Context, dataset ID, kind string) (*http.Response, error) {
	return c.transfers.OpenDownload(ctx, transfer.Download{Path: "/data-manager/download-preview",
		Query: url.Values{"dataset": {string(dataset)}, "kind": {kind}}}, nil)
}
