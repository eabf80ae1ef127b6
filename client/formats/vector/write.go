package vector

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/paulmach/orb"
	orbwkb "github.com/paulmach/orb/encoding/wkb"

	"transect/client/formats/crs"
)

// Column is an attribute of the features of a table: Type is TEXT, INTEGER, REAL, BOOLEAN or DATETIME.
type Column struct{ Name, Type string }

// Package is a GeoPackage being written (OGC 12-128, version 1.3): tables of features in longitude and latitude,
// WGS 84, without heights. Nothing is readable before Close. It is written by hand, as Go packages for GeoPackages need
// cgo.
type Package struct {
	db     *sql.DB
	tx     *sql.Tx
	tables map[string]*written
}

type written struct {
	shaped bool // its rows have a geometry
	insert *sql.Stmt
	bound  orb.Bound
}

// Create begins a GeoPackage in a file that does not exist or is empty.
func Create(ctx context.Context, path string) (*Package, error) {
	db, err := sql.Open("sqlite", "file:"+strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)+
		"?_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)&_pragma=application_id(0x47504B47)&_pragma=user_version(10300)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	p := &Package{db: db, tables: map[string]*written{}}
	if p.tx, err = db.BeginTx(ctx, nil); err == nil {
		_, err = p.tx.ExecContext(ctx, `
			CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER PRIMARY KEY, organization TEXT NOT NULL,
				organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT);
			CREATE TABLE gpkg_contents (table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE,
				description TEXT DEFAULT '', last_change DATETIME NOT NULL, min_x DOUBLE, min_y DOUBLE, max_x DOUBLE,
				max_y DOUBLE, srs_id INTEGER REFERENCES gpkg_spatial_ref_sys(srs_id));
			CREATE TABLE gpkg_geometry_columns (table_name TEXT NOT NULL UNIQUE REFERENCES gpkg_contents(table_name),
				column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL,
				srs_id INTEGER NOT NULL REFERENCES gpkg_spatial_ref_sys(srs_id), z TINYINT NOT NULL, m TINYINT NOT NULL,
				PRIMARY KEY (table_name, column_name));
			INSERT INTO gpkg_spatial_ref_sys VALUES ('Undefined Cartesian', -1, 'NONE', -1, 'undefined', NULL),
				('Undefined geographic', 0, 'NONE', 0, 'undefined', NULL),
				('WGS 84', 4326, 'EPSG', 4326, ?, NULL)`, crs.WGS84.WKT())
	}
	if err != nil {
		p.Discard()
		return nil, err
	}
	return p, nil
}

// Table adds a table. geometry is the kind of its features' geometries, GEOMETRY for any, "" for none.
func (p *Package) Table(ctx context.Context, name, geometry string, columns []Column) error {
	if p.tables[name] != nil {
		return fmt.Errorf("there is a table %s already", name)
	}
	if name == "" || strings.HasPrefix(name, "gpkg_") || strings.HasPrefix(name, "sqlite_") {
		return fmt.Errorf("%q cannot be the name of a table", name)
	}
	kind, definition := "attributes", []string{"fid INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL"}
	if geometry != "" {
		kind, definition = "features", append(definition, "geom "+quoted(geometry))
	}
	for _, c := range columns {
		definition = append(definition, quoted(c.Name)+" "+quoted(c.Type))
	}
	_, err := p.tx.ExecContext(ctx, "CREATE TABLE "+quoted(name)+" ("+strings.Join(definition, ", ")+")")
	if err == nil {
		_, err = p.tx.ExecContext(ctx, "INSERT INTO gpkg_contents (table_name, data_type, identifier, last_change, srs_id) "+
			"VALUES (?, ?, ?, ?, 4326)", name, kind, name, time.Now().UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	if err == nil && geometry != "" {
		_, err = p.tx.ExecContext(ctx, "INSERT INTO gpkg_geometry_columns VALUES (?, 'geom', ?, 4326, 0, 0)", name,
			strings.ToUpper(geometry))
	}
	if err != nil {
		return err
	}
	t := &written{shaped: geometry != "", bound: orb.Bound{Min: orb.Point{math.Inf(1), math.Inf(1)},
		Max: orb.Point{math.Inf(-1), math.Inf(-1)}}}
	t.insert, err = p.tx.PrepareContext(ctx, "INSERT INTO "+quoted(name)+" VALUES (NULL"+
		strings.Repeat(", ?", len(definition)-1)+")")
	if err != nil {
		return err
	}
	p.tables[name] = t
	return nil
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Add adds a feature. g may be nil; values are those of the columns: nil, string, int64, float64 or bool.
func (p *Package) Add(ctx context.Context, table string, g orb.Geometry, values []any) error {
	t := p.tables[table]
	if t == nil {
		return fmt.Errorf("there is no table %s", table)
	}
	if t.shaped {
		blob, err := geoPackageBlob(g)
		if err != nil {
			return err
		}
		values = append([]any{blob}, values...)
		if g != nil {
			t.bound = t.bound.Union(g.Bound())
		}
	}
	_, err := t.insert.ExecContext(ctx, values...)
	return err
}

// geoPackageBlob encodes a geometry with its box; nil is an empty value.
func geoPackageBlob(g orb.Geometry) ([]byte, error) {
	if g == nil {
		return nil, nil
	}
	const littleEndian, withBox = 1, 1 << 1
	body, err := orbwkb.Marshal(g, binary.LittleEndian)
	if err != nil {
		return nil, err
	}
	blob := binary.LittleEndian.AppendUint32([]byte{'G', 'P', 0, littleEndian | withBox}, 4326)
	b := g.Bound()
	for _, v := range []float64{b.Min[0], b.Max[0], b.Min[1], b.Max[1]} {
		blob = binary.LittleEndian.AppendUint64(blob, math.Float64bits(v))
	}
	return append(blob, body...), nil
}

// Close completes the GeoPackage.
func (p *Package) Close(ctx context.Context) error {
	defer p.Discard()
	for name, t := range p.tables {
		if b := t.bound; t.shaped && b.Min[0] <= b.Max[0] {
			if _, err := p.tx.ExecContext(ctx, "UPDATE gpkg_contents SET min_x = ?, min_y = ?, max_x = ?, max_y = ? "+
				"WHERE table_name = ?", b.Min[0], b.Min[1], b.Max[0], b.Max[1], name); err != nil {
				return err
			}
		}
	}
	return errors.Join(p.tx.Commit(), p.db.Close())
}

// Discard ends it without completing it. After Close it does nothing.
func (p *Package) Discard() {
	if p.tx != nil {
		_ = p.tx.Rollback() // fails after Close
	}
	_ = p.db.Close()
}
