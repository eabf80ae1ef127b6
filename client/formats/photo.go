package formats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
	"io"
	"slices"
	"strings"

	"github.com/paulmach/orb"
	_ "golang.org/x/image/bmp"
	"golang.org/x/image/draw"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"

	"transect/client/formats/crs"
	"transect/client/formats/imagery"
	"transect/client/formats/jpegcheck"
	"transect/client/formats/source"
)

// pictures are the formats of photos.
var pictures = []Format{
	{name: "jpeg", kind: "image", magic: []string{"\xff\xd8\xff"}, extensions: []string{"jpg", "jpeg", "jpe"},
		title: "a JPEG image", world: true, truncated: truncatedPicture,
		reader: photos, check: checkJPEG, position: ownFirst},
	{name: "png", kind: "image", magic: []string{"\x89PNG\r\n\x1a\n"}, extensions: []string{"png"}, title: "a PNG image",
		world: true, reader: photos, check: checkPicture, truncated: truncatedPicture},
	{name: "gif", kind: "image", magic: []string{"GIF8"}, extensions: []string{"gif"}, title: "a GIF image", world: true,
		reader: photos, check: checkPicture},
	{name: "webp", kind: "image", extensions: []string{"webp"}, title: "a WebP image", world: true,
		match:  func(p *probe) bool { return hasAny(p.head, "RIFF") && hasAny(p.head[min(8, len(p.head)):], "WEBP") },
		reader: photos, check: checkWebP, truncated: truncatedPicture},
	{name: "bmp", kind: "image", match: func(p *probe) bool { return p.ext == "bmp" && hasAny(p.head, "BM") },
		extensions: []string{"bmp"}, world: true, reader: photos, check: checkPicture},
	{name: "raf", kind: "image", magic: []string{"FUJIFILMCCD-RAW"}},
	{name: "heic", kind: "image", offset: 4, magic: []string{"ftypheic", "ftypheix"}, extensions: []string{"heic"},
		title: "a HEIC image"},
	{name: "heif", kind: "image", offset: 4, magic: []string{"ftypmif1"}},
	{name: "avif", kind: "image", offset: 4, magic: []string{"ftypavif"}},
	{name: "cr3", kind: "image", offset: 4, magic: []string{"ftypcrx "}},
}

var photos = reader{describe: describePhoto, picture: drawPhoto, open: openPicture}

func truncatedPicture(f io.ReaderAt, size int64) string {
	if _, err := imagery.ReadFrom(f, size); imagery.CauseOf(err) == imagery.Truncated {
		return "the end of the picture is missing"
	}
	return ""
}

// drawPhoto draws a photo upright: the smallest embedded picture that is large enough, else the
// photo itself, scaled; for a photo that cannot be decoded the largest embedded picture.
func drawPhoto(ctx context.Context, f *file, side int) (image.Image, error) {
	view := imagery.ViewOf(f.Data, f.Size)
	whole, _, failed := image.DecodeConfig(f.Reader(ctx))
	for _, e := range embedded(view, whole) {
		if max(e.area.Dx(), e.area.Dy()) < side && failed == nil {
			continue
		}
		if picture, err := e.decode(ctx); err == nil {
			return turn(Shrink(picture, side), view.Orientation), nil
		}
	}
	if failed != nil {
		return nil, rephrase(failed)
	}
	picture, err := decode(ctx, f.Reader(ctx), whole, view.Progressive)
	if err != nil && ctx.Err() == nil {
		if smaller := embedded(view, whole); len(smaller) > 0 {
			if found, inner := smaller[len(smaller)-1].decode(ctx); inner == nil {
				picture, err = found, nil
			}
		}
	}
	if err != nil {
		return nil, rephrase(err)
	}
	return turn(stretch(Shrink(picture, side)), view.Orientation), nil
}

func describePhoto(ctx context.Context, f *file) (Info, error) {
	if p := f.position(ctx); p.world != "" || p.auxWorld != "" {
		return describeRaster(ctx, f)
	}
	p, err := imagery.ReadFrom(f.Data, f.Size)
	info := Info{Kind: "image", Format: string(p.Format), Width: p.Width, Height: p.Height}
	if p.HasPosition {
		info.System, info.Outline = crs.WGS84, orb.Point{p.Longitude, p.Latitude}
	} else {
		info.Reason = errors.New("the photo has no GPS position")
	}
	return info, err
}

// inner is a smaller picture embedded in a photo.
type inner struct {
	data   *io.SectionReader
	config image.Config
	area   image.Rectangle // the photo in it, without black bars
}

// embedded returns the pictures that show the complete photo, the smallest first. Without the size
// of the photo there is nothing to compare with.
func embedded(view imagery.View, whole image.Config) (all []inner) {
	for _, data := range view.Pictures {
		c, format, err := image.DecodeConfig(data)
		_, _ = data.Seek(0, io.SeekStart)
		if err != nil || format != "jpeg" || c.Width < 1 || c.Height < 1 {
			continue
		}
		e := inner{data, c, image.Rect(0, 0, c.Width, c.Height)}
		if whole.Width > 0 {
			if c.Width >= whole.Width {
				continue
			}
			// Cameras pad thumbnails of 4:3 with black for other shapes.
			w, h := min(c.Width, c.Height*whole.Width/whole.Height), min(c.Height, c.Width*whole.Height/whole.Width)
			if w < c.Width/2 || h < c.Height/2 { // already rotated, or another picture
				continue
			}
			e.area = image.Rect((c.Width-w)/2, (c.Height-h)/2, (c.Width+w)/2, (c.Height+h)/2)
		}
		all = append(all, e)
	}
	slices.SortStableFunc(all,
		func(a, b inner) int { return cmp.Compare(a.area.Dx()*a.area.Dy(), b.area.Dx()*b.area.Dy()) })
	return all
}

// decode returns the area with the photo; the rest must be black.
func (e inner) decode(ctx context.Context) (image.Image, error) {
	_, _ = e.data.Seek(0, io.SeekStart)
	picture, err := decode(ctx, source.Within(ctx, e.data), e.config, false)
	if err != nil || e.area == picture.Bounds() {
		return picture, err
	}
	b := picture.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			near := image.Pt(x, y).In(e.area.Inset(-2)) // the edge of the bars is blurred
			if !near && color.GrayModel.Convert(picture.At(x, y)).(color.Gray).Y > 48 {
				return nil, errors.New("it shows something else")
			}
		}
	}
	return picture.(interface {
		SubImage(image.Rectangle) image.Image
	}).SubImage(e.area.Inset(1)), nil
}

// decode decodes an image of known size, if enough memory is free.
func decode(ctx context.Context, r io.Reader, c image.Config, progressive bool) (image.Image, error) {
	if c.Width < 1 || c.Height < 1 {
		return nil, errors.New("the image has no size")
	}
	bytes := int64(4)
	switch c.ColorModel {
	case color.GrayModel:
		bytes = 1
	case color.YCbCrModel:
		bytes = 3
	case color.RGBA64Model, color.NRGBA64Model:
		bytes = 8
	}
	if progressive {
		bytes *= 5
	}
	if int64(c.Height) > maxMemory/int64(c.Width)/bytes {
		return nil, fmt.Errorf("%w: %d x %d pixels", errTooLarge, c.Width, c.Height)
	}
	release, err := reserve(ctx, int64(c.Width)*int64(c.Height)*bytes)
	if err != nil {
		return nil, err
	}
	defer release()
	picture, _, err := image.Decode(r)
	return picture, err
}

// rephrase rephrases the errors of decoders.
func rephrase(err error) error {
	switch {
	case errors.Is(err, image.ErrFormat):
		return errors.New("the format is not supported")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), strings.Contains(err.Error(), "short Huffman data"):
		return errors.New("the end of the image is missing")
	}
	return err
}

// Shrink scales an image down until its longest side has side pixels.
func Shrink(picture image.Image, side int) image.Image {
	b := picture.Bounds()
	longest := max(b.Dx(), b.Dy())
	if longest <= side {
		return picture
	}
	to := func(side int) image.Rectangle {
		return image.Rect(0, 0, max(1, b.Dx()*side/longest), max(1, b.Dy()*side/longest))
	}
	blank := func(area image.Rectangle) draw.Image {
		if m := picture.ColorModel(); m == color.Gray16Model {
			return image.NewGray16(area) // stretched later
		}
		return image.NewNRGBA(area)
	}
	if longest > 4*side { // the better scaler is slow for many pixels
		half := blank(to(2 * side))
		draw.ApproxBiLinear.Scale(half, half.Bounds(), picture, b, draw.Src, nil)
		picture = half
	}
	small := blank(to(side))
	draw.BiLinear.Scale(small, small.Bounds(), picture, picture.Bounds(), draw.Src, nil)
	return small
}

// stretch spreads the levels of an image with 16 bits per pixel, which sensors rarely use fully,
// without the darkest and the brightest 2 %.
func stretch(picture image.Image) image.Image {
	deep, ok := picture.(*image.Gray16)
	if !ok {
		return picture
	}
	b := deep.Bounds()
	levels := make([]int, 0, b.Dx()*b.Dy())
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			levels = append(levels, int(deep.Gray16At(x, y).Y))
		}
	}
	slices.Sort(levels)
	low, high := levels[len(levels)*2/100], levels[len(levels)*98/100]
	flat := image.NewGray(b)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			level := (int(deep.Gray16At(x, y).Y) - low) * 255 / max(1, high-low)
			flat.SetGray(x, y, color.Gray{Y: uint8(min(255, max(0, level)))})
		}
	}
	return flat
}

// turn makes an image upright that is stored with an EXIF orientation.
func turn(picture image.Image, orientation int) image.Image {
	if orientation < 2 || orientation > 8 {
		return picture
	}
	b := picture.Bounds()
	w, h := b.Dx(), b.Dy()
	area := image.Rect(0, 0, w, h)
	if orientation >= 5 {
		area = image.Rect(0, 0, h, w)
	}
	upright := image.NewNRGBA(area)
	for y := range h {
		for x := range w {
			to := [9]image.Point{2: {w - 1 - x, y}, 3: {w - 1 - x, h - 1 - y}, 4: {x, h - 1 - y},
				5: {y, x}, 6: {h - 1 - y, x}, 7: {h - 1 - y, w - 1 - x}, 8: {y, w - 1 - x}}[orientation]
			upright.Set(to.X, to.Y, picture.At(b.Min.X+x, b.Min.Y+y))
		}
	}
	return upright
}

func checkJPEG(ctx context.Context, f *file) error {
	var reserved []func()
	defer func() {
		for _, release := range reserved {
			release()
		}
	}()
	return jpegcheck.Check(ctx, f.Reader(ctx), func(bytes int64) error {
		release, err := reserve(ctx, bytes)
		if err == nil {
			reserved = append(reserved, release)
		}
		return err
	})
}

func checkPicture(ctx context.Context, f *file) error {
	config, _, err := image.DecodeConfig(f.Reader(ctx))
	if err != nil {
		return err
	}
	_, err = decode(ctx, f.Reader(ctx), config, false)
	return err
}

// checkWebP skips animations, which the decoder rejects as invalid.
func checkWebP(ctx context.Context, f *file) error {
	err := checkPicture(ctx, f)
	if err != nil && err.Error() == "webp: invalid format" {
		return notDecoded{errors.New("this kind of WebP is not supported")}
	}
	return err
}
