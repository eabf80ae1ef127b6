package vector

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/url"
	"strings"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/project"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
	"modernc.org/sqlite/vfs"

	"transect/client/formats/crs"
)

// GeoPackages (OGC 12-128). The database is untrusted: it is read through the given file, only plain
// tables, without triggers, views and extensions.

const (
	maxTables = 64
	maxBlob   = maxPositions * 40
)

// table is one table of features.
type table struct {
	name, column string
	system       *crs.System
	problem      string
}

func openPackage(ctx context.Context, f File) (*Layer, error) {
	var tables []table
	if err := withDatabase(ctx, f, func(db *sql.Conn) (err error) {
		tables, err = featureTables(ctx, db)
		return err
	}); err != nil {
		return nil, err
	}
	if len(tables) == 0 {
		return nil, errors.New("it has no table of features")
	}
	l := &Layer{Format: "geopackage", System: tables[0].system, Problem: tables[0].problem}
	same := true
	for _, t := range tables {
		same = same && t.system != nil && l.System != nil && t.system.String() == l.System.String()
	}
	if !same && len(tables) > 1 { // tables with a position are combined in longitude and latitude
		l.System, l.Problem = crs.WGS84, ""
	}
	l.each = func(ctx context.Context, attributes bool, visit visitor) error {
		return withDatabase(ctx, f, func(db *sql.Conn) error {
			for _, t := range tables {
				show := visit
				if !same && len(tables) > 1 {
					if t.system == nil {
						continue
					}
					show = func(g orb.Geometry, properties json.RawMessage) error {
						return visit(project.Geometry(g, t.toWGS84), properties)
					}
				}
				if err := t.each(ctx, db, attributes, show); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return l, nil
}

// TileSet is a raster in a GeoPackage.
type TileSet struct {
	Width, Height, Bands int
	West, North          float64 // of its upper left corner
	PixelX, PixelY       float64
	Definition           string // of its reference system, as WKT
}

// Tiles returns the first raster of a GeoPackage without features, nil if there is none.
func Tiles(ctx context.Context, f File) (tiles *TileSet, err error) {
	err = withDatabase(ctx, f, func(db *sql.Conn) error {
		features, err := featureTables(ctx, db)
		if e, ok := errors.AsType[*sqlite.Error](err); ok && e.Code() == sqlite3.SQLITE_ERROR {
			err = nil // the list of features may be missing
		}
		if err != nil || len(features) > 0 {
			return err
		}
		var t TileSet
		var kind, organization string
		var code int
		var east, south float64
		err = db.QueryRowContext(ctx, `
			SELECT c.data_type, c.min_x, c.max_y, c.max_x, c.min_y, m.pixel_x_size, m.pixel_y_size,
				coalesce(s.organization, ''), coalesce(s.organization_coordsys_id, 0), coalesce(s.definition, '')
			FROM gpkg_contents c JOIN gpkg_tile_matrix m ON m.table_name = c.table_name
			LEFT JOIN gpkg_spatial_ref_sys s ON s.srs_id = c.srs_id
			WHERE c.data_type IN ('tiles', '2d-gridded-coverage') ORDER BY c.table_name, m.zoom_level DESC LIMIT 1`).
			Scan(&kind, &t.West, &t.North, &east, &south, &t.PixelX, &t.PixelY, &organization, &code, &t.Definition)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if t.Bands = 4; kind != "tiles" {
			t.Bands = 1
		}
		var metadata string // GDAL's, with other numbers of bands
		_ = db.QueryRowContext(ctx, "SELECT metadata FROM gpkg_metadata WHERE metadata LIKE '%BAND_COUNT%'").Scan(&metadata)
		if _, rest, found := strings.Cut(metadata, `"BAND_COUNT">`); found {
			_, _ = fmt.Sscan(rest, &t.Bands)
		}
		if strings.EqualFold(organization, "EPSG") {
			if s, err := crs.EPSG(code); err == nil {
				t.Definition = s.WKT()
			}
		}
		width, height := math.Round((east-t.West)/t.PixelX), math.Round((t.North-south)/t.PixelY)
		if width >= 1 && height >= 1 && max(width, height) < math.MaxInt32 {
			t.Width, t.Height = int(width), int(height)
			tiles = &t
		}
		return nil
	})
	return tiles, err
}

// withDatabase opens the database for reading.
func withDatabase(ctx context.Context, f File, do func(*sql.Conn) error) (err error) {
	name, files, err := vfs.New(oneFile{f})
	if err != nil {
		return err
	}
	defer files.Close()
	query := url.Values{"vfs": {name}, "mode": {"ro"}, "immutable": {"1"}, "_pragma": {
		"trusted_schema(0)", "query_only(1)", "cell_size_check(1)", "mmap_size(0)", "cache_size(-8000)"}}
	db, err := sql.Open("sqlite", "file:data?"+query.Encode())
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return sqliteError(ctx, err)
	}
	defer conn.Close()
	if _, err := sqlite.Limit(conn, sqlite3.SQLITE_LIMIT_LENGTH, maxBlob); err != nil {
		return err
	}
	return sqliteError(ctx, do(conn))
}

func sqliteError(ctx context.Context, err error) error {
	var e *sqlite.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &e):
		return fmt.Errorf("the database cannot be read: %s", strings.TrimSuffix(e.Error(), fmt.Sprintf(" (%d)", e.Code())))
	}
	return err
}

// featureTables lists the feature tables that are plain tables.
func featureTables(ctx context.Context, db *sql.Conn) (all []table, err error) {
	rows, err := db.QueryContext(ctx, `
		SELECT g.table_name, g.column_name, coalesce(s.organization, ''), coalesce(s.organization_coordsys_id, 0),
			coalesce(s.definition, ''), g.srs_id
		FROM gpkg_geometry_columns g
		JOIN sqlite_master m ON m.name = g.table_name AND m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%'
		LEFT JOIN gpkg_spatial_ref_sys s ON s.srs_id = g.srs_id
		WHERE (SELECT count(*) FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'
			AND name IN ('gpkg_geometry_columns', 'gpkg_spatial_ref_sys')) = 2
		ORDER BY 1 LIMIT ?`, maxTables)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var t table
		var organization, definition string
		var code, id int
		if err := rows.Scan(&t.name, &t.column, &organization, &code, &definition, &id); err != nil {
			return nil, err
		}
		if strings.EqualFold(organization, "EPSG") {
			t.system, err = crs.EPSG(code)
		}
		switch {
		case t.system != nil:
		case id == 0 || id == -1 || definition == "" || definition == "undefined":
			t.problem = "the table names no reference system"
		default:
			var other error
			if t.system, other = crs.FromWKT(definition); other != nil {
				t.problem = other.Error()
			}
		}
		all = append(all, t)
	}
	return all, rows.Err()
}

func (t table) each(ctx context.Context, db *sql.Conn, attributes bool, visit visitor) error {
	var columns []string
	if attributes {
		var err error
		if columns, err = t.attributes(ctx, db); err != nil {
			return err
		}
	}
	selected := []string{quote(t.column)}
	for _, c := range columns { // other binary values are meaningless here, and long texts are truncated
		selected = append(selected,
			fmt.Sprintf("CASE typeof(%[1]s) WHEN 'blob' THEN NULL WHEN 'text' THEN substr(%[1]s, 1, %[2]d) ELSE %[1]s END",
				quote(c), maxText))
	}
	rows, err := db.QueryContext(ctx, "SELECT "+strings.Join(selected, ", ")+" FROM "+quote(t.name))
	if err != nil {
		return err
	}
	defer rows.Close()
	var b sql.RawBytes
	values := make([]any, len(columns))
	into := []any{&b}
	for i := range values {
		into = append(into, &values[i])
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		g, err := packageGeometry(b)
		if err != nil {
			return err
		}
		var list attributeList
		for i, c := range columns {
			list.add(c, values[i])
		}
		if err := visit(g, list.object()); err != nil {
			return err
		}
	}
	return rows.Err()
}

// toWGS84 projects a position of the table to longitude and latitude.
func (t table) toWGS84(p orb.Point) orb.Point {
	lon, lat := t.system.ToWGS84(p[0], p[1])
	return orb.Point{lon, lat}
}

// attributes lists the columns other than the geometry.
func (t table) attributes(ctx context.Context, db *sql.Conn) (columns []string, err error) {
	rows, err := db.QueryContext(ctx, "SELECT name FROM pragma_table_info(?) WHERE name <> ? LIMIT ?", t.name, t.column,
		maxColumns)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		columns = append(columns, name)
	}
	return columns, rows.Err()
}

// quote quotes a name as an SQL identifier.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// packageGeometry parses the header of a geometry, and its WKB.
func packageGeometry(b []byte) (orb.Geometry, error) {
	if len(b) == 0 {
		return nil, nil
	}
	if len(b) < 8 || string(b[:2]) != "GP" {
		return nil, errWKB
	}
	flags := b[3]
	envelope, known := map[byte]int{0: 0, 1: 32, 2: 48, 3: 48, 4: 64}[flags>>1&7]
	if !known || len(b) < 8+envelope {
		return nil, errWKB
	}
	if flags&16 != 0 { // empty
		return nil, nil
	}
	return readWKB(b[8+envelope:])
}

// oneFile is a file system with a single file.
type oneFile struct{ File }

func (o oneFile) Open(name string) (fs.File, error) {
	if name != "data" && name != "/data" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &openFile{io.NewSectionReader(o.Data, 0, o.Size)}, nil
}

type openFile struct{ *io.SectionReader }

func (f *openFile) Close() error               { return nil }
func (f *openFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *openFile) Name() string               { return "data" }
func (f *openFile) Mode() fs.FileMode          { return 0o400 }
func (f *openFile) ModTime() time.Time         { return time.Time{} }
func (f *openFile) IsDir() bool                { return false }
func (f *openFile) Sys() any                   { return nil }
