package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The systems the program is built for. Whoever works on one of them breaks
// the others unseen: what a file of their own says is compiled there alone.
var targets = []string{"linux/amd64", "darwin/arm64", "windows/amd64"}

// TestOtherSystems checks that all packages, their tests and what they depend on
// are good Go for every target: names and types, as the compiler does, but from
// the sources, as compiling all the dependencies takes minutes.
func TestOtherSystems(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it reads all the sources for the other systems")
	}
	t.Parallel()
	for _, target := range targets {
		system, processor, _ := strings.Cut(target, "/")
		if system == runtime.GOOS && processor == runtime.GOARCH {
			continue // compiled this very test
		}
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			s := sources{t: t, files: token.NewFileSet(), checked: map[string]*types.Package{"unsafe": types.Unsafe},
				sizes: types.SizesFor("gc", processor)}
			for _, p := range listed(t, system, processor) {
				if s.check(p); t.Failed() {
					return // all that imports it fails as well
				}
			}
		})
	}
}

// source is a package as `go list` tells of it.
type source struct {
	Dir, ImportPath string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct {
		Main      bool
		GoVersion string
	}
	Error *struct{ Err string }
}

// listed are all packages with what they import, each after its imports.
func listed(t *testing.T, system, processor string) (list []source) {
	t.Helper()
	cmd := exec.Command("go", "list", "-pgo=off", "-e", "-deps", "-test",
		"-json=Dir,ImportPath,GoFiles,ImportMap,Module,Error", "./...")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, complaints.String())
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p source
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

// sources are packages whose types are known.
type sources struct {
	t       *testing.T
	files   *token.FileSet
	checked map[string]*types.Package
	sizes   types.Sizes
}

func (s *sources) check(p source) {
	own := p.Module != nil && p.Module.Main
	switch {
	case p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test"):
		return
	case p.Error != nil:
		s.t.Errorf("%s: %s", p.ImportPath, p.Error.Err)
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		f, err := parser.ParseFile(s.files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			s.t.Error(err)
			return
		}
		files = append(files, f)
	}
	config := types.Config{Importer: imports{s, p.ImportMap}, Sizes: s.sizes, IgnoreFuncBodies: !own, FakeImportC: true,
		Error: func(err error) { s.t.Errorf("%s: %v", p.ImportPath, err) }}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	s.checked[p.ImportPath], _ = config.Check(path, s.files, files, nil) // Error was reported
}

// imports finds what one package imports.
type imports struct {
	*sources
	mapped map[string]string
}

func (i imports) Import(path string) (*types.Package, error) {
	if as, ok := i.mapped[path]; ok {
		path = as
	}
	if p := i.checked[path]; p != nil {
		return p, nil
	}
	return nil, errors.New("no package " + path)
}
