// Command pack packs the programs of dist/ for a release: an archive for each system named, a .deb and a .rpm for
// those of Linux, a bill of materials for each, and checksums.txt. It is a module of its own: what packs is not what
// the program depends on. Equal programs give equal bytes.
package main

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
	"github.com/spf13/cobra/doc"

	"transect/cmd/transect/cli"
	"transect/cmd/transect/jobcmd"
	"transect/cmd/transect/pagecmd"
	"transect/cmd/transect/platformcmd"
	process "transect/runtime"
	"transect/scripts"
	"transect/stdlib"
)

// file is one file of a release: where it lies in the checkout, in an archive, and in a package of a Linux system.
type file struct {
	source, archived, installed string
	mode                        os.FileMode
}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("usage: pack OS/ARCH… (in the root of the checkout)")
	}
	if err := pack(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func pack(systems []string) error {
	scratch, err := os.MkdirTemp("", "pack")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	made := []string{}
	var shared []file
	for _, system := range systems {
		program := "dist/transect-" + strings.ReplaceAll(system, "/", "-")
		name := "transect"
		if strings.HasPrefix(system, "windows/") {
			program, name = program+".exe", name+".exe"
		}
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return err
		}
		version, at := identity(info)
		if shared == nil {
			if shared, err = documents(scratch, at); err != nil {
				return err
			}
		}
		base := fmt.Sprintf("dist/transect-%s-%s", version, strings.ReplaceAll(system, "/", "-"))
		all := append([]file{{program, name, "/usr/bin/transect", 0o755}}, shared...)
		steps := map[string]func(w io.Writer) error{
			".cdx.json": func(w io.Writer) error { return materials(w, info, version, at) },
			".tar.gz":   func(w io.Writer) error { return tarball(w, path.Base(base), all, at) },
		}
		goos, arch, _ := strings.Cut(system, "/")
		switch goos {
		case "linux":
			for _, format := range []string{"deb", "rpm"} {
				steps["."+format] = func(w io.Writer) error { return installable(w, format, arch, version, all, at) }
			}
		case "windows":
			delete(steps, ".tar.gz")
			steps[".zip"] = func(w io.Writer) error { return zipped(w, path.Base(base), all, at) }
		}
		for extension, write := range steps {
			if err := create(base+extension, write); err != nil {
				return fmt.Errorf("%s%s: %w", base, extension, err)
			}
			made = append(made, base+extension)
		}
	}
	slices.Sort(made)
	return create("dist/checksums.txt", func(w io.Writer) error {
		for _, name := range made {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "%x  %s\n", sha256.Sum256(text), path.Base(name))
		}
		return nil
	})
}

// identity returns the version and the time of the commit that a program was built from.
func identity(info *buildinfo.BuildInfo) (version string, at time.Time) {
	version = strings.TrimSuffix(strings.TrimPrefix(info.Main.Version, "v"), "+dirty")
	if version == "(devel)" || version == "" {
		version = "0.0.0"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			at, _ = time.Parse(time.RFC3339, s.Value)
		}
	}
	return version, cmp.Or(at, time.Unix(0, 0)).UTC()
}

// documents makes the manual pages and the completions, and lists them with what is in the checkout.
func documents(scratch string, at time.Time) (all []file, err error) {
	p := process.NewProcess()
	p.Args = nil
	for _, script := range scripts.Commands() { // which are declared when named
		p.Args = append(p.Args, script.Name)
	}
	root := cli.NewApp(p, jobcmd.Part{}, pagecmd.Part{}, platformcmd.Part{}).Root(nil)
	root.DisableAutoGenTag = true
	for _, cmd := range root.Commands() {
		cmd.Flags().SortFlags = true // those of scripts come in any order
	}
	for _, script := range scripts.Commands() { // their help is their own
		spec, err := stdlib.DeclaredArgs(script.Ref(), script.Code)
		if err != nil {
			return nil, err
		}
		cmd, _, err := root.Find([]string{script.Name})
		if err != nil {
			return nil, err
		}
		_, usage, _ := strings.Cut(spec.Usage(), "Usage:\n  transect ")
		cmd.Use, usage, _ = strings.Cut(usage, "\n")
		cmd.DisableFlagsInUseLine = true
		cmd.Long = spec.Doc + "\n\n    " + strings.ReplaceAll(strings.TrimSpace(usage), "\n", "\n    ")
	}
	man := filepath.Join(scratch, "man")
	if err := os.Mkdir(man, 0o700); err != nil {
		return nil, err
	}
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &at, Source: "Transect", Manual: "Transect"}, man); err != nil {
		return nil, err
	}
	pages, err := os.ReadDir(man)
	if err != nil {
		return nil, err
	}
	for _, p := range pages {
		name := "man1/" + p.Name()
		all = append(all, file{filepath.Join(man, p.Name()), "man/" + name, "/usr/share/man/" + name, 0o644})
	}
	host := fmt.Sprintf("dist/transect-%s-%s", runtime.GOOS, runtime.GOARCH)
	for shell, place := range map[string]string{
		"bash": "/usr/share/bash-completion/completions/transect", "zsh": "/usr/share/zsh/site-functions/_transect",
		"fish": "/usr/share/fish/vendor_completions.d/transect.fish", "powershell": ""} {
		text, err := exec.Command(host, "completion", shell).Output()
		if err != nil {
			return nil, fmt.Errorf("%s completion %s: %w", host, shell, err)
		}
		source := filepath.Join(scratch, shell)
		if err := os.WriteFile(source, text, 0o600); err != nil {
			return nil, err
		}
		all = append(all, file{source, "completions/transect." + shell, place, 0o644})
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		all = append(all, file{name, name, "/usr/share/doc/transect/" + name, 0o644})
	}
	slices.SortFunc(all, func(a, b file) int { return cmp.Compare(a.archived, b.archived) })
	return all, nil
}

// create writes a file, whole or not at all.
func create(name string, write func(w io.Writer) error) (err error) {
	f, err := os.Create(name + ".part")
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), name)
}

func tarball(w io.Writer, folder string, all []file, at time.Time) error {
	packed := gzip.NewWriter(w)
	archive := tar.NewWriter(packed)
	for _, f := range all {
		text, err := os.ReadFile(f.source)
		if err != nil {
			return err
		}
		if err := archive.WriteHeader(&tar.Header{Name: path.Join(folder, f.archived), Mode: int64(f.mode), Size: int64(len(text)),
			ModTime: at, Format: tar.FormatUSTAR}); err != nil {
			return err
		}
		if _, err := archive.Write(text); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), packed.Close())
}

func zipped(w io.Writer, folder string, all []file, at time.Time) error {
	archive := zip.NewWriter(w)
	for _, f := range all {
		text, err := os.ReadFile(f.source)
		if err != nil {
			return err
		}
		entry, err := archive.CreateHeader(&zip.FileHeader{Name: path.Join(folder, f.archived), Method: zip.Deflate, Modified: at})
		if err != nil {
			return err
		}
		if _, err := entry.Write(text); err != nil {
			return err
		}
	}
	return archive.Close()
}

// installable writes a package for a package manager.
func installable(w io.Writer, format, arch, version string, all []file, at time.Time) error {
	info := nfpm.WithDefaults(&nfpm.Info{Name: "transect", Arch: arch, Version: version, Section: "utils", Priority: "optional",
		Maintainer: "The Transect authors", Description: "Lua workflows for a geospatial data platform", License: "MIT", MTime: at})
	info.RPM.BuildHost = "localhost" // the same wherever it is built
	for _, f := range all {
		if f.installed != "" {
			info.Contents = append(info.Contents, &files.Content{Source: f.source, Destination: f.installed,
				FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: f.mode, MTime: at}})
		}
	}
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	return packager.Package(info, w)
}

// materials writes what a program was built from, as its build information says, in CycloneDX 1.5.
func materials(w io.Writer, info *buildinfo.BuildInfo, version string, at time.Time) error {
	type component struct {
		Type    string `json:"type"`
		Name    string `json:"name"`
		Version string `json:"version"`
		PURL    string `json:"purl"`
	}
	of := func(kind, name, version string) component {
		return component{kind, name, version, "pkg:golang/" + name + "@" + version}
	}
	parts := []component{of("library", "std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, m := range info.Deps {
		for m.Replace != nil {
			m = m.Replace
		}
		parts = append(parts, of("library", m.Path, m.Version))
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(map[string]any{"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "components": parts,
		"metadata": map[string]any{"timestamp": at.Format(time.RFC3339), "component": of("application", info.Main.Path, version)}})
}
