// Package scan turns folders, file patterns and lists of paths into the items to
// ingest: files that belong together, with the type of dataset and the component
// each file fills. Formats are recognised by content; the extension only decides
// where content says nothing.
//
// A source is read as a stream, folder by folder: of a folder with a million
// files only the names are in memory, and a file is opened when its turn has
// come and no filter left it out.
//
// Items is the entry; client/ingest uploads what it yields and client/preflight
// checks it. Begin at walk.go; directory.go decides which files belong together
// by what package formats says of them, origin.go resolves
// the paths of a Source.
package scan

import (
	"context"
	"iter"
	"time"

	"transect/client/files"
)

// File is one file on disk.
type File struct {
	Path    string // to open it
	Name    string // relative to the source, with slashes; the base name of a file that was listed
	Size    int64  // bytes
	ModTime time.Time
}

// Member is a file of an item and the component of the dataset it fills.
type Member struct {
	File
	Component string
}

// Item is what becomes one dataset.
type Item struct {
	// Kind is the type of dataset: image, raster, vector, mesh, pcl or file.
	Kind string
	// Format of the main file in lower case: jpeg, geotiff, shapefile, las,
	// laz, obj, geojson …; "" when it is not known.
	Format string
	// Name for the dataset: the main file's, relative to the source. It is
	// unique in the source and the same in the next run.
	Name string
	// Members are the files to send, the main file first.
	Members []Member
	// Projection is the path of the projection file beside a point cloud, whose dataset has
	// no component for it; "" for none.
	Projection string
	// Sidecar reports that it goes with the main file of another item.
	Sidecar bool
	// Note says what is odd about the item, or is "". Incomplete: it is that files are
	// missing which the format cannot do without.
	Note       string
	Incomplete bool
	// Damage says what shows that the main file is not what its extension says,
	// or is "".
	Damage string
}

// Size is the sum of what is sent, in bytes.
func (i Item) Size() int64 {
	var sum int64
	for _, m := range i.Members {
		sum += m.Size
	}
	return sum
}

// Source says what to scan. The zero values of filters let everything pass.
type Source struct {
	// Root is the folder relative Paths start at and names are relative to;
	// without Paths, the folder to read. When it is empty, names are relative
	// to the folder given, or to the fixed part of a pattern.
	Root string
	// Paths are files, folders or patterns (doublestar: *, **, ?, [a-z],
	// {a,b}), relative to Root. A path that exists is no pattern.
	Paths []string
	// Include and Exclude are patterns of names relative to the source; one
	// without a slash is compared with the base name, in any folder. Letter
	// case does not count. What comes with a file that is included, such as
	// the .dbf of a .shp, need not be.
	Include, Exclude []string
	// MinSize and MaxSize bound the main file's bytes; MaxSize 0 means no bound.
	MinSize, MaxSize int64
	// NewerThan leaves out items of which no file was changed after it.
	NewerThan time.Time
	// Kind forces the type of dataset; "" goes by content. With "file" every
	// file is an item of its own.
	Kind string
	// FollowLinks reads what symbolic links point at; else links are skipped.
	// A path of Paths that is a link is always followed.
	FollowLinks bool
	// Tree holds the files and folders that are read.
	Tree files.Tree
}

// Kinds are the types of dataset an item can have.
func Kinds() []string { return []string{"image", "raster", "vector", "mesh", "pcl", "file"} }

// Items gives the items of a source, always in the same order: the paths as
// given, in each folder its files in natural order, then the folders below.
//
// Each file of the source is a member of an item, or comes as a *Skipped error with a
// zero Item, after which the iteration goes on. A sidecar file that no component can
// hold, such as the .cpg of a shapefile, is an item of kind file. Any other error ends
// the iteration: a fault.FileError when a folder is missing, a fault.ParameterError for a
// pattern or kind that is none, a CancelledError or TimeoutError when ctx ends.
func Items(ctx context.Context, s Source) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		w := &walk{ctx: ctx, source: s, yield: yield, entered: map[string]bool{}, claimed: map[string]string{},
			told: map[string]bool{}}
		if err := w.run(); err != nil && err != errStopped {
			yield(Item{}, err)
		}
	}
}
