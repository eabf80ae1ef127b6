package runtime

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPathsOfOperations: a relative path that a script gives to an operation
// starts at the folder of its process, as for all its modules, not where the
// process happens to be.
func TestPathsOfOperations(t *testing.T) {
	y := newYard(t)
	if err := os.WriteFile(filepath.Join(y.dir, "notes.txt"), []byte("windy"), 0o600); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadDir(here)
	out, _ := y.must(`
local sdk, fs = require("sdk"), require("fs")
local project = sdk.projects.create("p", sdk.users.describe().company)
local d = sdk.datasets.create_file_dataset{ name = "notes.txt", project = project }
sdk.datasets.upload_file{ dataset = d, component = "file", file_path = "notes.txt" }
local paths = {
  sdk.datasets.download_component(d, { component = "file" , target_name = "copy.txt" }),
  sdk.datasets.download_component(d, { component = "file", target_path = "out" }),
  sdk.datasets.download_component(d, { component = "file", target_path = "./out/deep/..", target_name = "again.txt" }),
}
for _, path in ipairs(paths) do assert(fs.read(path) == "windy", path) end
assert(fs.exists("copy.txt") and fs.exists("out/notes.txt") and fs.exists("out/again.txt"))
local one = sdk.annotations.create{ project = project, geometry = { type = "Point", coordinates = { 4, 50 } }, file_paths = { "notes.txt" } }
local many = sdk.annotations.create_annotations{ { project = project, geometry = { type = "Point", coordinates = { 4, 50 } }, file_paths = { "out/notes.txt" } } }
print(#one.attachments + #many[1].attachments)`)
	if !strings.HasPrefix(out, "2") {
		t.Errorf("attached: %s", out)
	}
	if after, _ := os.ReadDir(here); len(after) != len(before) {
		t.Errorf("something was left in %s: %v", here, after)
	}
	for _, path := range []string{"copy.txt", "out/notes.txt", "out/again.txt"} {
		if _, err := os.Stat(filepath.Join(y.dir, filepath.FromSlash(path))); err != nil {
			t.Error(err)
		}
	}
}
