package tiff

// Tags of TIFF 6.0 and its supplements, of EXIF (CIPA DC-008), DNG, GeoTIFF and GDAL. Package imagery
// has the tags of the directories below EXIF.
const (
	NewSubfileType  = 254
	ImageWidth      = 256
	ImageLength     = 257
	BitsPerSample   = 258
	Compression     = 259
	Photometric     = 262
	Description     = 270
	Make            = 271
	Model           = 272
	DateTime        = 306
	StripOffsets    = 273
	Orientation     = 274
	SamplesPerPixel = 277
	RowsPerStrip    = 278
	StripByteCounts = 279
	Planar          = 284
	Predictor       = 317
	ColorMap        = 320
	TileWidth       = 322
	TileLength      = 323
	TileOffsets     = 324
	TileByteCounts  = 325
	SubIFDs         = 330
	ExtraSamples    = 338
	SampleFormat    = 339
	JPEGTables      = 347
	XMP             = 700
	PixelScale      = 33550
	Tiepoints       = 33922
	Transformation  = 34264
	ExifIFD         = 34665
	GeoKeys         = 34735
	GeoDoubles      = 34736
	GeoASCII        = 34737
	GPSIFD          = 34853
	NoData          = 42113
	DNGVersion      = 50706
)
