package imagery

import (
	"io"

	"transect/client/formats/tiff"
)

// maxDirectories bounds the reading of files with a loop of directories.
const maxDirectories = 256

// CheckTIFF checks that a TIFF or BigTIFF file of size bytes is complete: its directories can be
// read, and their pixels are within the file. The error is a fault.FileError with a cause, see
// CauseOf.
func CheckTIFF(r io.ReaderAt, size int64) error {
	s := newSource(r, size)
	defer s.release()
	l, err := readTIFF(s)
	switch {
	case s.err != nil:
		err = unreadable(s.err)
	case err == nil && (l.width <= 0 || l.height <= 0):
		err = defectf(Damaged, "the image has no size")
	}
	if err != nil {
		return problemOf("", err).fault(err)
	}
	return nil
}

// readTIFF reads all directories and checks that their pixels are within the file: cameras write
// the directory first, so a truncated file still has it.
func readTIFF(s *source) (layout, error) {
	l := layout{exif: s.section(0, s.size)}
	t, first, ok := tiff.NewReader(s, s.size)
	if !ok {
		return l, defectf(Truncated, "the file ends within its header")
	}
	reduced := true // the size read so far is a preview's
	err := t.Directories(first, maxDirectories, func(_ int64, d tiff.Directory, ok bool) error {
		if !ok {
			return defectf(Truncated, "the end of the image is missing")
		}
		if err := checkPixels(t, d); err != nil {
			return err
		}
		if e, ok := d.Entries[tiff.XMP]; ok && l.xmp == nil && t.Inside(e) {
			l.xmp = io.NewSectionReader(t.R, e.Offset, e.Length())
		}
		// DNG files have the full image in a subdirectory.
		kind, _ := t.Number(d, tiff.NewSubfileType)
		width, _ := t.Number(d, tiff.ImageWidth)
		height, _ := t.Number(d, tiff.ImageLength)
		if preview := int(kind)&1 == 1; width > 0 && (l.width == 0 || reduced && !preview) {
			l.width, l.height, reduced = int(width), int(height), preview
		}
		return nil
	})
	return l, err
}

// checkPixels checks that strips and tiles are within the file.
func checkPixels(t tiff.Reader, d tiff.Directory) error {
	for _, tags := range [][2]uint16{
		{tiff.StripOffsets, tiff.StripByteCounts}, {tiff.TileOffsets, tiff.TileByteCounts},
	} {
		if e, ok := d.Entries[tags[0]]; ok && !t.Inside(e) {
			return defectf(Truncated, "the end of the image is missing")
		}
		offsets, counts := t.Integers(d, tags[0]), t.Integers(d, tags[1])
		for i := range min(len(offsets), len(counts)) {
			if offsets[i]+counts[i] > t.Size {
				return defectf(Truncated, "the end of the image is missing")
			}
		}
	}
	return nil
}
