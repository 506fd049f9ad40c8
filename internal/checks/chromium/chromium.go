// Package chromium provides tests with a real browser: the installed Chromium, or the one that
// FRESHET_TEST_CHROMIUM names, headless. It is separate from testenv because few tests need it and
// its client is large.
package chromium

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/freshet/freshet/internal/testenv"
)

// The two usual screen sizes that pages are tested on.
var (
	Phone   = Screen{Name: "phone", Width: 390, Height: 844}
	Desktop = Screen{Name: "desktop", Width: 1280, Height: 900}
)

// Screens are the sizes for a test of the whole page: one of a phone, and in the full run all.
func Screens() []Screen {
	if testenv.InFull("pages") {
		return []Screen{{Name: "small", Width: 320, Height: 640}, Phone, Desktop}
	}
	return []Screen{Phone}
}

// Screen is the size of a window, in CSS pixels.
type Screen struct {
	Name          string
	Width, Height int64
}

// patience is the time limit for a page to reach the state that a test waits for.
const patience = 30 * time.Second

// Tab is a tab of a browser that belongs to one test.
type Tab struct {
	t      testing.TB
	ctx    context.Context
	screen Screen

	expected []string // what errors that the page logs may contain
}

// Open starts a browser. Errors that the page logs, and uncaught exceptions, fail the test. Without
// a Chromium the test is skipped, or fails if FRESHET_TEST_REQUIRE_SERVICES is 1.
func Open(t testing.TB, screen Screen) *Tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(Find(t)),
		chromedp.NoSandbox, // tests run as root in containers
		chromedp.DisableGPU,
		chromedp.Flag("disable-dev-shm-usage", true),
	)
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	tab := &Tab{t: t, ctx: ctx, screen: screen}
	// No timeout here: the browser exits when the context it was started with ends.
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(screen.Width, screen.Height)); err != nil {
		t.Fatalf("start Chromium: %v", err)
	}
	tab.watch()
	return tab
}

// watch fails the test for errors and exceptions on the page.
func (tab *Tab) watch() {
	messages := chromedp.Console(tab.ctx)
	ended := make(chan struct{})
	var complaints []string
	go func() {
		defer close(ended)
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.IsException() || m.Type == "error" {
				complaints = append(complaints, m.String())
			}
		}
	}()
	tab.t.Cleanup(func() {
		if err := chromedp.Cancel(tab.ctx); err != nil && !errors.Is(err, context.Canceled) {
			tab.t.Logf("close the browser: %v", err)
		}
		<-ended
		for _, c := range complaints {
			if !slices.ContainsFunc(tab.expected, func(text string) bool { return strings.Contains(c, text) }) {
				tab.t.Errorf("the page complains: %s", c)
			}
		}
	})
}

func (tab *Tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		tab.t.Fatalf("%s: %v", what, err)
	}
}

// Expect allows the page to log errors that contain a text, such as the status of a refused call.
func (tab *Tab) Expect(text string) { tab.expected = append(tab.expected, text) }

// Dark makes pages see that the system prefers dark colours.
func (tab *Tab) Dark() {
	tab.t.Helper()
	tab.do("prefer dark colours", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		dark := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}}
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, dark)
		return err
	}))
}

// Go opens an address.
func (tab *Tab) Go(url string) {
	tab.t.Helper()
	tab.do("open "+url, chromedp.Navigate(url))
}

// Reload reloads the page and returns when it has loaded.
func (tab *Tab) Reload() {
	tab.t.Helper()
	tab.do("load again", chromedp.Reload())
}

// Click clicks the first element that matches a CSS selector, once it is visible, does not move,
// and nothing covers it: a mouse clicks a position, whatever is there at that moment.
func (tab *Tab) Click(selector string) {
	tab.t.Helper()
	tab.Until(`document.querySelector(` + strconv.Quote(selector) + `)?.checkVisibility()`)
	at := evaluate[[]float64](tab, fmt.Sprintf(centre, strconv.Quote(selector)), chromedp.EvalAwaitPromise)
	if len(at) != 2 {
		tab.t.Fatalf("click %s: it moves, or something covers it%s", selector, tab.says())
	}
	tab.do("click "+selector, chromedp.MouseClickXY(at[0], at[1]))
}

// centre is a script that returns the centre of an element after two frames in which it did not
// move, or [] if it moves or is covered for 10 s.
const centre = `(async () => {
	const frame = () => new Promise((r) => setTimeout(r, 20)).then(() => new Promise(requestAnimationFrame));
	for (let end = performance.now() + 10_000, block = 'nearest'; performance.now() < end; block = 'center') {
		const e = document.querySelector(%s);
		if (!e) { await frame(); continue; }
		e.scrollIntoView({ block, inline: 'nearest', behavior: 'instant' });
		const was = e.getBoundingClientRect();
		await frame();
		await frame();
		const is = e.getBoundingClientRect(), x = is.x + is.width / 2, y = is.y + is.height / 2;
		if (was.x === is.x && was.y === is.y && e.isConnected && e.contains(document.elementFromPoint(x, y))) return [x, y];
	}
	return [];
})()`

// Attach selects files in the first file input that matches a CSS selector.
func (tab *Tab) Attach(selector string, files ...string) {
	tab.t.Helper()
	tab.do("attach files to "+selector, chromedp.SetUploadFiles(chromedp.CSS(selector), files))
}

// Press types text, or keys, into the focused element.
func (tab *Tab) Press(keys string) {
	tab.t.Helper()
	tab.do("press keys", chromedp.KeyEvent(keys))
}

// Eval runs JavaScript in the page and returns its value.
func Eval[T any](tab *Tab, script string) T {
	tab.t.Helper()
	return evaluate[T](tab, script)
}

func evaluate[T any](tab *Tab, script string, how ...chromedp.EvaluateOption) T {
	tab.t.Helper()
	v, err := tryEvaluate[T](tab, script, how...)
	if err != nil {
		tab.t.Fatalf("%s: %v", script, err)
	}
	return v
}

func tryEvaluate[T any](tab *Tab, script string, how ...chromedp.EvaluateOption) (T, error) {
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](script, how...))
}

// Until waits until a JavaScript expression is true. An exception counts as false: an element may
// not exist yet, and during navigation the page has no scripts.
func (tab *Tab) Until(script string) {
	tab.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		is, err := tryEvaluate[bool](tab, "Boolean(("+script+"))")
		if is && err == nil {
			return
		}
		if tab.ctx.Err() == nil && time.Now().Before(deadline) {
			continue
		}
		tab.Shot("timeout")
		if err != nil {
			tab.t.Fatalf("waited %s for: %s: %v", patience, script, err)
		}
		tab.t.Fatalf("waited %s for: %s%s", patience, script, tab.says())
	}
}

// says returns the messages that the page shows about failures.
func (tab *Tab) says() string {
	told := Eval[string](tab, `[...document.querySelectorAll('[role=status], [role=alert], .error')].filter((e) => e.checkVisibility()).map((e) => e.textContent.trim()).filter(Boolean).join('; ')`)
	if told == "" {
		return ""
	}
	return fmt.Sprintf(" (the page says: %s)", told)
}

// Shot saves a screenshot as <name>-<screen>.png in the directory that FRESHET_TEST_SCREENSHOTS
// names; if it is not set, Shot does nothing.
func (tab *Tab) Shot(name string) {
	tab.t.Helper()
	dir := os.Getenv("FRESHET_TEST_SCREENSHOTS")
	if dir == "" {
		return
	}
	time.Sleep(500 * time.Millisecond) // for animations to end
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%s.png", name, tab.screen.Name)), png, 0o600)
	}
	if err != nil {
		tab.t.Errorf("screenshot: %v", err)
	}
}

// Find returns the path of the Chromium, or skips or fails the test as [Open] does.
func Find(t testing.TB) string {
	t.Helper()
	if path := os.Getenv("FRESHET_TEST_CHROMIUM"); path != "" {
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const msg = "install Chromium, or set FRESHET_TEST_CHROMIUM to one, to run this test"
	if os.Getenv("FRESHET_TEST_REQUIRE_SERVICES") == "1" {
		t.Fatal(msg)
	}
	t.Skip(msg)
	return ""
}
