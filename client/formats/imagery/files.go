package imagery

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"transect/client/fault"
	"transect/client/regular"
)

// Files lists the image files of a folder, chosen by their extension, in natural
// order (2 before 10), and the subfolders that cannot be read. Hidden folders are
// left out. A folder without images is a FileError.
func Files(ctx context.Context, dir string, recursive bool) ([]string, []Problem, error) {
	info, err := os.Stat(dir)
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
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return stopped(ctx, dir)
		case err != nil && path == dir:
			return fault.Hinted(fault.Of(&fault.FileError{}, "the folder %s cannot be read: %w", dir, err),
				"check its permissions")
		case err != nil:
			problems = append(problems, newProblem(path, Unreadable, "the folder cannot be read: %v", err))
			return nil
		case path == dir:
			return nil
		case d.IsDir():
			folders++
			if !recursive || d.Name()[0] == '.' {
				return fs.SkipDir
			}
		case isImage(d.Name()):
			if !d.Type().IsRegular() { // a link may lead to a file
				info, err := os.Stat(path)
				if err == nil {
					err = regular.Check(path, info)
				}
				if err != nil {
					problems = append(problems, newProblem(path, Unreadable, "%v", fault.Reason(err)))
					return nil
				}
			}
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
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
