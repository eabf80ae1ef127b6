package preflight

import (
	"transect/client/fault"
	"transect/client/files"
	"transect/client/formats"
	"transect/client/scan"
)

// checkTruncated reports whether a file that is not a photo lacks its end.
func checkTruncated(tree files.Tree, file scan.File, format, component string) (Problem, bool) {
	f, err := tree.Open(file.Path)
	if err != nil {
		return newProblem("unreadable", Error, file.Name, "it cannot be read: "+fault.Reason(err).Error(),
			"check its permissions"), true
	}
	defer f.Close()
	size := file.Size
	if info, err := f.Stat(); err == nil {
		size = info.Size()
	}
	message := formats.Truncation(formats.File{Name: file.Name, Data: f, Size: size}, format, component)
	return newProblem("truncated", Error, file.Name, message, "copy the file again from its source"), message != ""
}
