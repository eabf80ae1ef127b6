package formats

import (
	"context"

	"transect/client/formats/vector"
)

// Column is an attribute of the features of a GeoPackage's table; see vector.Column.
type Column = vector.Column

// Package is a GeoPackage being written.
type Package = vector.Package

// CreatePackage begins a GeoPackage in a file that does not exist or is empty.
func CreatePackage(ctx context.Context, path string) (*Package, error) {
	return vector.Create(ctx, path)
}
