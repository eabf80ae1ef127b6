package imagery

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"transect/client/fault"
	"transect/client/files"
	"transect/client/regular"
)

// Files lists the image files of a folder, selected by their extension, in natural order (2 before
// 10), and the subfolders that cannot be read. It skips hidden folders. A folder without images is
// a FileError.
func Files(ctx context.Context, tree files.Tree, dir string, recursive bool) ([]string, []Problem, error) {
	info, err := tree.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, fault.Hinted(fault.Of(&fault.FileError{}, "the folder %s does not exist", dir),
			"check the path; a relative one starts at the current folder")
	case err != nil:
		return nil, nil, fault.Hinted(fault.Of(&fault.FileError{}, "the folder %s cannot be read: %w", dir, err),
			"check its permissions")
	case !info.IsDir():
		return nil, nil, fault.Hinted(fault.Of(&fault.FileError{}, "%s is a file, not a folder", dir),
			"name the folder with the photos")
	}
	var paths []string
	var problems []Problem
	folders := 0
	var walk func(folder string) error
	walk = func(folder string) error {
		if ctx.Err() != nil {
			return stopped(ctx, dir)
		}
		entries, err := list(tree, folder)
		if err != nil && folder == dir {
			return fault.Hinted(fault.Of(&fault.FileError{}, "the folder %s cannot be read: %w", dir, err),
				"check its permissions")
		} else if err != nil {
			problems = append(problems, newProblem(folder, Unreadable, "the folder cannot be read: %v", err))
		}
		for _, d := range entries {
			path := filepath.Join(folder, d.Name())
			switch {
			case !d.IsDir() && isImage(d.Name()):
				info, err := d.Info()
				if !d.Type().IsRegular() { // a link may point to a file
					info, err = tree.Stat(path)
				}
				if err == nil {
					err = regular.Check(path, info)
				}
				if err != nil {
					problems = append(problems, newProblem(path, Unreadable, "%v", fault.Reason(err)))
					continue
				}
				paths = append(paths, path)
			case d.IsDir():
				folders++
				if recursive && d.Name()[0] != '.' {
					if err := walk(path); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}
	if err := walk(dir); err != nil {
		return nil, nil, err
	}
	if len(paths) == 0 && len(problems) == 0 {
		f := fault.Of(&fault.FileError{}, "the folder %s has no images", dir)
		if folders > 0 && !recursive {
			return nil, nil, fault.Hinted(f, "it has subfolders: name one of them, or include them with the recursive option")
		}
		return nil, nil, fault.Hinted(f, "name the folder with the photos (.jpg, .tif, .dng, .png or .webp)")
	}
	slices.SortFunc(paths, NaturalCompare)
	return paths, problems, nil
}

// list returns the entries of a folder, including those before an error.
func list(tree files.Tree, folder string) ([]fs.DirEntry, error) {
	f, err := tree.Open(folder)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}
