package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"transect/runtime"
	"transect/testdata/flightgen"
)

// randomScript is a script of random writes, each on a line of its own. With TWIST=N in
// the environment, write N gives its thing another name, X-N in place of T-N.
func randomScript(random *rand.Rand) (code string, lines []int) {
	var b strings.Builder
	line := 0
	add := func(format string, args ...any) {
		line++
		fmt.Fprintf(&b, format+"\n", args...)
	}
	add(`local sdk, task, twist = require("sdk"), require("task"), os.getenv("TWIST")`)
	add(`local function name(n) return (twist == tostring(n) and "X-" or "T-") .. n end`)
	add(`local company, projects, missions, datasets = sdk.users.describe().company, {}, {}, {}`)
	one := func(list string) string { return fmt.Sprintf("%s[1 + %d %% #%s]", list, random.IntN(100), list) }
	writes := 4 + random.IntN(10)
	for n := range writes {
		var call string
		kind := random.IntN(9)
		if n < 3 {
			kind = n // there is one of each
		}
		switch {
		case kind == 0:
			call = fmt.Sprintf(`projects[#projects + 1] = sdk.projects.create{ name = name(%d), company = company }`, n)
		case kind == 1:
			call = fmt.Sprintf(`missions[#missions + 1] = sdk.missions.create_mission{ project = %s, name = name(%d), `+
				`survey_date = "2026-05-01" }`, one("projects"), n)
		case kind == 2 || kind == 3:
			call = fmt.Sprintf(`datasets[#datasets + 1] = sdk.datasets.create_file_dataset{ project = %s, name = name(%d) }`,
				one("projects"), n)
		case kind == 4:
			call = fmt.Sprintf(`sdk.datasets.rename(%s, { name = name(%d) })`, one("datasets"), n)
		case kind == 5:
			call = fmt.Sprintf(`sdk.projects.update_name(%s, { name = name(%d) })`, one("projects"), n)
		case kind == 6:
			call = fmt.Sprintf(`sdk.annotations.create{ project = %s, name = name(%d), geometry = { type = "Point", `+
				`coordinates = { %d, 47 } } }`, one("projects"), n, random.IntN(90))
		case kind == 7:
			call = fmt.Sprintf(`task.map({ "a", "b", "c" }, function(x) sdk.datasets.create_file_dataset{ project = %s, `+
				`name = name(%d) .. x } end)`, one("projects"), n)
		default:
			call = fmt.Sprintf(`sdk.comments.create(name(%d), { project = %s, type = "project" })`, n, one("projects"))
		}
		switch random.IntN(4) {
		case 0: // what it read decides: its own writes among it
			if n > 2 {
				call = fmt.Sprintf(`if #sdk.datasets.search{ filter = { project = %s } } >= %d then %s end`,
					one("projects"), random.IntN(2), call)
			}
		case 1:
			if n > 2 {
				call = "pcall(function() " + call + " end)"
			}
		}
		add(`%s print("done %d")`, call, n)
		lines = append(lines, line)
	}
	return b.String(), lines
}

// everything lists the names on a platform.
const everything = `
local sdk, names = require("sdk"), {}
for p in sdk.projects.search_generator{} do
  names[#names + 1] = "project " .. p.name
  local here = { project = { ["$eq"] = p.id } }
  for m in sdk.missions.search_generator{ filter = here } do names[#names + 1] = "mission " .. m.name end
  for d in sdk.datasets.search_generator{ filter = here } do names[#names + 1] = "dataset " .. d.name end
  for a in sdk.annotations.search_generator{ filter = here } do names[#names + 1] = "annotation " .. a.name end
  for _, c in ipairs(sdk.comments.search{ project = p, type = "project" }) do names[#names + 1] = "comment " .. c.text end
end
table.sort(names)
print(table.concat(names, "\n"))
`

// TestRandomScriptsPlanned plans random scripts and carries them out, every second time
// after one of the writes became another: nothing is written that was not planned, and
// what was planned is done or named. TRANSECT_PLANNED_SCRIPTS is their number,
// TRANSECT_PLANNED_SEED the seed.
func TestRandomScriptsPlanned(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it starts a hundred processes")
	}
	t.Parallel()
	number := func(name string, usual int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return usual
	}
	seed := number("TRANSECT_PLANNED_SEED", int(time.Now().UnixNano()%1e9))
	planned, refused := 0, 0
	for n := range number("TRANSECT_PLANNED_SCRIPTS", 10) {
		random := rand.New(rand.NewPCG(uint64(seed), uint64(n)))
		code, lines := randomScript(random)
		h := newHome(t, 0, flightgen.Options{})
		h.settings = []string{"TRANSECT_LOCAL=1"}
		h.file("random.lua", code)
		h.file("everything.lua", everything)
		failed := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("seed %d, script %d: %s\n%s", seed, n, fmt.Sprintf(format, args...), code)
		}
		expected, stderr, exit := h.run("plan", "random.lua", "-o", "p.plan")
		if exit != runtime.ExitPlanned {
			failed("planning: exit code %d\n%s%s", exit, expected, stderr)
		}
		planned++
		twist := -1
		if n%2 == 1 {
			twist = random.IntN(len(lines))
			h.settings = append(h.settings, fmt.Sprintf("TWIST=%d", twist))
		}
		stdout, stderr, exit := h.run("apply", "p.plan")
		there := h.must("run", "everything.lua")
		if strings.Contains(there, " X-") {
			failed("it wrote what was not planned:\n%s", there)
		}
		all := regexp.MustCompile(`random\.lua:` + strconv.Itoa(lines[max(twist, 0)]) + `\b`).MatchString(expected)
		switch {
		case twist >= 0 && all && exit == 0:
			failed("apply ended well with write %d changed:\n%s%s", twist, stdout, stderr)
		case (twist < 0 || !all) && exit != 0:
			failed("applying: exit code %d\n%s%s", exit, stdout, stderr)
		case exit != 0:
			refused++
		}
		for i, line := range lines {
			at := regexp.MustCompile(`random\.lua:` + strconv.Itoa(line) + `\b`)
			if at.MatchString(expected) && !strings.Contains(stdout, fmt.Sprintf("done %d\n", i)) && !at.MatchString(stderr+stdout) {
				failed("write %d of line %d was planned, and is neither done nor named:\n%s\n%s%s", i, line, expected, stdout, stderr)
			}
		}
	}
	t.Logf("%d scripts planned, %d refused", planned, refused)
}
