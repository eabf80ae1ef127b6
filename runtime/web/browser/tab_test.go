package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience is far more than anything here takes.
const patience = 30 * time.Second

// The widths of a desk and of a phone.
const (
	wide   = 1280
	narrow = 400
)

// tab is a window of a browser of its own: it shares no cookies with others.
type tab struct {
	t        testing.TB
	ctx      context.Context
	at       string // scheme, host and port of the page
	pixels   int64  // its width
	mu       sync.Mutex
	expected []string // errors that belong to the test
	said     []string // errors on the console
	frame    string   // the main one
	document string   // loader of the newest document that it has read to its end
}

// open opens an address in a new browser.
func open(t testing.TB, address string) *tab {
	t.Helper()
	p := newTab(t)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	p.at = u.Scheme + "://" + u.Host
	p.navigate(address)
	p.until(`document.getElementById("main")`) // the address leads to it
	return p
}

// newTab is a new browser with an empty window.
func newTab(t testing.TB) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	p := &tab{t: t, ctx: ctx, frame: string(chromedp.FromContext(ctx).Target.TargetID)}
	go p.listen(chromedp.Console(ctx))
	if err := chromedp.Listen(ctx, p.event); err != nil {
		t.Fatal(err)
	}
	p.width(wide)
	t.Cleanup(func() {
		if said := p.console(); len(said) > 0 {
			t.Errorf("the console has errors:\n%s", strings.Join(said, "\n"))
		}
	})
	return p
}

// listen collects errors: of scripts, of resources, of the content policy.
func (p *tab) listen(messages iter.Seq2[chromedp.ConsoleMessage, error]) {
	for m, err := range messages {
		if err != nil {
			return
		}
		if m.Type != chromedp.ConsoleError && m.Type != chromedp.ConsoleWarning && !m.IsException() {
			continue
		}
		text := fmt.Sprintf("%s %s %s", m, m.Source, m.URL)
		p.mu.Lock()
		if !slices.ContainsFunc(p.expected, func(part string) bool { return strings.Contains(text, part) }) {
			p.said = append(p.said, text)
		}
		p.mu.Unlock()
	}
}

// event notes which document the tab shows, once its modules have run.
func (p *tab) event(event any) {
	e, ok := event.(*page.EventLifecycleEvent)
	if !ok || e.Name != "DOMContentLoaded" || string(e.FrameID) != p.frame {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.document = string(e.LoaderID)
}

// leads performs an action and, where that leads to another document, waits until
// it was read to its end: what is asked for afterwards is never answered by the page
// before.
func (p *tab) leads(what string, act func() bool) {
	p.t.Helper()
	shown := func() string {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.document
	}
	before := shown()
	if !act() {
		return
	}
	for began := time.Now(); shown() == before; time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > patience {
			p.t.Fatalf("%s leads nowhere\n%s", what, p.body())
		}
	}
}

// expect lets the console say what contains a text.
func (p *tab) expect(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected = append(p.expected, text)
}

// console returns the errors on the console so far and forgets them.
func (p *tab) console() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	said := p.said
	p.said = nil
	return said
}

// do performs an action and returns its value.
func do[T any](p *tab, what string, action chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", what, err, p.body())
	}
	return value
}

// call calls a command of the protocol.
func call[P, R any](p *tab, command cdp.Command[P, R], params P) {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, command, params); err != nil {
		p.t.Fatalf("%s: %v", command.Method, err)
	}
}

// body is the text of the page, for messages.
func (p *tab) body() string {
	ctx, cancel := context.WithTimeout(p.ctx, time.Second)
	defer cancel()
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText.slice(0, 3000)`)) // it is only a help
	return text
}

// visit goes to a path of the page.
func (p *tab) visit(path string) {
	p.t.Helper()
	p.navigate(p.at + path)
}

// navigate goes to an address.
func (p *tab) navigate(address string) {
	p.t.Helper()
	document, _, within := strings.Cut(address, "#")
	within = within && strings.HasPrefix(eval[string](p, "location.href"), document+"#")
	p.leads("visit "+address, func() bool {
		do(p, "visit "+address, chromedp.Navigate(address))
		return !within
	})
}

// width sets the width of the window.
func (p *tab) width(pixels int64) {
	p.t.Helper()
	p.pixels = pixels
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: pixels, Height: 800, DeviceScaleFactor: 1, Mobile: pixels < 600})
}

// media emulates a medium such as print, and a preferred colour scheme.
func (p *tab) media(medium, scheme string) {
	p.t.Helper()
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: medium, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// scripts turns JavaScript on or off.
func (p *tab) scripts(on bool) {
	p.t.Helper()
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
}

// see waits until an element is visible.
func (p *tab) see(selector string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`document.querySelector(%s)?.checkVisibility()`, quoted(selector)))
}

// clicks clicks an element that can be seen and is not covered, in one step: a page
// that is live cannot replace it in between. It says whether that leads to another
// document, or "" when there is nothing to click yet.
const clicks = `(() => {
	const e = document.querySelector(%s);
	if (!e?.checkVisibility() || e.disabled) return "";
	e.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
	const r = e.getClientRects()[0], top = r && document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2);
	if (!top || !e.contains(top) && !top.contains(e)) return "";
	e.focus();
	const link = e.closest("a[href]:not([download])"), button = e.closest("button, input[type=submit]");
	const elsewhere = link ? link.href.split("#")[0] !== location.href.split("#")[0] || !link.hash : button?.form && button.type === "submit";
	return e.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, view: window })) && elsewhere ? "leads" : "stays";
})()`

// click clicks an element as soon as it is there, and follows it where it leads to
// another document.
func (p *tab) click(selector string) {
	p.t.Helper()
	p.leads("click "+selector, func() bool {
		p.t.Helper()
		for began := time.Now(); time.Since(began) < patience; time.Sleep(20 * time.Millisecond) {
			if did := eval[string](p, fmt.Sprintf(clicks, quoted(selector))); did != "" {
				return did == "leads"
			}
		}
		p.t.Fatalf("click %s: it cannot be seen\n%s", selector, p.body())
		return false
	})
}

// enter presses Enter on an element, and follows it to another document.
func (p *tab) enter(selector string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`(e => { e?.focus(); return e && e === document.activeElement })(document.querySelector(%s))`, quoted(selector)))
	p.leads("Enter on "+selector, func() bool {
		p.t.Helper()
		p.press(kb.Enter)
		return true
	})
}

// clickAt clicks a point of the window.
func (p *tab) clickAt(x, y float64) {
	p.t.Helper()
	do(p, "click a point", chromedp.MouseClickXY(x, y))
}

// press sends keys to what has the focus.
func (p *tab) press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		do(p, "press a key", chromedp.KeyEvent(key))
	}
}

// eval evaluates an expression; a promise is awaited. A page that is replaced
// meanwhile by itself is asked again.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	for {
		value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, func(e *runtime.EvaluateParams) { e.AwaitPromise = &yes }))
		switch {
		case err == nil:
			return value
		case ctx.Err() != nil || !strings.Contains(err.Error(), "context") && !strings.Contains(err.Error(), "navigated"):
			p.t.Fatalf("%s: %v\n%s", expression, err, p.body())
		}
	}
}

var yes = true

// text is the text of the first element for a selector, "" where there is none.
func (p *tab) text(selector string) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf(`document.querySelector(%s)?.innerText ?? ""`, quoted(selector)))
}

// until waits until an expression is true.
func (p *tab) until(expression string) {
	p.t.Helper()
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(p.ctx, patience/10) // one asked between two pages may never be answered
		met, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		cancel()
		if met && err == nil {
			return
		}
		if time.Since(began) > patience { // between two pages an error is nothing
			p.t.Fatalf("never true: %s (%v)\n%s", expression, err, p.body())
		}
	}
}

// reads waits until an element contains a text.
func (p *tab) reads(selector, text string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`document.querySelector(%s)?.innerText.includes(%s)`, quoted(selector), quoted(text)))
}

func quoted(text string) string {
	b, _ := json.Marshal(text) // a text always has a form
	return string(b)
}

// fits fails when the page is wider than its window.
func (p *tab) fits(what string) {
	p.t.Helper()
	if over := eval[float64](p, fmt.Sprintf(`document.documentElement.scrollWidth - Math.min(%d, document.documentElement.clientWidth)`, p.pixels)); over > 0 {
		widest := eval[string](p, `[...document.querySelectorAll("main *")].filter(e => e.getBoundingClientRect().right > `+fmt.Sprint(p.pixels)+` + 1).slice(0, 3).map(e => e.outerHTML.slice(0, 100)).join("\n")`)
		p.t.Errorf("%s is %g pixels wider than the window:\n%s", what, over, widest)
	}
}

// bothWidths finds that the page fits the window of a desk and that of a phone, and
// leaves it at the width of a desk.
func (p *tab) bothWidths(name string) {
	p.t.Helper()
	for pixels, suffix := range map[int64]string{wide: "", narrow: "-narrow"} {
		p.width(pixels)
		p.fits(name + suffix)
		p.picture(name + suffix)
	}
	p.width(wide)
}

// picture keeps a picture of the whole page where TRANSECT_SCREENSHOTS names a folder.
func (p *tab) picture(name string) {
	p.t.Helper()
	folder := os.Getenv("TRANSECT_SCREENSHOTS")
	if folder == "" {
		return
	}
	image := do(p, "picture", chromedp.FullScreenshot(100))
	if err := os.WriteFile(filepath.Join(folder, name+".png"), image, 0o600); err != nil {
		p.t.Error(err)
	}
}
