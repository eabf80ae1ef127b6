package stdlib_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"transect/runtime/vm"
)

// fsCases run in a folder with tree/a.txt, tree/b/c.txt, tree/b/.hidden and
// tree/empty.
var fsCases = map[string]string{
	"walk goes in order, with depth, kinds and hidden names": `
		local function names(...) local t = {}; for p in fs.walk("tree", ...) do t[#t + 1] = slashes(p) end; return table.concat(t, " ") end
		assert(names() == "tree/a.txt tree/b/.hidden tree/b/c.txt", names())
		assert(names{ hidden = false } == "tree/a.txt tree/b/c.txt" and names{ depth = 1 } == "tree/a.txt")
		assert(names{ type = "dir" } == "tree/b tree/empty" and names{ type = "any", depth = 1 } == "tree/a.txt tree/b tree/empty")
		refused("FileError", "missing: ", fs.walk, "missing")
		refused("FileError", "is not a folder", fs.walk, "tree/a.txt")
		refused("ParameterError", "did you mean depth", fs.walk, "tree", { dept = 1 })`,
	"find gives what glob lists": `
		for _, pattern in ipairs{ "tree/**/*.txt", "tree/*", "**/c.txt", "tree/a.txt", "tree/{a,x}.txt", "nowhere/*" } do
			local found = {}
			local ok, e = pcall(function() for p, info in fs.find(pattern) do found[#found + 1] = p; assert(info.type == "file") end end)
			assert(ok or pattern == "nowhere/*", tostring(e))
			table.sort(found)
			assert(table.concat(found, " ") == table.concat(fs.glob(pattern), " "), pattern .. ": " .. table.concat(found, " "))
		end
		for p in fs.find("*.txt", { dir = "tree" }) do assert(p == "a.txt") end
		assert(fs.glob("/b/*/../*.txt", { dir = "tree" })[1] == "b/c.txt" and fs.glob("tree/*/./c.txt")[1] == "tree/b/c.txt")`,
	"lines of every end and length": `
		fs.write("l", "one\r\n\nthree\n" .. ("x"):rep(200000)); local t = {}
		for line, n in fs.lines("l") do t[n] = #line end
		assert(table.concat(t, " ") == "3 0 5 200000")
		fs.write("l", ""); for line in fs.lines("l") do error("none") end
		refused("FileError", "missing: ", fs.lines, "missing")`,
	"copies keep time and leave nothing half": `
		assert(fs.copy("tree", "copy", { recursive = true }) == 3 and fs.read("copy/b/c.txt") == "c")
		assert(fs.stat("copy/a.txt").modified == fs.stat("tree/a.txt").modified and fs.stat("copy/empty").type == "dir")
		refused("FileError", "is a folder", fs.copy, "tree", "x")
		refused("FileExistsError", "exists", fs.copy, "tree/a.txt", "copy", { overwrite = false })
		for name, make in pairs{ written = function(to) fs.write(to, "x", { overwrite = false }) end, copied = function(to) fs.copy("tree/a.txt", to, { overwrite = false }) end } do
			local made = 0
			require("task").map({ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }, function()
				local _, e = try(make, name)
				if not e then made = made + 1 else assert(e.name == "FileExistsError", tostring(e)) end
			end)
			assert(made == 1, name .. " " .. made)
			fs.remove(name)
		end
		refused("FileError", "inside the folder", fs.copy, "tree", "tree/b/deep", { recursive = true })
		refused("FileError", "is the source itself", fs.copy, "tree/a.txt", "tree")
		refused("FileError", "missing", fs.copy, "missing", "x")
		assert(fs.read("tree/a.txt") == "a")`,
	"move renames files and folders": `
		fs.move("tree/a.txt", "tree/b"); assert(not fs.exists("tree/b/a.txt/below")); fs.remove("tree/b/a.txt/below"); assert(fs.read("tree/b/a.txt") == "a" and not fs.exists("tree/a.txt"))
		fs.move("tree/b", "moved"); assert(fs.read("moved/c.txt") == "c")
		fs.write("x", "1"); fs.write("y", "2")
		refused("FileExistsError", "exists", fs.move, "x", "y", { overwrite = false })
		fs.move("x", "y"); assert(fs.read("y") == "1"); fs.move("y", "y"); assert(fs.read("y") == "1")
		refused("FileError", "missing", fs.move, "missing", "x")`,
	"watch gives a file when it is whole, and again when it was replaced": `
		local task = require("task")
		for path in fs.watch("tree", { settle = 60, interval = 0.001, idle = 0.01 }) do error("not settled: " .. path) end
		local o = { settle = 0.06, interval = 0.01, existing = false, idle = 60, pattern = "**/*.jpg" }
		local next, sizes = fs.watch("tree", o), {}
		local writer = task.spawn(function()
			for i = 1, 10 do fs.append("tree/slow.jpg", "part"); task.sleep(0.02) end
			fs.mkdir("tree/new"); fs.write("tree/new/quick.jpg", "1"); fs.write("tree/x.jpg.part", ""); fs.write("tree/no.txt", "")
			while not sizes["tree/new/quick.jpg"] do task.sleep(0.01) end
			fs.write("tree/new/quick.jpg", "22")
		end)
		for path in next do
			path = slashes(path); sizes[path] = fs.stat(path).size
			assert(path:find("%.jpg$"))
			if sizes["tree/slow.jpg"] == 40 and sizes["tree/new/quick.jpg"] == 2 then break end
		end
		writer:await()
		refused("FileError", "missing: ", fs.watch, "missing")
		fs.remove("tree", { recursive = true })
		refused("FileError", "tree: ", fs.watch, "tree")`,
	"temporary files are gone after the run": `
		kept = fs.temp_file("a.txt"); fs.write(kept, "x"); fs.write("name", kept)
		refused("ParameterError", "without a folder", fs.temp_file, "../x")`,
}

func TestFS(t *testing.T) {
	for name, code := range fsCases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for path, text := range map[string]string{"a.txt": "a", "b/c.txt": "c", "b/.hidden": "h"} {
				path = filepath.Join(dir, "tree", path)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				old := time.Now().Add(-time.Hour)
				if err := os.Chtimes(path, old, old); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Mkdir(filepath.Join(dir, "tree", "empty"), 0o755); err != nil {
				t.Fatal(err)
			}
			_, _, err := run(t, vm.Options{Dir: dir}, `local fs = require("fs")
				local function slashes(p) return (p:gsub("\\", "/")) end
				local function refused(name, message, f, ...)
					local _, e = try(f, ...)
					assert(e and e.name == name and tostring(e):find(message, 1, true), tostring(e))
				end; `+code)
			if err != nil {
				t.Error(err)
			}
			if left, err := os.ReadFile(filepath.Join(dir, "name")); err == nil {
				if _, err := os.Stat(string(left)); err == nil {
					t.Error("left behind: ", string(left))
				}
			}
			_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error {
				if strings.Contains(path, ".transect-") {
					t.Error("left behind: ", path)
				}
				return nil
			})
		})
	}
}

func TestLinksAreNotFollowedOutOfTheTree(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making links needs rights there")
	}
	dir := t.TempDir()
	for link, to := range map[string]string{"tree/loop": ".", "tree/gone": "nowhere", "tree/file": "../real"} {
		if err := os.MkdirAll(filepath.Join(dir, "tree"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := run(t, vm.Options{Dir: dir}, `local fs = require("fs")
		fs.write("real", "12"); local t = {}
		for p, info in fs.walk("tree") do t[#t + 1] = p .. info.size end
		assert(#t == 2 and t[1] == "tree/file2", table.concat(t, " "))`)
	if err != nil {
		t.Error(err)
	}
}

// A memory card has folders of the system that only root may read.
func TestWalkSkipsUnreadableFolders(t *testing.T) {
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("this user may read everything: a folder nobody may read cannot be made")
	}
	dir := t.TempDir()
	locked := filepath.Join(dir, "card", "locked")
	if err := os.MkdirAll(locked, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "card", "photo.jpg"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = os.Chmod(locked, 0)
	defer os.Chmod(locked, 0o700)
	_, _, err := run(t, vm.Options{Dir: dir}, `local fs, found = require("fs"), {}
		for path in fs.walk("card", { skip_unreadable = true }) do found[#found + 1] = path end
		assert(#found == 1, table.concat(found, " "))
		assert(not pcall(function() for _ in fs.walk("card") do end end))`)
	if err != nil {
		t.Error(err)
	}
}
