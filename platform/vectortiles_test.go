package platform

import (
	"slices"
	"testing"

	"transect/platform/internal/store"
)

// The tiles of a collection are open to the token of a dataset that shows it.
func TestCollectionTiles(t *testing.T) {
	s := start(t, Options{})
	project := s.project("p")
	collection := store.Text(s.ok("map-service/features/create-collection", store.Doc{"company": s.company}), "_id")
	vector := store.Text(s.ok("data-manager/create-dataset", store.Doc{"type": "vector", "name": "v", "project": project, "source": store.Doc{"name": "map-service"},
		"components": []any{store.Doc{"name": "collection", "collection": store.Doc{"id": collection}}}}), "_id")
	other := s.dataset("file", store.Doc{"project": project}, "file")
	share := func(dataset string) string {
		return store.Text(s.ok("dxauth/create-share-token", store.Doc{"scope": store.Doc{"datasets": []any{dataset}}, "company": s.company}), "token")
	}
	right, wrong := share(vector), share(other)
	address := "/map-service/features/collection-mvt/" + collection + "/0/0/0.pbf"
	open := &site{t: t, p: s.p, base: s.base, http: s.http, company: s.company}
	if a := open.get(address + "?access_token=" + right); a.status != 200 || a.text != "" {
		t.Errorf("without features: %d %s", a.status, a.text)
	}
	feature := s.ok("map-service/features/create-feature", store.Doc{"collection": collection, "properties": store.Doc{"a": 1},
		"geometry": store.Doc{"type": "Point", "coordinates": []any{7, 46}}})
	a := open.get(address + "?access_token=" + right)
	if a.status != 200 || a.header.Get("Content-Type") != "application/vnd.mapbox-vector-tile" || !slices.Contains([]byte(a.text), 26) {
		t.Errorf("%d %v %q", a.status, a.header, a.text)
	}
	// What was read is used again until a feature changes.
	first := s.p.tileFeatures.kept[0].features[0]
	if again := open.get(address + "?access_token=" + right); again.text != a.text || s.p.tileFeatures.kept[0].features[0] != first {
		t.Errorf("the collection was read again: %q", again.text)
	}
	s.ok("map-service/features/update-feature-properties", store.Doc{"feature": feature["_id"], "properties": store.Doc{"a": 2}})
	if changed := open.get(address + "?access_token=" + right); changed.text == a.text || changed.text == "" || len(s.p.tileFeatures.kept) != 1 {
		t.Errorf("a changed property is not seen: %q", changed.text)
	}
	s.ok("map-service/features/delete-feature-permanently", store.Doc{"feature": feature["_id"]})
	if gone := open.get(address + "?access_token=" + right); gone.status != 200 || gone.text != "" {
		t.Errorf("a deleted feature is still shown: %q", gone.text)
	}
	s.expect(open.get(address+"?access_token="+wrong), 403, "does not open collection")
	s.expect(open.get(address+"?access_token=none"), 401, "unknown or was revoked")
	s.expect(open.get("/map-service/features/collection-mvt/"+collection+"/0/0/0.png?access_token="+right), 400, "not \"png\"")
	s.expect(open.get("/map-service/features/collection-mvt/"+collection+"/0/1/0.pbf?access_token="+right), 400, "there is no tile 0/1/0")
	s.ok("dxauth/revoke-share-token", store.Doc{"token": right})
	s.expect(open.get(address+"?access_token="+right), 401, "unknown or was revoked")
	if a := s.get(address); a.status != 200 {
		t.Errorf("with the token of a user: %d %s", a.status, a.text)
	}
	// A folder of before changes were counted shows its tiles all the same.
	if err := s.p.store.Write(t.Context(), func(tx *store.Tx) error {
		for _, trigger := range []string{"inserted", "updated", "deleted"} {
			if err := tx.Exec("DROP TRIGGER feature_" + trigger); err != nil {
				return err
			}
		}
		return tx.Exec("DROP TABLE changes")
	}); err != nil {
		t.Fatal(err)
	}
	if a := s.get(address); a.status != 200 {
		t.Errorf("without the count of changes: %d %s", a.status, a.text)
	}
}
