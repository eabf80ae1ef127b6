package stdlib_test

import (
	"os"
	"path/filepath"
	"testing"

	"transect/runtime/vm"
	"transect/testdata/flightgen"
)

// imageryCases run in a folder with flight (12 photos from 30 m, the fourth
// without position, and one that is cut off) and notes.txt, with refused.
var imageryCases = map[string]string{
	"each goes through a folder in natural order, with what is wrong": `
		local names, wrong = {}, {}
		for photo, problem in imagery.each("flight") do
			names[#names + 1] = photo.name
			if problem then wrong[photo.name] = problem.cause end
			assert(photo.path and (problem or photo.latitude and photo.focal_length_35))
		end
		assert(#names == 13 and names[1] == "cut.jpg" and names[13] == "FLIGHT_0012.JPG", table.concat(names, " "))
		assert(wrong["FLIGHT_0004.JPG"] == "no position" and wrong["cut.jpg"] == "truncated")`,
	"each goes through a list, in its order, and through folders below": `
		local files = {}
		for photo in imagery.each({ "flight/FLIGHT_0002.JPG", "flight/FLIGHT_0001.JPG", "flight/missing.jpg" }) do files[#files + 1] = photo.name end
		assert(table.concat(files, " ") == "FLIGHT_0002.JPG FLIGHT_0001.JPG missing.jpg", table.concat(files, " "))
		local n = 0
		for photo in imagery.each(".", { recursive = true }) do n = n + 1; assert(photo.name:find("^flight/")) end
		assert(n == 13)
		for photo in imagery.each({}) do error("none") end`,
	"each can be left, and shared by tasks": `
		for photo in imagery.each("flight") do break end
		local task, seen = require("task"), {}
		local n = task.map(imagery.each("flight"), function(photo) assert(not seen[photo.name]); seen[photo.name] = true; return 1 end, { workers = 4 })
		assert(#n == 13)`,
	"each says what is wrong with what it was given": `
		refused("FileError", "does not exist", imagery.each, "flown")
		refused("FileError", "is a file, not a folder", imagery.each, "notes.txt")
		refused("ParameterError", "item 2 must be the path of a photo, got a number", imagery.each, { "a.jpg", 5 })
		refused("ParameterError", "did you mean recursive", imagery.each, "flight", { recursiv = true })
		local nothing = require("fs").temp_dir()
		refused("FileError", "has no images", imagery.each, nothing)`,
	"a footprint follows from what the photo says": `
		local seen = imagery.footprint("flight/FLIGHT_0001.JPG")
		local p = seen.properties
		assert(seen.type == "Feature" and p.name == "FLIGHT_0001.JPG" and #p.assumed == 0 and p.cut == false and p.height == 30)
		local photo = imagery.read("flight/FLIGHT_0001.JPG")
		assert(geo.contains(seen, { photo.longitude, photo.latitude }))
		assert(math.abs(geo.area(seen) - p.area) < 1e-6 * p.area)
		-- as wide as the pixels on the ground are
		assert(math.abs(p.area / (p.ground_sample_distance ^ 2 * photo.width * photo.height) - 1) < 1e-5)
		assert(imagery.footprint(photo).properties.area == p.area)
		assert(math.abs(imagery.footprint(photo, { height = 60 }).properties.area / p.area - 4) < 1e-4)
		assert(imagery.footprint(photo, { ground = photo.altitude - 30 }).properties.area - p.area < 0.1)
		-- a flight of one photo covers the same
		local fs = require("fs"); fs.mkdir("one"); fs.copy("flight/FLIGHT_0001.JPG", "one")
		assert(math.abs(imagery.scan("one").area / p.area - 1) < 1e-6)`,
	"a footprint says what is missing": `
		local photo = { name = "x.jpg", latitude = 52, longitude = 4, width = 4000, height = 3000 }
		local _, e = try(imagery.footprint, photo)
		assert(e.name == "ValueError" and e.message:find("x.jpg has no height above the ground, angle of view, yaw and pitch", 1, true), tostring(e))
		assert(e.hint:find("height = metres", 1, true) and e.hint:find("pitch = -90", 1, true), e.hint)
		local about = imagery.footprint(photo, { missing = "assume" })
		assert(#about.properties.assumed == 4 and about.properties.height == nil and #about.geometry.coordinates[1] == 17)
		refused("ValueError", "FLIGHT_0004.JPG has no position", imagery.footprint, "flight/FLIGHT_0004.JPG", { missing = "assume" })
		refused("FileError", "cut.jpg", imagery.footprint, "flight/cut.jpg")
		local view = { height = 50, yaw = 0, pitch = 20, focal_length_35 = 24 }
		refused("ValueError", "shows the sky or the horizon", imagery.footprint, photo, view)
		view.pitch = -30
		assert(imagery.footprint(photo, view).properties.cut)
		refused("ParameterError", "height above the ground must be positive", imagery.footprint, photo, { height = 0 })
		refused("ParameterError", "either height or ground", imagery.footprint, photo, { height = 1, ground = 1 })
		refused("ValueError", "the photo has no altitude to compute", imagery.footprint, photo, { ground = 1 })
		refused("ParameterError", "did you mean height", imagery.footprint, photo, { hieght = 1 })
		refused("ParameterError", "latitude must be a number, got a string", imagery.footprint, { latitude = "52", longitude = 4 })
		refused("ValueError", "are not on the globe", imagery.footprint, { latitude = 152, longitude = 4 })`,
}

func TestImagery(t *testing.T) {
	for name, code := range imageryCases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := flightgen.Write(filepath.Join(dir, "flight"), 12, flightgen.Options{Width: 64, Height: 48, WithoutPosition: []int{3}}); err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{"flight/cut.jpg": "\xff\xd8\xff", "notes.txt": "windy"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, _, err := run(t, vm.Options{Dir: dir}, `local imagery, geo = require("imagery"), require("geo")
				local function refused(name, message, f, ...)
					local _, e = try(f, ...)
					assert(e and e.name == name and tostring(e):find(message, 1, true), tostring(e))
				end; `+code); err != nil {
				t.Error(err)
			}
		})
	}
}
