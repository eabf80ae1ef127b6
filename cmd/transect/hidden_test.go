package main

import (
	"path/filepath"
	"strings"
	"testing"

	"transect/client/human"
)

// Names, messages and logs of others never reach the terminal as they are.
func TestHiddenCharactersOnTheTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const hostile = `\27]0;owned\7\27[2J\27[31mred\226\128\174gpj.exe`
	write(t, dir, "make.lua", `
local sdk = require("sdk")
local bad = "`+hostile+`"
local project = sdk.projects.create("North " .. bad, sdk.users.describe().company)
local _, mission = sdk.missions.create{ name = "May " .. bad, project = project.id, survey_date = "2026-05-01",
  number_of_images = 1, coordinates = { { 5.7, 45.2 }, { 5.8, 45.2 }, { 5.8, 45.3 }, { 5.7, 45.2 } } }
sdk.datasets.create_datasets{ { name = "notes " .. bad, type = "file", project = project.id, mission = mission.id,
  components = { { name = "file" } } } }
print(project.id)
`)
	write(t, dir, "fail.lua", `error("the platform says `+hostile+`")`)
	local := []string{"TRANSECT_LOCAL=1", "TRANSECT_LOCAL_DIR=" + filepath.Join(dir, "platform"),
		"TRANSECT_STATE_DIR=" + filepath.Join(dir, "state")}
	made, code := start(t, dir, local, "run", "make.lua").end()
	if code != 0 {
		t.Fatalf("exit code %d", code)
	}
	project := strings.TrimSpace(made)
	for _, c := range []struct {
		args   []string
		answer string
	}{
		{[]string{"ls"}, ""}, {[]string{"ls", project}, ""}, {[]string{"ls", "missions"}, ""},
		{[]string{"ls", "datasets"}, ""}, {[]string{"ls", "datasets", "--json"}, ""},
		{[]string{"find", "owned"}, ""}, {[]string{"show", project}, ""}, {[]string{"show", "North"}, ""},
		{[]string{"show", project + "/May"}, ""}, {[]string{"get", "nothing-there"}, ""},
		{[]string{"rm", project}, "no\r"}, {[]string{"rm", "--dry-run", project}, ""},
		{[]string{"wait", "North"}, ""}, {[]string{"order", "North", "x"}, ""}, {[]string{"run", "fail.lua"}, ""},
		{[]string{"runs"}, ""}, {[]string{"verify", "North", "."}, ""},
	} {
		tm := onTerminal(t, dir, local, c.args...)
		if c.answer != "" {
			tm.sees("(yes/no)")
			tm.keys(c.answer)
		}
		_ = tm.ends()
		<-tm.read
		for _, line := range strings.Split(strings.ReplaceAll(tm.output(), "\x1b[K", ""), "\n") {
			line = strings.ReplaceAll(strings.Trim(line, "\r"), "\r", "")
			if strings.ContainsFunc(line, func(c rune) bool { return human.Hidden(c) && c != '\t' }) {
				t.Errorf("%v: %q", c.args, line)
			}
		}
	}
}
