package browser_test

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// surveyed is a site whose platform has the flight of testdata and what the
// script survey.lua made of it.
func surveyed(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	s.run("run", "--local", filepath.Join(s.root, "scripts/survey.lua"), "--out", "out", s.flight())
	return s
}

func (s *site) flight() string { return filepath.Join(s.root, "testdata/flight") }

// links are the pages that a page links to.
func (p *tab) links() []string {
	p.t.Helper()
	var paths []string
	for _, link := range eval[[]string](p, `[...document.querySelectorAll("a[href]")].filter(a => !a.download).map(a => a.href)`) {
		u, err := url.Parse(link)
		if err == nil && strings.HasPrefix(link, p.at) {
			path := u.Path
			if u.RawQuery != "" {
				path += "?" + u.RawQuery
			}
			paths = append(paths, path)
		}
	}
	return paths
}

// kind is what pages have in common: /datasets/ID?verdict is one kind, however
// many there are.
func kind(path string) string {
	path, query, _ := strings.Cut(path, "?")
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if i > 1 && len(part) >= 12 {
			parts[i] = "ID"
		}
	}
	name, _, _ := strings.Cut(query, "=")
	return strings.Join(parts, "/") + "?" + name
}

func TestPages(t *testing.T) {
	needsBrowser(t)
	s := surveyed(t)
	address, _ := s.ui("--local", "--allow-actions", s.flight())
	p := open(t, address)
	p.everyPage()
	p.keyboard()
	p.everyMedium()
}

// everyPage finds that each page fits its window at the width of a desk and of a
// phone, has a heading, and leaves the console empty; the content policy would be
// heard there.
func (p *tab) everyPage() {
	t := p.t
	queue, seen := []string{"/", "/folder", "/map", "/datasets", "/products", "/runs"}, map[string]bool{}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		k := kind(path)
		if seen[k] || notPage(path) {
			continue
		}
		seen[k] = true
		p.width(wide)
		p.visit(path)
		queue = append(queue, p.links()...)
		if n := eval[int](p, `document.querySelectorAll("main h1").length`); n != 1 {
			t.Errorf("%s has %d headings", path, n)
		}
		if title := eval[string](p, "document.title"); !strings.HasSuffix(title, "Transect") {
			t.Errorf("%s has the title %q", path, title)
		}
		for _, what := range eval[[]string](p, unnamed) {
			t.Errorf("%s: nothing says what this is to a screen reader: %s", path, what)
		}
		name := "page-" + strings.Trim(strings.NewReplacer("/", "-", "?", "-", "&", "-").Replace(kind(path)), "-")
		p.fits(path + " at 1280")
		p.picture(name)
		p.width(narrow)
		p.fits(path + " at 400")
		p.picture(name + "-narrow")
		if said := p.console(); len(said) > 0 {
			t.Errorf("%s: the console has errors:\n%s", path, strings.Join(said, "\n"))
		}
	}
	for _, k := range []string{"/?", "/folder?", "/map?", "/datasets?", "/datasets/ID?", "/products?", "/products/ID?", "/projects/ID?", "/runs?", "/runs/ID?"} {
		if !seen[k] {
			t.Errorf("no link leads to a page like %s; there are %v", k, seen)
		}
	}
}

// notPage reports paths that are files, not pages.
func notPage(path string) bool {
	return strings.HasPrefix(path, "/static/") || strings.HasPrefix(path, "/api/") || strings.Contains(path, "download") ||
		strings.Contains(path, "csv") || strings.Contains(path, "&") || // a combination of others
		strings.HasSuffix(path, "/log") || strings.HasPrefix(path, "/picture/") || strings.Contains(path, "/files/")
}

// unnamed lists controls and pictures that have no name.
const unnamed = `[...document.querySelectorAll("a, button, input:not([type=hidden]), select, img, textarea, summary")].filter(e =>
	!e.textContent.trim() && !e.ariaLabel && !e.title && !e.alt && e.getAttribute("alt") !== "" && !e.closest("label") && !e.labels?.length && !e.placeholder && !e.getAttribute("aria-labelledby") && !e.querySelector("img[alt]") && e.offsetParent
).map(e => e.outerHTML.slice(0, 120))`

// keyboard finds that it reaches everything: the link to the content first, then
// the sections, and that the focus can be seen.
func (p *tab) keyboard() {
	t := p.t
	p.width(wide)
	p.visit("/datasets")
	p.press(kb.Tab)
	if text := eval[string](p, "document.activeElement.className"); text != "skip" {
		t.Errorf("the first stop is %q", text)
	}
	p.press(kb.Enter, kb.Tab)
	if !eval[bool](p, `document.getElementById("main").contains(document.activeElement)`) {
		t.Errorf("the link to the content leads to %s", eval[string](p, "document.activeElement.outerHTML"))
	}
	p.visit("/")
	for range 6 {
		p.press(kb.Tab)
	}
	p.leads("Enter", func() bool { p.press(kb.Enter); return true })
	p.press(kb.Tab)
	if width := eval[string](p, `getComputedStyle(document.activeElement).outlineStyle`); width == "none" {
		t.Error("the focus cannot be seen")
	}
}

// everyMedium looks at pages dark, printed and without JavaScript.
func (p *tab) everyMedium() {
	t := p.t
	for _, path := range []string{"/", "/folder", "/map", "/datasets", "/products", "/runs"} {
		p.visit(path)
		p.media("screen", "dark")
		if back := eval[float64](p, luminance); back > 60 {
			t.Errorf("%s is bright in the dark: %g", path, back)
		}
		p.picture("dark" + strings.ReplaceAll(path, "/", "-"))
		p.media("print", "dark")
		if back := eval[float64](p, luminance); back < 250 {
			t.Errorf("%s would be printed on %g", path, back)
		}
		if nav := eval[string](p, `getComputedStyle(document.querySelector("nav")).display`); nav != "none" {
			t.Errorf("%s: the sections are printed", path)
		}
		p.picture("print" + strings.ReplaceAll(path, "/", "-"))
		p.media("screen", "light")
	}
	p.scripts(false)
	for path, text := range map[string]string{"/": "flight 2024-05-14", "/folder": "FLIGHT_0008.JPG", "/datasets": "FLIGHT_0008.JPG", "/products": "flight_report", "/runs": "survey.lua"} {
		p.visit(path)
		p.reads("main", text)
		p.picture("plain" + strings.ReplaceAll(path, "/", "-"))
	}
}

const luminance = `(() => { const c = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).map(Number); return c.length > 3 && c[3] === 0 ? 255 : (c[0] + c[1] + c[2]) / 3 })()`
