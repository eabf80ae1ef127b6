package vector

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"
)

// TestTiles reads the tiles of packages with and without a list of features, which may be damaged.
func TestTiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.gpkg")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	var root int64
	tiles := func() (*TileSet, error) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if root > 0 {
			copy(b[(root-1)*4096:], make([]byte, 4096))
		}
		return Tiles(context.Background(), memory("a.gpkg", string(b)))
	}
	exec := func(statement string) {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE TABLE gpkg_contents (table_name, data_type, srs_id, min_x, min_y, max_x, max_y);
		CREATE TABLE gpkg_tile_matrix (table_name, zoom_level, pixel_x_size, pixel_y_size);
		CREATE TABLE gpkg_spatial_ref_sys (srs_id, organization, organization_coordsys_id, definition);
		INSERT INTO gpkg_contents VALUES ('t', 'tiles', 0, 0, 0, 20, 10);
		INSERT INTO gpkg_tile_matrix VALUES ('t', 0, 1, 1)`)
	if set, err := tiles(); err != nil || set == nil || set.Width != 20 || set.Height != 10 {
		t.Errorf("without a list: %+v, %v", set, err)
	}
	exec(`CREATE TABLE gpkg_geometry_columns (table_name, column_name, srs_id)`)
	if set, err := tiles(); err != nil || set == nil {
		t.Errorf("with a list: %+v, %v", set, err)
	}
	if err := db.QueryRow("SELECT rootpage FROM sqlite_master WHERE name = 'gpkg_geometry_columns'").Scan(&root); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if set, err := tiles(); err == nil {
		t.Errorf("with a damaged list: %+v", set)
	}
}
