package platform

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"sync"

	"golang.org/x/sync/singleflight"

	"transect/platform/store"
	"transect/platform/tiles"
)

// Tiles of collections of features. They are made when they are asked for, since
// features change at any time; the collections shown last are kept in memory.

const (
	vectorTileFormat = "pbf"
	maxTileFeatures  = 50_000 // of a collection
	keptCollections  = 4
	maxKept          = 2_000_000 // positions of a collection that is kept
)

// changesTable counts the changes of features, by whatever process: tiles of a
// collection are made of what is in memory while none was counted. It is made by the
// first request for a tile.
const changesTable = `CREATE TABLE IF NOT EXISTS changes (
	collection TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
INSERT OR IGNORE INTO changes VALUES ('features', 0);
CREATE TRIGGER IF NOT EXISTS feature_inserted AFTER INSERT ON docs WHEN new.collection = 'features'
	BEGIN UPDATE changes SET n = n + 1 WHERE collection = 'features'; END;
CREATE TRIGGER IF NOT EXISTS feature_updated AFTER UPDATE ON docs WHEN new.collection = 'features'
	BEGIN UPDATE changes SET n = n + 1 WHERE collection = 'features'; END;
CREATE TRIGGER IF NOT EXISTS feature_deleted AFTER DELETE ON docs WHEN old.collection = 'features'
	BEGIN UPDATE changes SET n = n + 1 WHERE collection = 'features'; END;`

// tileFeatures are the features of the collections shown last.
type tileFeatures struct {
	reading singleflight.Group // by collection and count of changes
	mu      sync.Mutex
	kept    []keptCollection // least recently used first
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

// serveVectorTile sends the features of a collection within a tile. It is open to a
// share token of a dataset that shows the collection, and to the access token of a
// user.
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

// tileFeatures returns the features of a collection for tiles.
func (r *Request) tileFeatures(id string) (list []*tiles.Feature) {
	counted := func() (n int64, ok bool) {
		err := r.QueryRow("SELECT n FROM changes WHERE collection = 'features'").Scan(&n)
		return n, err == nil
	}
	known := false
	r.read(func() { _, known = counted() })
	if !known {
		r.write(func() { r.exec(changesTable) })
	}
	r.read(func() {
		r.get(collections, id)
		changes, _ := counted()
		t := &r.p.tileFeatures
		if list, known = t.find(id, changes); known {
			return
		}
		// Requests for the tiles of one view come at once.
		shared, err, _ := t.reading.Do(id+" "+strconv.FormatInt(changes, 10), func() (any, error) {
			var read []*tiles.Feature
			err := recovered(func() { read = r.readTileFeatures(id) })
			return read, err
		})
		if err != nil && context.Cause(r.http.Context()) == nil { // the other request may have been given up
			list = r.readTileFeatures(id)
			return
		}
		check(err)
		list, _ = shared.([]*tiles.Feature)
		t.keep(keptCollection{id, changes, list})
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

func (t *tileFeatures) find(id string, changes int64) ([]*tiles.Feature, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, c := range t.kept {
		if c.id == id && c.changes == changes {
			t.kept = append(append(t.kept[:i:i], t.kept[i+1:]...), c)
			return c.features, true
		}
	}
	return nil, false
}

func (t *tileFeatures) keep(c keptCollection) {
	positions := 0
	for _, f := range c.features {
		positions += f.Positions
	}
	if positions > maxKept {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := []keptCollection{}
	for _, k := range t.kept {
		if k.id != c.id {
			kept = append(kept, k)
		}
	}
	kept = append(kept, c)
	t.kept = kept[max(0, len(kept)-keptCollections):]
}
