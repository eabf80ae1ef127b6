// Package scan turns folders, file patterns and lists of paths into the items to ingest: files that
// belong together, with the type of dataset and the component each file fills. Formats are
// recognised by content; the extension only decides when the content is inconclusive.
//
// A source is read as a stream, folder by folder: of a folder with a million files only the names
// are in memory, and a file is opened only in its turn and if no filter excludes it.
//
// Items is the entry point; client/ingest uploads its items and client/preflight checks them. Begin
// at walk.go; directory.go decides which files belong together, using package formats; origin.go
// resolves the paths of a Source.
package scan

import (
	"context"
	"iter"
	"time"

	"transect/client/files"
)

// File is one file on disk.
type File struct {
	Path    string // for opening it
	Name    string // relative to the source, with slashes; the base name of a listed file
	Size    int64  // bytes
	ModTime time.Time
}

// Member is a file of an item and the component of the dataset it fills.
type Member struct {
	File
	Component string
}

// Item is a future dataset.
type Item struct {
	// Kind is the type of dataset: image, raster, vector, mesh, pcl or file.
	Kind string
	// Format of the main file in lower case: jpeg, geotiff, shapefile, las, laz, obj, geojson …; "" when unknown.
	Format string
	// Name of the dataset: the main file's, relative to the source. It is unique in the source and
	// stable across runs.
	Name string
	// Members are the files to send, the main file first.
	Members []Member
	// Projection is the path of the projection file for a point cloud, whose dataset has no
	// component for it; "" for none.
	Projection string
	// Sidecar reports that it accompanies the main file of another item.
	Sidecar bool
	// Note is a remarkable property of the item, or "". Incomplete means that files required by the
	// format are missing.
	Note       string
	Incomplete bool
	// Damage is why the main file does not match its extension, or "".
	Damage string
}

// Size returns the total bytes to send.
func (i Item) Size() int64 {
	var sum int64
	for _, m := range i.Members {
		sum += m.Size
	}
	return sum
}

// Source describes what to scan. The zero values of filters accept everything.
type Source struct {
	// Root is the folder that Paths and names are relative to; without Paths, the folder to read.
	// When it is empty, names are relative to the given folder, or to the fixed part of a pattern.
	Root string
	// Paths are files, folders or patterns (doublestar: *, **, ?, [a-z], {a,b}), relative to Root.
	// An existing path is not used as a pattern.
	Paths []string
	// Include and Exclude are patterns of names relative to the source, ignoring case; one without
	// a slash is compared with the base name, in any folder. Files accompanying an included file,
	// such as the .dbf of a .shp, are included with it.
	Include, Exclude []string
	// MinSize and MaxSize limit the main file's bytes; MaxSize 0 means no limit.
	MinSize, MaxSize int64
	// NewerThan excludes items without a file changed after it.
	NewerThan time.Time
	// Kind forces the type of dataset; "" determines it from the content. With "file" every file is
	// an item of its own.
	Kind string
	// FollowLinks reads the targets of symbolic links; otherwise links are skipped. A link in Paths
	// is always followed.
	FollowLinks bool
	// Tree holds the files and folders that are read.
	Tree files.Tree
}

// Kinds returns the types of dataset an item can have.
func Kinds() []string { return []string{"image", "raster", "vector", "mesh", "pcl", "file"} }

// Items yields the items of a source, always in the same order: the paths as given, in each folder
// its files in natural order, then its subfolders.
//
// Each file of the source is a member of an item, or is yielded as a *Skipped error with a zero
// Item, after which the iteration continues. A sidecar file that no component can hold, e.g. the
// .cpg of a shapefile, is an item of kind file. Any other error ends the iteration: a
// fault.FileError for a missing folder, a fault.ParameterError for an invalid pattern or kind, a
// CancelledError or TimeoutError when ctx ends.
func Items(ctx context.Context, s Source) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		w := &walk{ctx: ctx, source: s, yield: yield, entered: map[string]bool{}, claimed: map[string]string{},
			yielded: map[string]bool{}}
		if err := w.run(); err != nil && err != errStopped {
			yield(Item{}, err)
		}
	}
}
