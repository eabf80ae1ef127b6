// Package browser_test drives a real Chromium through the page of the real
// program: every section at the width of a desk and of a phone, the keyboard,
// what is live, actions, and what goes wrong. Without a Chromium it is skipped.
//
// With TRANSECT_SCREENSHOTS=FOLDER the tests keep pictures of what they saw.
package browser_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// program is the binary under test, browser the Chromium of all tests.
var (
	program string
	browser context.Context
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	chromium := findChromium()
	if chromium == "" || short() {
		return m.Run() // each test says why it is skipped
	}
	dir, err := os.MkdirTemp("", "transect-browser-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	built := filepath.Join(dir, "transect.exe")
	if out, err := exec.Command("go", "build", "-o", built, "transect/cmd/transect").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	program = built
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.UserDataDir(filepath.Join(dir, "profile")),
		chromedp.NoSandbox, chromedp.Env("TZ=Europe/Brussels", "TMPDIR="+dir), chromedp.Flag("font-render-hinting", "none"))
	allocated, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	var end context.CancelFunc
	browser, end = chromedp.NewContext(allocated)
	defer end()
	if err := chromedp.Do(browser); err != nil {
		fmt.Fprintf(os.Stderr, "%s does not start: %v\n", chromium, err)
		return 1
	}
	return m.Run()
}

func findChromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// short reports -short, before the flags are parsed.
func short() bool {
	for _, arg := range os.Args[1:] {
		if arg == "-test.short" || arg == "-test.short=true" {
			return true
		}
	}
	return false
}

// needsBrowser skips a test where there is no browser.
func needsBrowser(t testing.TB) {
	t.Helper()
	switch {
	case testing.Short():
		t.Skip("left out by -short: it drives a browser")
	case browser == nil:
		t.Skip("no Chromium was found: install chromium to drive the page (Debian: apt install chromium)")
	}
	if t, ok := t.(*testing.T); ok {
		t.Parallel()
	}
}
