package crs

import (
	"bytes"
	"math"
	"os/exec"
	"strings"
	"testing"
)

// codes are systems of every kind and positions within them.
var codes = map[int][][2]float64{
	4326: {{-34.9, -8}}, 3857: {{-34.9, -8}, {179.9, 84}}, 3395: {{12, 55}},
	32725: {{-34.9, -8}, {-36, -45}, {-30.2, -20}, {-20, -60}}, 32631: {{2.9, 50.1}, {5.99, 70}}, 32660: {{177, 10}},
	26915: {{-91.99, 46.84}}, 6344: {{-91.99, 46.84}}, 25832: {{11.9, 48.1}}, 31985: {{-34.9, -8}}, 31970: {{-75, 4}}, 5396: {{-26.5, -10}},
	2154: {{3, 46.5}, {-1.5, 48.2}}, 3034: {{24, 60}}, 5070: {{-66.2, 18.2}, {-120, 47}}, 3577: {{140, -30}}, 3005: {{-123, 49}},
	28355: {{147, -36}}, 7856: {{151, -33}}, 2193: {{175, -40}}, 2972: {{-52, 4}}, 2975: {{55.5, -21}}, 6690: {{135, 35}}, 2958: {{-80, 44}}, 3721: {{-100, 40}},
}

func TestThereAndBack(t *testing.T) {
	for code, points := range codes {
		s, err := EPSG(code)
		if err != nil {
			t.Errorf("EPSG:%d: %v", code, err)
			continue
		}
		for _, p := range points {
			lon, lat := s.ToWGS84(s.FromWGS84(p[0], p[1]))
			if math.Abs(lon-p[0]) > 1e-9 || math.Abs(lat-p[1]) > 1e-9 {
				t.Errorf("%s: %v comes back as %.12f %.12f", s, p, lon, lat)
			}
			if x, _ := s.FromWGS84(p[0]+360, p[1]); !s.Geographic && math.IsNaN(x) {
				t.Errorf("%s: no position a turn further", s)
			}
		}
	}
}

// gdal runs a GDAL program, or skips the test where it is not installed.
func gdal(t *testing.T, input, name string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed (Debian: gdal-bin)", name)
	}
	cmd := exec.Command(path, args...)
	cmd.Stdin = strings.NewReader(input)
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v: %s", name, args, err, failed.String())
	}
	return string(out)
}
