package geodesic_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"transect/client/geodesic"
)

// published are lines of the test set of C. F. F. Karney (GeodTest, also in the tests of
// GeographicLib): latitude, longitude and azimuth of both ends, metres, area below in square
// metres.
var published = [][8]float64{
	{35.60777, -139.44815, 111.098748429560326, -11.17491, -69.95921, 129.289270889708762, 8935244.5604818305, 12841384694976.432},
	{55.52454, 106.05087, 22.020059880982801, 77.03196, 197.18234, 109.112041110671519, 4105086.1713924406, 61674961290615.615},
	{-21.97856, 142.59065, -32.44456876433189, 41.84138, 98.56635, -41.84359951440466, 8394328.894657671, -6637997720646.717},
	{-66.99028, 112.2363, 173.73491240878403, -12.70631, 285.90344, 2.512956620913668, 11150344.2312080241, -121287239862139.744},
	{-17.42761, 173.34268, -159.033557661192928, -15.84784, 5.93557, -20.787484651536988, 16076603.1631180673, 97825992354058.708},
	{32.84994, 48.28919, 150.492927788121982, -56.28556, 202.29132, 48.113449399816759, 16727068.9438164461, -72445258525585.010},
	{6.96833, 52.74123, 92.581585386317712, -7.39675, 206.17291, 90.721692165923907, 17102477.2496958388, -1311796973197.995},
	{-50.56724, -16.30485, -105.439679907590164, -33.56571, -94.97412, -47.348547835650331, 6455670.5118668696, 41071447902810.047},
	{-58.93002, -8.90775, 140.965397902500679, -8.91104, 133.13503, 19.255429433416599, 11756066.0219864627, -86143460552774.735},
	{-68.82867, -74.28391, 93.774347763114881, -50.63005, -8.36685, 34.65564085411343, 3956936.926063544, -41845309450093.787},
	{-10.62672, -32.0898, -86.426713286747751, 5.883, -134.31681, -80.473780971034875, 11470869.3864563009, 4198803992123.548},
	{-21.76221, 166.90563, 29.319421206936428, 48.72884, 213.97627, 43.508671946410168, 9098627.3986554915, 10024709850277.476},
	{-19.79938, -174.47484, 71.167275780171533, -11.99349, -154.35109, 65.589099775199228, 2319004.8601169389, -3935477535005.785},
	{-11.95887, -116.94513, 92.712619830452549, 4.57352, 7.16501, 78.64960934409585, 13834722.5801401374, -9919582785894.853},
	{-87.85331, 85.66836, -65.120313040242748, 66.48646, 16.09921, -4.888658719272296, 17286615.3147144645, 42667211366919.534},
	{1.74708, 128.32011, -101.584843631173858, -11.16617, 11.87109, -86.325793296437476, 12942901.1241347408, 10763055294345.653},
	{-25.72959, -144.90758, -153.647468693117198, -57.70581, -269.17879, -48.343983158876487, 9413446.7452453107, 74515122850712.444},
	{-41.22777, 122.32875, 14.285113402275739, -7.57291, 130.37946, 10.805303085187369, 3812686.035106021, -2456961531057.857},
	{11.01307, 138.25278, 79.43682622782374, 6.62726, 247.05981, 103.708090215522657, 11911190.819018408, 17121631423099.696},
	{-29.47124, 95.14681, -163.779130441688382, -27.46601, -69.15955, -15.909335945554969, 13487015.8381145492, 104679964020340.318},
}

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s: got %.12f, want %.12f", what, got, want)
	}
}

func TestPublishedLines(t *testing.T) {
	for _, p := range published {
		l := geodesic.Inverse(p[0], p[1], p[3], p[4])
		near(t, "metres", l.Metres, p[6], 1e-7)
		near(t, "start", l.Start, p[2], 1e-12)
		near(t, "end", l.End, p[5], 1e-12)
		near(t, "area", l.Below, p[7], 0.2)
		lat, lon, end := geodesic.Direct(p[0], p[1], p[2], p[6])
		near(t, "latitude", lat, p[3], 1e-12)
		near(t, "longitude", math.Remainder(lon-p[4], 360), 0, 1e-12)
		near(t, "end", end, p[5], 1e-12)
	}
}

// TestHardLines uses difficult lines from the same tests: very short, nearly antipodal, over a
// pole, along the equator.
func TestHardLines(t *testing.T) {
	for _, c := range [][6]float64{ // latitudes and longitudes, metres, within
		{36.493349428792, 0, 36.49334942879201, .0000008, 0.072, 0.5e-3},
		{88.202499451857, 0, -88.202499451857, 179.981022032992859592, 20003898.214, 0.5e-3},
		{89.262080389218, 0, -89.262080389218, 179.992207982775375662, 20003925.854, 0.5e-3},
		{89.333123580033, 0, -89.333123580032997687, 179.99295812360148422, 20003926.881, 0.5e-3},
		{56.320923501171, 0, -56.320923501171, 179.664747671772880215, 19993558.287, 0.5e-3},
		{52.784459512564, 0, -52.784459512563990912, 179.634407464943777557, 19991596.095, 0.5e-3},
		{48.522876735459, 0, -48.52287673545898293, 179.599720456223079643, 19989144.774, 0.5e-3},
		{40.6, -73.8, 49.01666667, 2.55, 5853226, 0.5},
		{0, 0, 0, 180, 20003931.4586, 1e-4}, // twice the quarter of a meridian
		{0, 0, 0, 179, 19926189, 0.5},
		{0, 0, 0, 179.5, 19980862, 0.5},
		{0, 0, 1, 180, 19893357, 0.5},
		{0, 0, 0, 1, 111319.490793, 1e-6},
		{90, 0, -90, 0, 20003931.4586, 1e-4},
		{90, 10, 89, 20, 111693.9, 0.1},
		{12, 34, 12, 34, 0, 0},
	} {
		l := geodesic.Inverse(c[0], c[1], c[2], c[3])
		near(t, "metres", l.Metres, c[4], c[5])
	}
}

func ring(latLon ...float64) [][2]float64 {
	var points [][2]float64
	for i := 0; i < len(latLon); i += 2 {
		points = append(points, [2]float64{latLon[i+1], latLon[i]})
	}
	return points
}

// TestPublishedAreas uses areas and lengths from the tests of GeographicLib's Planimeter.
func TestPublishedAreas(t *testing.T) {
	for _, c := range []struct {
		ring                    [][2]float64
		metres, area            float64
		withinMetres, withinSqm float64
	}{
		{ring(89, 0, 89, 90, 89, 180, 89, 270), 631819.8745, 24952305678, 1e-4, 1},
		{ring(-89, 0, -89, 90, -89, 180, -89, 270), 631819.8745, 24952305678, 1e-4, 1},
		{ring(0, -1, -1, 0, 0, 1, 1, 0), 627598.2731, 24619419146, 1e-4, 1},
		{ring(90, 0, 0, 0, 0, 90), 30022685, 63758202715511, 1, 1},
		{ring(89, 0.1, 89, 90.1, 89, -179.9), 539297, 12476152838.5, 1, 1},
		{ring(2, 1, 1, 2, 3, 3), math.NaN(), 18454562325.45119, 0, 0.5},
		{ring(9, -0.00000000000001, 9, 180, 9, 0), 36026861, 0, 1, 1},
	} {
		near(t, "area", geodesic.Area(c.ring), c.area, c.withinSqm)
		if !math.IsNaN(c.metres) {
			near(t, "length", geodesic.Length(append(c.ring, c.ring[0])), c.metres, c.withinMetres)
		}
	}
	near(t, "the earth", geodesic.Whole, 510065621724088.5093, 1)
}

// Direct follows the line of Inverse to its end, and the way back is as long.
func TestThereAndBack(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		point := func(name string) (lat, lon float64) {
			return rapid.Float64Range(-89.9, 89.9).Draw(r, name+" latitude"), rapid.Float64Range(-180, 180).Draw(r, name+" longitude")
		}
		lat1, lon1 := point("first")
		lat2, lon2 := point("second")
		if rapid.Bool().Draw(r, "close") {
			lat2, lon2 = lat1+lat2*1e-6, lon1+lon2*1e-6
		}
		l := geodesic.Inverse(lat1, lon1, lat2, lon2)
		lat, lon, _ := geodesic.Direct(lat1, lon1, l.Start, l.Metres)
		if gap := geodesic.Inverse(lat, lon, lat2, lon2).Metres; gap > 1e-6 {
			r.Fatalf("%+v leads %g m past", l, gap)
		}
		back := geodesic.Inverse(lat2, lon2, lat1, lon1)
		if math.Abs(back.Metres-l.Metres) > 1e-7 || math.Abs(back.Below+l.Below) > 1 && math.Abs(math.Remainder(lon2-lon1, 360)) < 179.9 {
			r.Fatalf("there %+v, back %+v", l, back)
		}
		// No way is shorter than the polar radius allows, or longer than half a turn.
		if l.Metres < 0 || l.Metres > 20003931.5 || math.IsNaN(l.Metres) {
			r.Fatalf("%+v", l)
		}
	})
}

// TestAreasAddUp: an area equals the sum of its parts, and a small one keeps its digits.
func TestAreasAddUp(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		lat, lon := rapid.Float64Range(-80, 80).Draw(r, "latitude"), rapid.Float64Range(-180, 180).Draw(r, "longitude")
		size := rapid.SampledFrom([]float64{1e-5, 1e-3, 0.1, 3}).Draw(r, "size")
		square := ring(lat, lon, lat, lon+size, lat+size, lon+size, lat+size, lon)
		half := geodesic.Area(ring(lat, lon, lat, lon+size, lat+size, lon+size))
		rest := geodesic.Area(ring(lat, lon, lat+size, lon+size, lat+size, lon))
		whole := geodesic.Area(square)
		if math.Abs(half+rest-whole) > 1e-9*whole+1e-4 {
			r.Fatalf("%v and %v are not %v", half, rest, whole)
		}
	})
}

func TestADegreeIsAsLongAsItIs(t *testing.T) {
	for _, lat := range []float64{0, 12, -45, 52, 80} {
		east, north := geodesic.Degree(lat)
		near(t, "east", east*1e-4, geodesic.Inverse(lat, 10, lat, 10.0001).Metres, 1e-6)
		near(t, "north", north*1e-4, geodesic.Inverse(lat-0.00005, 10, lat+0.00005, 10).Metres, 1e-6)
	}
}

func BenchmarkInverse(b *testing.B) {
	for b.Loop() {
		geodesic.Inverse(52, 4, 52.001, 4.001)
	}
}
