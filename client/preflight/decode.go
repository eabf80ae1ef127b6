package preflight

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"transect/client/fault"
	"transect/client/formats"
	"transect/client/formats/imagery"
	"transect/client/scan"
)

// AddDecoded is like Add but decodes the pictures and rasters of the item completely, which finds
// damage not visible in headers. It reads all of their bytes.
func (c *Checker) AddDecoded(ctx context.Context, item scan.Item, photo *imagery.Photo, err error) *Problem {
	return c.add(item, photo, err, func(found []Problem) []Problem {
		decoded := 0
		for _, m := range item.Members {
			p, read := c.decode(ctx, m.File)
			if p != nil {
				found = append(found, *p)
			}
			if read {
				decoded++
			}
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.report.Deep = true
		c.report.Decoded += decoded
		return found
	})
}

// decode returns what is wrong with a file, and whether it was decoded.
func (c *Checker) decode(ctx context.Context, file scan.File) (*Problem, bool) {
	f, err := c.opts.Tree.Open(file.Path)
	if err != nil {
		return nil, false // already reported
	}
	defer f.Close()
	damage, err := formats.Damage(ctx, formats.File{Name: file.Name, Data: f, Size: file.Size})
	var unread *fs.PathError
	var p Problem
	switch {
	case damage != "":
		p = newProblem("damaged", Error, file.Name, damage, "copy the file again from its source")
	case err == nil:
		return nil, true
	case errors.Is(err, formats.ErrNone), ctx.Err() != nil:
		return nil, false
	case errors.As(err, &unread):
		p = newProblem("unreadable", Error, file.Name, "it cannot be read: "+fault.Reason(err).Error(),
			"copy it again; a card or disk that fails should be replaced")
	default:
		p = newProblem("not-decoded", Warning, file.Name, "it was not decoded: "+err.Error(), "")
	}
	return &p, damage != ""
}

func unusable(found []Problem) bool {
	return slices.ContainsFunc(found, func(p Problem) bool { return p.Severity == Error })
}
