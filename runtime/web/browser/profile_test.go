package browser_test

import (
	"os"
	"path/filepath"
	"testing"
)

// The page of a profile is read by a browser without a network: it draws the timeline,
// the calls and the lines, and loads nothing. TRANSECT_PICTURES keeps a picture of it.
func TestPageOfAProfile(t *testing.T) {
	needsBrowser(t)
	s := newSite(t)
	script := s.write("survey.lua", `local ingest, sdk, task = require("ingest"), require("sdk"), require("task")
local project = sdk.projects.find_or_create{ name = "North quarry" }
local mission = sdk.missions.find_or_create{ project = project, name = "May survey" }
local function summary(text)
  local words = {}
  for word in text:rep(20000):gmatch("%a+") do words[word] = (words[word] or 0) + 1 end
  return words
end
ingest.run{ source = arg[1], include = "*.JPG", project = project, mission = mission }
task.map({ "a few", "words of", "each report" }, function(text)
  sdk.datasets.search{ filter = { mission = mission } }
  summary(text)
  task.sleep(0.2)
end)
summary("all of it")
`)
	s.run("run", "--local", "--bwlimit", "4M", "--timeline", "profile.html", script, s.flight())
	p := newTab(t)
	p.navigate("file://" + filepath.Join(s.dir, "profile.html"))
	p.until(`document.querySelectorAll("#timeline rect").length > 20 && document.querySelectorAll("#flame div").length > 5 &&
		document.querySelectorAll("#lines tr").length > 4 && document.querySelectorAll("#operations tr").length > 3`)
	p.until(`performance.getEntriesByType("resource").length == 0`)
	if os.Getenv("TRANSECT_PICTURES") != "" {
		p.shoot("profile")
	}
}
