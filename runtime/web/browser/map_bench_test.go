package browser_test

import (
	"strings"
	"testing"
)

// hundredThousand creates 100,000 photos of a survey, 20 metres apart, without files.
const hundredThousand = `
local sdk = require("sdk")
local project = sdk.projects.find_or_create{ name = "Large" }
local mission = sdk.missions.find_or_create{ project = project, name = "Large survey" }
local photos, start = {}, 1767225600
for i = 0, 99999 do
  local row, column = math.floor(i / 400), i % 400
  if row % 2 == 1 then column = 399 - column end
  photos[#photos + 1] = { name = ("P%06d.JPG"):format(i), type = "image", project = project.id, mission = mission.id, components = { { name = "image" } },
    geometry = { type = "Point", coordinates = { 8 + column * 0.00028, 50 + row * 0.00018, 100 } },
    acquisition_date = os.date("!%Y-%m-%dT%H:%M:%S.000Z", start + i * 2) }
  if #photos == 1000 then
    sdk.datasets.create_datasets(photos)
    photos = {}
  end
end
print(mission.id)
`

// BenchmarkMapOf100000Photos measures when the first photos are painted, when all
// are there, and the longest frame while the map is panned and zoomed.
func BenchmarkMapOf100000Photos(b *testing.B) {
	needsBrowser(b)
	s := newSite(b)
	mission := strings.TrimSpace(s.run("run", "--local", s.write("large.lua", hundredThousand)))
	address, _ := s.ui("--local")
	p := open(b, address)
	for b.Loop() {
		p.visit("/map?mission=" + mission)
		p.until(`document.querySelector("#map")?.map?.photos.n > 0`)
		first := eval[float64](p, `performance.now()`)
		p.until(loadedMap)
		whole := eval[float64](p, `performance.now()`)
		longest := eval[float64](p, `(async () => {
			const map = document.querySelector("#map").map, frame = () => new Promise(requestAnimationFrame);
			let longest = 0, last = await frame();
			for (let i = 0; i < 240; i++) {
				if (i % 80 === 79) map.view.zoomTo(map.view.zoom + 1);
				map.view.pan(i % 60 < 30 ? 12 : -12, 5);
				map.moved();
				const now = await frame();
				longest = Math.max(longest, now - last);
				last = now;
			}
			return longest;
		})()`)
		b.ReportMetric(first, "ms/first-paint")
		b.ReportMetric(whole, "ms/all-photos")
		b.ReportMetric(longest, "ms/longest-frame")
	}
}
