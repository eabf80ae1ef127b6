package web_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"transect/client"
	"transect/client/ingest"
	"transect/client/scan"
	"transect/runtime/web"
)

// card is a copy of the test flight with a truncated photo, a duplicate and a file
// whose name is markup.
func card(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	names, err := filepath.Glob("../../testdata/flight/*.JPG")
	if err != nil || len(names) != 8 {
		t.Fatalf("the test flight has %d photos: %v", len(names), err)
	}
	for i, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		write := func(name string, content []byte) {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(filepath.Base(name), content)
		if i == 0 {
			write("copy.JPG", content)
			write("<i>cut.JPG", content[:len(content)/2])
		}
	}
	return dir
}

func TestFolderBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	dir := card(t)
	_, at, browser := page(t, func(o *web.Options) { o.Client, o.Folder = nil, dir })
	status, body := get(t, browser, at+"/api/folder")
	all := lines(t, body)
	if status != http.StatusOK || len(all["photos"]) != 1 || len(all["survey"]) != 1 {
		t.Fatalf("%d %s", status, body)
	}
	if n := len(all["photos"][0]["id"].([]any)); n != 9 {
		t.Errorf("%d photos have a position, want 9", n)
	}
	for i, ground := range all["photos"][0]["ground"].([]any) {
		if ring, ok := ground.([]any); !ok || len(ring) < 8 {
			t.Errorf("photo %d shows no ground: %v", i, ground)
		}
	}
	_, html := get(t, browser, at+"/folder")
	for _, want := range []string{"&lt;i&gt;cut.JPG", `<span class="badge bad">damaged</span>`, `<span class="badge warn">duplicate</span>`, "8 ready to send", "it is the same file as copy.JPG", "Nothing in this folder has been sent"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(html, "<i>cut") {
		t.Error("a file name is markup on the page")
	}
	if status, body := get(t, browser, at+"/folder/picture/f1?kind=tiny"); status != http.StatusOK || !strings.HasPrefix(body, "\xff\xd8") {
		t.Errorf("a picture: %d, %d bytes", status, len(body))
	}
	if status, _ := get(t, browser, at+"/folder/picture/..%2f..%2fetc?kind=tiny"); status != http.StatusNotFound {
		t.Errorf("a picture of another file: %d", status)
	}
	_, report := get(t, browser, at+"/folder/report")
	for _, want := range []string{`<svg class="plan`, "<dt>Damaged</dt><dd>1 file</dd>", "&lt;i&gt;cut.JPG: "} {
		if !strings.Contains(report, want) {
			t.Errorf("the report lacks %s", want)
		}
	}
}

// Of many problems of one kind the page names the first.
func TestFolderNamesTheFirstOfMany(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	names, _ := filepath.Glob("../../testdata/flight/*.JPG")
	content, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("cut%d.JPG", i)), content[:len(content)/2-i], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, at, browser := page(t, func(o *web.Options) { o.Client, o.Folder = nil, dir })
	_, _ = get(t, browser, at+"/api/folder")
	_, html := get(t, browser, at+"/folder")
	_, findings, _ := strings.Cut(html, `<div id="findings">`)
	findings, _, _ = strings.Cut(findings, "</div>")
	if !strings.Contains(findings, "cut0.JPG: ") || !strings.Contains(findings, "and 29 more problems of this kind") {
		t.Errorf("the findings are\n%s", findings)
	}
}

func TestFolderAfterItWasSent(t *testing.T) {
	t.Parallel()
	dir, state := card(t), ""
	var c *client.Client
	_, at, browser := page(t, func(o *web.Options) { c, o.Folder, state = o.Client, dir, filepath.Dir(o.History.Dir) })
	s := newSite(t, c)
	if _, err := ingest.Run(t.Context(), c, ingest.Options{Source: scan.Source{Paths: []string{dir}}, Target: ingest.Target{Project: s.project, Mission: s.mission}, StateDir: state, Wait: true}); err != nil {
		t.Fatal(err)
	}
	_, html := get(t, browser, at+"/folder")
	for _, want := range []string{"8 uploaded", `<span class="badge bad">damaged</span>`, `<a href="/datasets/`} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(html, "ready to send") || strings.Contains(html, "Nothing of this folder") {
		t.Error("the page says that files were not sent")
	}
}

func TestEmptyFolder(t *testing.T) {
	t.Parallel()
	_, at, browser := page(t, func(o *web.Options) { o.Client, o.Folder = nil, t.TempDir() })
	if _, html := get(t, browser, at+"/folder"); !strings.Contains(html, "There is nothing to send in this folder.") {
		t.Error("the page of an empty folder does not say so")
	}
}
