package flightgen

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// order is the byte order of the EXIF record.
var order = binary.LittleEndian

// field is one entry of an EXIF directory.
type field struct {
	tag, kind uint16
	count     uint32
	value     []byte
}

func ascii(tag uint16, text string) field {
	return field{tag, 2, uint32(len(text) + 1), append([]byte(text), 0)}
}

func short(tag, value uint16) field {
	return field{tag, 3, 1, order.AppendUint16(nil, value)}
}

func long(tag uint16, value uint32) field {
	return field{tag, 4, 1, order.AppendUint32(nil, value)}
}

// rationals returns fractions with the given denominators.
func rationals(tag uint16, pairs ...[2]float64) field {
	var value []byte
	for _, p := range pairs {
		value = order.AppendUint32(value, uint32(math.Round(p[0]*p[1])))
		value = order.AppendUint32(value, uint32(p[1]))
	}
	return field{tag, 5, uint32(len(pairs)), value}
}

// directorySize returns how many bytes appendDirectory appends.
func directorySize(fields []field) int {
	size := 2 + 12*len(fields) + 4
	for _, f := range fields {
		if len(f.value) > 4 {
			size += len(f.value) + len(f.value)%2
		}
	}
	return size
}

// appendDirectory appends a directory and its values, which lie behind it.
// Fields must be in the order of their tags.
func appendDirectory(b []byte, fields []field) []byte {
	var values []byte
	at := len(b) + 2 + 12*len(fields) + 4
	b = order.AppendUint16(b, uint16(len(fields)))
	for _, f := range fields {
		b = order.AppendUint16(b, f.tag)
		b = order.AppendUint16(b, f.kind)
		b = order.AppendUint32(b, f.count)
		if len(f.value) <= 4 {
			b = append(b, append(f.value, 0, 0, 0)[:4]...)
			continue
		}
		b = order.AppendUint32(b, uint32(at+len(values)))
		values = append(values, f.value...)
		if len(values)%2 == 1 {
			values = append(values, 0) // values begin at even offsets
		}
	}
	return append(order.AppendUint32(b, 0), values...)
}

// exifRecord is the TIFF structure of an EXIF segment (CIPA DC-008).
func exifRecord(shot Shot) []byte {
	_, zone := shot.Acquired.Zone()
	taken := shot.Acquired.Format("2006:01:02 15:04:05")
	exif := []field{
		{0x9000, 7, 4, []byte("0231")}, // version of EXIF
		ascii(0x9003, taken),           // DateTimeOriginal
		ascii(0x9004, taken),           // DateTimeDigitized
		ascii(0x9011, fmt.Sprintf("%+03d:%02d", zone/3600, abs(zone)/60%60)), // OffsetTimeOriginal
		rationals(0x920A, [2]float64{FocalLength, 100}),
		short(0xA405, uint16(FocalLength35)),
	}
	gps := []field{
		{0x00, 1, 4, []byte{2, 3, 0, 0}}, // version of the GPS directory
		ascii(0x01, hemisphere(shot.Latitude, "N", "S")),
		rationals(0x02, sexagesimal(shot.Latitude)...),
		ascii(0x03, hemisphere(shot.Longitude, "E", "W")),
		rationals(0x04, sexagesimal(shot.Longitude)...),
		{0x05, 1, 1, []byte{belowSea(shot.Altitude)}},
		rationals(0x06, [2]float64{math.Abs(shot.Altitude), 1000}),
	}
	main := []field{
		ascii(0x010F, Make),
		ascii(0x0110, Model),
		short(0x0112, 1), // Orientation: as stored
		ascii(0x0132, taken),
		long(0x8769, 0),
	}
	if shot.HasPosition {
		main = append(main, long(0x8825, 0))
	}
	const header = 8
	exifAt := header + directorySize(main)
	main[4] = long(0x8769, uint32(exifAt))
	if shot.HasPosition {
		main[5] = long(0x8825, uint32(exifAt+directorySize(exif)))
	}
	b := append([]byte("II*\x00"), order.AppendUint32(nil, header)...)
	b = appendDirectory(appendDirectory(b, main), exif)
	if shot.HasPosition {
		b = appendDirectory(b, gps)
	}
	return b
}

// sexagesimal returns degrees, minutes and seconds to a millionth of a second.
func sexagesimal(degrees float64) [][2]float64 {
	micro := math.Round(math.Abs(degrees) * 3600e6)
	seconds := math.Mod(micro, 60e6) / 1e6
	minutes := math.Mod(math.Floor(micro/60e6), 60)
	return [][2]float64{{math.Floor(micro / 3600e6), 1}, {minutes, 1}, {seconds, 1e6}}
}

func hemisphere(degrees float64, positive, negative string) string {
	if degrees < 0 {
		return negative
	}
	return positive
}

func belowSea(altitude float64) byte {
	if altitude < 0 {
		return 1
	}
	return 0
}

func abs(n int) int { return max(n, -n) }

// xmpRecord has the height above take-off and the gimbal angles, which EXIF has no
// tags for, under the names most drones use.
func xmpRecord(shot Shot) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about="" xmlns:drone-dji="http://www.dji.com/drone-dji/1.0/"
   drone-dji:AbsoluteAltitude="%+.2f"
   drone-dji:RelativeAltitude="%+.2f"
   drone-dji:GimbalRollDegree="+0.00"
   drone-dji:GimbalYawDegree="%+.2f"
   drone-dji:GimbalPitchDegree="%+.2f"/>
 </rdf:RDF>
</x:xmpmeta>
<?xpacket end="r"?>`, shot.Altitude, shot.RelativeAltitude, shot.Yaw, GimbalPitch)
	return b.Bytes()
}
