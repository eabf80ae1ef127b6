package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"transect/client"
	"transect/client/fault"
)

// tileAddresses caches the templates of the platform's tile addresses by dataset. They may contain share
// tokens and stay in this process: browsers get tiles through it.
type tileAddresses struct {
	mu        sync.Mutex
	byDataset map[string]tileAddress
	byToken   bool // the platform's tiles need a share token
}

type tileAddress struct {
	template string
	until    time.Time
}

const (
	tokenLife    = time.Hour // of share tokens made for the page
	maxAddresses = 1000
	deepestTile  = 26
)

// tile sends a tile of a raster.
func (s *Server) tile(w http.ResponseWriter, r *http.Request) error {
	at := [3]int{}
	for i, name := range []string{"z", "x", "y"} {
		n, err := strconv.Atoi(strings.TrimSuffix(r.PathValue(name), ".png"))
		if err != nil || n < 0 || n >= 1<<deepestTile {
			return notFound("%q is not a tile number", r.PathValue(name))
		}
		at[i] = n
	}
	if s.Client == nil || at[0] > deepestTile || at[1] >= 1<<at[0] || at[2] >= 1<<at[0] {
		return notFound("there is no such tile")
	}
	tile, err := s.platformTile(r.Context(), r.PathValue("dataset"), at)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(tile.Type, "image/") || strings.Contains(tile.Type, "svg") {
		return notFound("the platform did not answer with a picture")
	}
	w.Header().Set("Content-Type", tile.Type)
	w.Header().Set("Cache-Control", "private, max-age=600")
	_, err = w.Write(tile.Image)
	return err
}

// platformTile requests a tile with the login of the connection. If the platform refuses because it requires a share
// token, it creates tokens valid for an hour.
func (s *Server) platformTile(ctx context.Context, dataset string, at [3]int) (client.Tile, error) {
	for range 2 {
		template, token, err := s.tileTemplate(ctx, dataset)
		if err != nil {
			return client.Tile{}, err
		}
		tile, err := s.Client.Tile(ctx, template, at[0], at[1], at[2])
		var response *fault.ResponseError
		if token || !errors.As(err, &response) || response.Status != http.StatusUnauthorized &&
			response.Status != http.StatusForbidden {
			return tile, err
		}
		s.tiles.mu.Lock()
		s.tiles.byToken, s.tiles.byDataset = true, nil
		s.tiles.mu.Unlock()
	}
	return client.Tile{}, notFound("the platform refuses the tiles of this dataset")
}

func (s *Server) tileTemplate(ctx context.Context, dataset string) (template string, token bool, err error) {
	s.tiles.mu.Lock()
	defer s.tiles.mu.Unlock() // one token for a dataset, however many tiles are requested
	if a, ok := s.tiles.byDataset[dataset]; ok && s.Now().Before(a.until) {
		return a.template, s.tiles.byToken, nil
	}
	if s.tiles.byToken {
		life := int((tokenLife + 10*time.Minute).Seconds())
		template, err = s.Client.Datasets.ShareTiles(ctx, client.ShareTiles{Dataset: client.IDs{dataset}, Duration: &life})
	} else {
		var d client.Dataset
		if d, err = onlyRecord(s.Client.Datasets.Describe(ctx, client.Refs{IDs: client.IDs{dataset}})); err == nil {
			template, err = client.TileTemplate(d)
		}
	}
	if err != nil {
		return "", false, err
	}
	if s.tiles.byDataset == nil || len(s.tiles.byDataset) >= maxAddresses {
		s.tiles.byDataset = map[string]tileAddress{}
	}
	s.tiles.byDataset[dataset] = tileAddress{template, s.Now().Add(tokenLife)}
	return template, s.tiles.byToken, nil
}
