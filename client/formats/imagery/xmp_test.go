package imagery

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bep/imagemeta"
	"github.com/google/go-cmp/cmp"
)

// TestXMPAgreesWithLibrary compares with the properties that the library imagemeta finds in the example photos. Only
// this test uses it, because its initialisation would add a millisecond to every start.
func TestXMPAgreesWithLibrary(t *testing.T) {
	formats := map[Format]imagemeta.ImageFormat{JPEG: imagemeta.JPEG, TIFF: imagemeta.TIFF, PNG: imagemeta.PNG, WebP: imagemeta.WebP}
	seen := map[Format]int{}
	root := filepath.Join("..", "..", "..", "..", "shared", "data", "images")
	if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the example photos are not beside this folder: %v", err)
	}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		file, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		s := newSource(bytes.NewReader(file), int64(len(file)))
		format, err := s.format()
		if err != nil {
			return nil // not a supported image
		}
		l, err := s.layout(format)
		if err != nil {
			return nil
		}
		want := map[string]any{}
		_, _ = imagemeta.Decode(imagemeta.Options{
			R: bytes.NewReader(file), ImageFormat: formats[format], Sources: imagemeta.XMP,
			HandleTag: func(tag imagemeta.TagInfo) error {
				if _, repeated := want[tag.Tag]; !repeated {
					want[tag.Tag] = tag.Value
				}
				return nil
			},
		})
		got := map[string]any{}
		if l.xmp != nil {
			got = readXMP(l.xmp)
		}
		for name, negative := range map[string]string{"GPSLatitude": "S", "GPSLongitude": "W"} {
			if n := coordinate(got, negative, name); n != nil {
				got[name] = *n // in the library's form
			}
		}
		seen[format] += min(1, len(want))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("photos with a record: %v", seen)
	if seen[JPEG] < 5 {
		t.Errorf("only %d of the example photos have a record", seen[JPEG])
	}
}

const xmpSample = `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
 <rdf:Description rdf:about="" xmlns:drone="http://drone/1.0/" xmlns:Camera="http://camera/1.0/" drone:RelativeAltitude="+60.2">
  <Camera:BandName><rdf:Seq><rdf:li>Red</rdf:li><rdf:li> Green </rdf:li><rdf:li/></rdf:Seq></Camera:BandName>
  <Camera:Single><rdf:Bag><rdf:li>one</rdf:li></rdf:Bag></Camera:Single>
  <Camera:Empty> </Camera:Empty>
  <Camera:Nested><rdf:Description Camera:Inner="1"><Camera:Deep>2</Camera:Deep></rdf:Description></Camera:Nested>
  <Camera:Link rdf:resource="urn:x"/>
  <drone:lower>kept &amp; found</drone:lower>
 </rdf:Description>
 <rdf:Description drone:RelativeAltitude="99" drone:CaptureUUID="u1"/>
</rdf:RDF></x:xmpmeta>`

func TestXMPForms(t *testing.T) {
	want := map[string]any{"RelativeAltitude": "+60.2", "BandName": []string{"Red", "Green"}, "Single": "one",
		"Link": "urn:x", "Lower": "kept & found", "CaptureUUID": "u1"}
	if diff := cmp.Diff(want, readXMP(strings.NewReader(xmpSample))); diff != "" {
		t.Error(diff)
	}
	// Data before the damage is used; damage anywhere has no other effect.
	for cut := range xmpSample {
		for name, value := range readXMP(strings.NewReader(xmpSample[:cut])) {
			if diff := cmp.Diff(want[name], value); diff != "" {
				t.Fatalf("cut at %d: %s: %s", cut, name, diff)
			}
		}
	}
	if got := readXMP(strings.NewReader(xmpSample[:strings.Index(xmpSample, "<Camera:Link")])); got["Single"] != "one" {
		t.Errorf("before the damage: %v", got)
	}
}

// TestXMPPlaces: each format has the record at another location.
func TestXMPPlaces(t *testing.T) {
	u32 := binary.BigEndian.AppendUint32
	chunk := func(kind, body string) string {
		return string(u32(nil, uint32(len(body)))) + kind + body + "\x00\x00\x00\x00"
	}
	size := string(u32(u32(nil, 300), 200)) + "\x08\x02\x00\x00\x00"
	riff := func(kind, body string) string {
		return kind + string(binary.LittleEndian.AppendUint32(nil, uint32(len(body)))) + body + strings.Repeat("\x00", len(body)&1)
	}
	webp := "WEBP" + riff("VP8X", "\x00\x00\x00\x00\x2b\x01\x00\xc7\x00\x00") + riff("XMP ", xmpSample)
	tiff := slices.Concat([]byte("MM\x00*"), u32(nil, 8), []byte("\x00\x03"),
		[]byte("\x01\x00\x00\x04"), u32(u32(nil, 1), 300), []byte("\x01\x01\x00\x04"), u32(u32(nil, 1), 200),
		[]byte("\x02\xbc\x00\x01"), u32(u32(nil, uint32(len(xmpSample))), 50), u32(nil, 0), []byte(xmpSample))
	for name, file := range map[string]string{
		"png": "\x89PNG\r\n\x1a\n" + chunk("IHDR", size) + chunk("iTXt", "Comment\x00\x00\x00\x00\x00hello") +
			chunk("iTXt", xmpKeyword+"\x00\x00en\x00\x00"+xmpSample) + chunk("IEND", ""),
		"webp": riff("RIFF", webp),
		"tiff": string(tiff),
	} {
		photo, err := ReadFrom(strings.NewReader(file), int64(len(file)))
		if err != nil || photo.Band != "Red, Green" || photo.CaptureID != "u1" || photo.RelativeAltitude == nil || *photo.RelativeAltitude != 60.2 {
			t.Errorf("%s: %+v, %v", name, photo, err)
		}
	}
}
