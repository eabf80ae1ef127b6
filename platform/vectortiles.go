package platform

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"transect/platform/internal/store"
	"transect/platform/internal/tiles"
)

// Tiles of collections of features. They are made on request, since features change at any time; the
// collections shown last are kept in memory.

const (
	vectorTileFormat = "pbf"
	maxTileFeatures  = 50_000 // of a collection
	keptCollections  = 4
	maxKept          = 2_000_000 // positions in a collection that is kept
)

// tileFeatures caches the features of the collections shown last.
type tileFeatures struct {
	mu   sync.Mutex
	kept []keptCollection // least recently used first
}

type keptCollection struct {
	id       string
	changes  int64
	features []*tiles.Feature
}

func vectorTileRoutes() []route {
	return []route{{method: "GET", path: "map-service/features/collection-mvt/{collection}/{z}/{x}/{y}", open: true,
		stream: serveVectorTile}}
}

// serveVectorTile sends the features of a collection within a tile. It accepts a share token of a dataset
// that shows the collection, or a user's access token.
func serveVectorTile(w http.ResponseWriter, r *Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	z, x, y := r.tileAddress(vectorTileFormat)
	id := r.path("collection")
	r.mayShow(func(shared []string) {
		for _, dataset := range shared {
			if doc := r.find(datasets, dataset); doc != nil && doc["deletion_date"] == nil && collectionOf(doc) == id {
				return
			}
		}
		panic(forbidden("the share token does not open collection %s", id))
	})
	tile := must(tiles.Vector(r.tileFeatures(id), z, x, y))
	sum := sha256.Sum256(tile)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "private, no-cache") // features change
	if r.http.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/vnd.mapbox-vector-tile")
	w.Header().Set("Content-Length", strconv.Itoa(len(tile)))
	w.Write(tile)
}

// tileFeatures returns the features of a collection for tiles. Requests for the tiles of one view arrive at
// once: the first reads the features, the others wait.
func (r *Request) tileFeatures(id string) (list []*tiles.Feature) {
	t := &r.p.tileFeatures
	t.mu.Lock()
	defer t.mu.Unlock()
	r.read(func() {
		r.get(collections, id)
		c := keptCollection{id: id}
		// A folder created before changes were counted has no such table: nothing is cached.
		counted := r.QueryRow("SELECT n FROM changes WHERE collection = 'features'").Scan(&c.changes) == nil
		before := slices.IndexFunc(t.kept, func(k keptCollection) bool { return k.id == id })
		if before >= 0 {
			if t.kept[before].changes == c.changes {
				c = t.kept[before]
			}
			t.kept = slices.Delete(t.kept, before, before+1)
		}
		if c.features == nil {
			c.features = r.readTileFeatures(id)
		}
		positions := 0
		for _, f := range c.features {
			positions += f.Positions
		}
		if list = c.features; counted && positions <= maxKept {
			t.kept = append(t.kept, c)
			t.kept = t.kept[max(0, len(t.kept)-keptCollections):]
		}
	})
	return list
}

func (r *Request) readTileFeatures(id string) (list []*tiles.Feature) {
	for _, doc := range must(r.All(features.plural, store.Query{Filter: store.Doc{"collection": id},
		Fields: store.Projection{Include: []string{"geometry", "properties"}}, Limit: maxTileFeatures})) {
		if f := tiles.Prepare(store.Text(doc, "_id"), objectOf(doc, "geometry"), objectOf(doc, "properties")); f != nil {
			list = append(list, f)
		}
	}
	return list
}
