package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"transect/client/fault"
	"transect/client/transfer"
	"transect/client/transport"
)

// OpenComponent opens the file of a component for reading: all of it, or the
// part in the header Range. The answer's status is 200 or 206; the caller
// closes its body. Its request may hold a signed address, which is a secret.
func (c *Client) OpenComponent(ctx context.Context, dataset ID, component string, header http.Header) (*http.Response,
	error) {
	return c.transfers.OpenDownload(ctx, transfer.Download{Path: "/data-manager/download-component",
		Query: url.Values{"dataset": {string(dataset)}, "component": {component}}}, header)
}

// OpenPreview opens the platform's preview of a dataset; kind is tiny or small.
// The caller closes the answer's body.
func (c *Client) OpenPreview(ctx context.Context, dataset ID, kind string) (*http.Response, error) {
	return c.transfers.OpenDownload(ctx, transfer.Download{Path: "/data-manager/download-preview",
		Query: url.Values{"dataset": {string(dataset)}, "kind": {kind}}}, nil)
}

// Tile is the image of one map tile.
type Tile struct {
	Type  string // content type
	Image []byte
}

const largestTile = 8 << 20

// Tile fetches a tile by a URL template with {z}, {x} and {y} on the platform,
// such as ShareTiles returns. A template without a token uses this client's
// login.
func (c *Client) Tile(ctx context.Context, template string, z, x, y int) (Tile, error) {
	address := strings.NewReplacer("{z}", strconv.Itoa(z), "{x}", strconv.Itoa(x), "{y}",
		strconv.Itoa(y)).Replace(template)
	u, err := url.Parse(address)
	if err != nil {
		return Tile{}, fault.Of(&fault.QueryError{}, "the platform returned an invalid tile address")
	}
	answer, err := c.transport.Stream(ctx,
		transport.Request{Operation: "tiles", Repeatable: true, Method: http.MethodGet, Path: u.Path, Query: u.Query()})
	if err != nil {
		return Tile{}, err
	}
	defer answer.Body.Close()
	image, err := io.ReadAll(io.LimitReader(answer.Body, largestTile+1))
	if err != nil {
		return Tile{}, err
	}
	if len(image) > largestTile {
		return Tile{}, fault.Of(&fault.QueryError{}, "a tile of more than %d MiB", largestTile>>20)
	}
	return Tile{answer.Header.Get("Content-Type"), image}, nil
}

// TileTemplate returns the URL template of a raster's tiles, without a token.
func TileTemplate(d Dataset) (string, error) { return tilePath([]Dataset{d}) }
