package imagery

import (
	"io"

	"transect/client/formats/tiff"
)

// Tags of the smaller pictures in a file (TIFF 6.0; CIPA DC-008 and DC-007).
const (
	tagThumbnailOffset = 0x0201
	tagThumbnailLength = 0x0202
	tagMPEntry         = 0xB002
)

// View has the data needed to show a photo.
type View struct {
	// Orientation is the rotation of the stored pixels, 1 to 8 as in EXIF; 1 is upright.
	Orientation int
	// Pictures are the smaller JPEG pictures in the file: the EXIF thumbnail, the additional
	// pictures of the multi-picture format, the previews of a DNG. Their content is not checked.
	Pictures []*io.SectionReader
	// Progressive reports a JPEG that needs several times the memory to decode.
	Progressive bool
}

// ViewOf reads the view of an image of size bytes. A damaged file, or one that is not an image, has
// an upright view without pictures.
func ViewOf(r io.ReaderAt, size int64) View {
	s := newSource(r, size)
	defer s.release()
	v := View{Orientation: 1}
	format, err := s.format()
	if err != nil {
		return v
	}
	l, _ := s.layout(format)
	v.Progressive = l.progressive
	if l.exif != nil {
		v.addRecord(r, size, l.exif)
	}
	if l.pictures != nil {
		v.addMultiPicture(r, size, l.pictures)
	}
	return v
}

// maxPictures is how many directories are searched for pictures.
const maxPictures = 16

// addRecord reads the orientation and the pictures of a TIFF structure.
func (v *View) addRecord(r io.ReaderAt, size int64, record *io.SectionReader) {
	t, first, ok := tiff.NewReader(record, record.Size())
	if !ok {
		return
	}
	_, start, _ := record.Outer()
	_ = t.Directories(first, maxPictures, func(at int64, d tiff.Directory, _ bool) error {
		if turned, ok := t.Number(d, tiff.Orientation); ok && at == first && turned >= 1 && turned <= 8 {
			v.Orientation = int(turned)
		}
		if offset, length, ok := picture(t, d); ok {
			v.add(r, size, start+offset, length)
		}
		return nil
	})
}

// picture returns the position of a directory's JPEG picture.
func picture(t tiff.Reader, d tiff.Directory) (offset, length int64, ok bool) {
	tags := [2]uint16{tagThumbnailOffset, tagThumbnailLength}
	if kind, _ := t.Number(d, tiff.NewSubfileType); int(kind)&1 == 1 {
		if packed, _ := t.Number(d, tiff.Compression); packed == 7 {
			tags = [2]uint16{tiff.StripOffsets, tiff.StripByteCounts}
		}
	}
	offsets, lengths := t.Integers(d, tags[0]), t.Integers(d, tags[1])
	if len(offsets) != 1 || len(lengths) != 1 {
		return 0, 0, false
	}
	return offsets[0], lengths[0], true
}

// addMultiPicture adds the pictures after the first one of a multi-picture file. Their offsets are
// relative to the start of the structure.
func (v *View) addMultiPicture(r io.ReaderAt, size int64, record *io.SectionReader) {
	t, first, ok := tiff.NewReader(record, record.Size())
	if !ok {
		return
	}
	d, ok := t.Directory(first)
	if !ok {
		return
	}
	_, start, _ := record.Outer()
	entries := t.Bytes(d, tagMPEntry)
	for i := 16; i+16 <= len(entries) && i <= 16*maxPictures; i += 16 {
		v.add(r, size, start+int64(t.Order.Uint32(entries[i+8:])), int64(t.Order.Uint32(entries[i+4:])))
	}
}

func (v *View) add(r io.ReaderAt, size, offset, length int64) {
	if offset > 0 && length > 0 && offset < size {
		v.Pictures = append(v.Pictures, io.NewSectionReader(r, offset, min(length, size-offset)))
	}
}
