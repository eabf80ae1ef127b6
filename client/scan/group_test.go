package scan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"transect/client/scan"
)

func TestGrouping(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"shapefile, whatever the order and the letter case": {
			map[string]string{"B.PRJ": prj, "b.shp": shp, "B.dbf": dbf, "b.Shx": shp, "b.cpg": "UTF-8", "b.shp.xml": "<x/>", "b.sbn": "x"},
			[]string{"file/ file=b.cpg", "file/ file=b.sbn", "vector/shapefile vector=b.shp database=B.dbf index=b.Shx projection=B.PRJ", "file/ file=b.shp.xml"},
		},
		"shapefile without index": {
			map[string]string{"a.shp": shp, "a.dbf": dbf},
			[]string{"vector/shapefile vector=a.shp database=a.dbf !"},
		},
		"parts of a shapefile without it": {
			map[string]string{"a.dbf": dbf, "a.shx": shp, "a.prj": prj},
			[]string{"file/dbf file=a.dbf !", "file/wkt file=a.prj !", "file/shx file=a.shx !"},
		},
		"two main files share a stem and a projection": {
			map[string]string{"a.shp": shp, "a.shx": shp, "a.dbf": dbf, "a.tif": geotiff, "a.prj": prj, "a.tfw": tfw, "a.jpg": jpeg},
			[]string{
				"image/jpeg image=a.jpg",
				"vector/shapefile vector=a.shp database=a.dbf index=a.shx projection=a.prj",
				"raster/geotiff raster=a.tif projection=a.prj worldfile=a.tfw",
			},
		},
		"a photo in two formats": {
			map[string]string{"DJI_0001.JPG": jpeg, "DJI_0001.DNG": dng},
			[]string{"image/dng image=DJI_0001.DNG", "image/jpeg image=DJI_0001.JPG"},
		},
		"rasters": {
			map[string]string{
				"1.tif": geotiff, "1.tif.aux.xml": "<x/>", "1.TIF.ovr": "x", "1.hdr": "x", "2.tif": plain, "2.tfw": tfw,
				"3.jpg": jpeg, "3.jgw": tfw, "3.prj": prj, "4.tif": photo, "5.tif": floats, "6.tif": plain,
				"7.png": png, "7.wld": tfw, "8.jpg": jpeg, "8.tfw": tfw, "9.tif": bigGeo, "9.aux.xml": "<x/>",
			},
			[]string{
				"raster/geotiff raster=1.tif header=1.hdr", "file/ file=1.tif.aux.xml", "file/ file=1.TIF.ovr",
				"raster/tiff raster=2.tif worldfile=2.tfw",
				"raster/jpeg raster=3.jpg projection=3.prj worldfile=3.jgw",
				"image/tiff image=4.tif",
				"raster/tiff raster=5.tif",
				"image/tiff image=6.tif",
				"raster/png raster=7.png worldfile=7.wld",
				"image/jpeg image=8.jpg",
				"file/ file=8.tfw !",
				"file/ file=9.aux.xml", "raster/geotiff raster=9.tif",
			},
		},
		"projections in two letter cases": {
			map[string]string{"a.shp": shp, "a.shx": "x", "a.dbf": "x", "a.PRJ": "x", "a.prj": prj, "B.TIF": geotiff, "B.PRJ": prj, "b.prj": "x"},
			[]string{
				"file/ file=a.PRJ", "vector/shapefile vector=a.shp database=a.dbf index=a.shx projection=a.prj !",
				"file/ file=b.prj", "raster/geotiff raster=B.TIF projection=B.PRJ !",
			},
		},
		"a place in the file of GDAL": {
			map[string]string{"a.tif": plain, "a.tif.aux.xml": "<PAMDataset><GeoTransform>1</GeoTransform></PAMDataset>", "b.tif": plain, "b.tif.aux.xml": "<PAMDataset/>"},
			[]string{"raster/tiff raster=a.tif header=a.tif.aux.xml", "image/tiff image=b.tif", "file/ file=b.tif.aux.xml"},
		},
		"rasters known by their header": {
			map[string]string{"a.img": "\x00\x01\x02", "a.hdr": "ENVI\nsamples = 3\n", "b.bil": "\x00\x01\x02", "b.HDR": "NROWS 3\r\nNCOLS 3\r\n", "c.img": "\x00\x01"},
			[]string{"raster/envi raster=a.img header=a.hdr", "raster/ehdr raster=b.bil header=b.HDR", "file/ file=c.img"},
		},
		"companions of rasters": {
			map[string]string{"a.bil": "\x00\x01\x02", "a.hdr": "NROWS 3\nNCOLS 3\n", "a.prj": prj, "a.stx": "1 0 9", "a.clr": "0 0 0 0", "a.blw": tfw,
				"b.dat": "\x00\x01", "b.dat.hdr": "ENVI\nsamples = 3\n", "b.dat.aux.xml": "<PAMDataset><SRS>x</SRS></PAMDataset>",
				"c.tif": geotiff, "c.hdr": "x", "c.tif.aux.xml": "<PAMDataset><SRS>x</SRS></PAMDataset>",
				"d.jp2": "\x00\x00\x00\x0cjP  ", "d.j2w": tfw, "e.img": "EHFA_HEADER_TAG", "e.ige": "x", "e.rrd": "x"},
			[]string{
				"raster/ehdr raster=a.bil projection=a.prj worldfile=a.blw header=a.hdr", "file/ file=a.clr", "file/ file=a.stx",
				"raster/envi raster=b.dat worldfile=b.dat.aux.xml header=b.dat.hdr",
				"file/ file=c.hdr", "raster/geotiff raster=c.tif header=c.tif.aux.xml",
				"raster/jp2 raster=d.jp2 worldfile=d.j2w", "file/ file=e.ige", "raster/hfa raster=e.img", "file/ file=e.rrd",
			},
		},
		"stems that begin alike": {
			map[string]string{"a.tif": geotiff, "a.b.tif": geotiff, "a.b.tfw": tfw, "a01.tif": geotiff, "a1.tif": geotiff, "a1.tfw": tfw, "a.b.c.prj": prj},
			[]string{
				"file/wkt file=a.b.c.prj !", "raster/geotiff raster=a.b.tif worldfile=a.b.tfw", "raster/geotiff raster=a.tif",
				"raster/geotiff raster=a01.tif", "raster/geotiff raster=a1.tif worldfile=a1.tfw",
			},
		},
		"textures named in the material": {
			map[string]string{
				"m.obj": obj, "m.mtl": "newmtl a\nmap_Kd -s 1 1 1 -o 0 0 wall one.png\nmap_Bump -bm 0.2 C:\\work\\ROOF.jpg\nmap_Ks maps/deep.png\n",
				"wall one.png": png, "roof.jpg": jpeg, "maps/deep.png": png, "maps/other.png": png, "photo.jpg": jpeg,
			},
			[]string{
				"mesh/obj mesh=m.obj texture_0=wall one.png texture_1=roof.jpg texture_2=maps/deep.png material=m.mtl",
				"image/jpeg image=photo.jpg", "image/png image=maps/other.png",
			},
		},
		"a mesh that names what is outside": {
			map[string]string{"in/m.obj": obj, "in/m.mtl": "map_Kd ../secret.png\nmap_Ks /etc/passwd\n", "secret.png": png},
			[]string{"image/png image=secret.png", "mesh/obj mesh=in/m.obj material=in/m.mtl !"},
		},
		"two materials, and one of the mesh's own name": {
			map[string]string{"m.obj": "mtllib a.mtl b.mtl\nv 0 0 0\n", "a.mtl": "newmtl a\n", "b.mtl": "newmtl b\n", "n.obj": "v 0 0 0\n", "N.MTL": "newmtl n\n", "z.mtl": "newmtl z\n"},
			[]string{"mesh/obj mesh=m.obj material_0=a.mtl material_1=b.mtl", "mesh/obj mesh=n.obj material=N.MTL", "file/mtl file=z.mtl !"},
		},
		"glTF": {
			map[string]string{
				"m.gltf":  `{"asset": {"version": "2.0"}, "images": [{"uri": "a%20b.png"}, {"uri": "data:image/png;base64,AA"}], "buffers": [{"uri": "m.bin"}]}`,
				"a b.png": png, "m.bin": "\x00\x01", "n.glb": "glTF\x02\x00\x00\x00",
			},
			[]string{"file/ file=m.bin", "mesh/gltf mesh=m.gltf texture=a b.png !", "mesh/glb mesh=n.glb"},
		},
		"point clouds and meshes": {
			map[string]string{"a.las": las, "b.laz": laz, "c.las": laz, "d.ply": cloudPLY, "e.ply": meshPLY, "f.xyz": "1 2 3\n4 5 6\n", "g.pts": "hello\n", "a.prj": prj},
			[]string{"pcl/las pcl=a.las", "file/ file=a.prj", "pcl/laz pcl=b.laz", "pcl/laz pcl=c.las", "pcl/ply pcl=d.ply", "mesh/ply mesh=e.ply", "pcl/xyz pcl=f.xyz", "file/ file=g.pts"},
		},
		"vectors": {
			map[string]string{"a.json": geojson, "b.json": `{"type": "car"}`, "c.kml": kml, "d.gpkg": gpkg, "e.geojson": "\xef\xbb\xbf" + geojson, "a.prj": prj, "f.gpx": "<gpx/>", "g.json": `{"a": {"type": "Feature"}}`},
			[]string{
				"vector/geojson vector=a.json projection=a.prj", "file/json file=b.json", "vector/kml vector=c.kml", "vector/geopackage vector=d.gpkg",
				"vector/geojson vector=e.geojson", "vector/gpx vector=f.gpx", "file/json file=g.json",
			},
		},
		"a GeoPackage that is open": {
			map[string]string{"a.gpkg": gpkg, "a.gpkg-wal": "changes", "a.gpkg-shm": "index", "b.gpkg": gpkg, "c-wal": "x", "d.db-wal": "x"},
			[]string{"vector/geopackage vector=a.gpkg !", "file/ file=a.gpkg-shm", "file/ file=a.gpkg-wal", "vector/geopackage vector=b.gpkg", "file/ file=c-wal", "file/ file=d.db-wal"},
		},
		"archives": {
			map[string]string{
				"1.zip": zipped("a.shp", "a.dbf", "a.shx"), "2.zip": zipped("a.shp", "b/b.shp"), "3.zip": zipped("DJI_0001.JPG"),
				"4.kmz": zipped("doc.kml"), "5.xlsx": zipped("[Content_Types].xml"), "6.zip": zipped("x.geojson", "__MACOSX/x.shp", "._x.shp"),
				"7.zip": "PK\x03\x04 cut", "8.tar.gz": "\x1f\x8b\x08", "9.7z": "7z\xbc\xaf\x27\x1c", "1.prj": prj,
			},
			[]string{
				"file/wkt file=1.prj !", "vector/shapefile archive=1.zip", "vector/shapefile archive=2.zip !", "file/zip file=3.zip", "vector/kmz archive=4.kmz",
				"file/xlsx file=5.xlsx", "vector/geojson archive=6.zip", "file/zip file=7.zip", "file/tar.gz file=8.tar.gz", "file/7z file=9.7z",
			},
		},
		"extensions that lie": {
			map[string]string{"a.jpg": geotiff, "b.tif": jpeg, "c.txt": las, "d.shp": "no shapefile", "d.dbf": dbf, "e": jpeg},
			[]string{"raster/geotiff raster=a.jpg", "image/jpeg image=b.tif damaged", "pcl/las pcl=c.txt", "vector/shapefile vector=d.shp database=d.dbf ! damaged", "image/jpeg image=e"},
		},
		"natural order, folders last": {
			map[string]string{"b/1.jpg": jpeg, "10.jpg": jpeg, "9.jpg": jpeg, "A/1.jpg": jpeg, "DCIM/100MEDIA/DJI_0001.JPG": jpeg, "DCIM/99MEDIA/DJI_0001.JPG": jpeg},
			[]string{
				"image/jpeg image=9.jpg", "image/jpeg image=10.jpg", "image/jpeg image=A/1.jpg", "image/jpeg image=b/1.jpg",
				"image/jpeg image=DCIM/99MEDIA/DJI_0001.JPG", "image/jpeg image=DCIM/100MEDIA/DJI_0001.JPG",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, skipped := describe(t, scan.Source{Root: tree(t, c.files)})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if skipped != nil {
				t.Errorf("skipped %v", skipped)
			}
		})
	}
}
