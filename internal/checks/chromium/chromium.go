// Package chromium gives tests a real browser: the Chromium that is installed
// or that FRESHET_TEST_CHROMIUM names, without a window. It is apart from
// testenv because few tests need it and its client is large.
package chromium

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// The two screens the pages are looked at on.
var (
	Phone   = Screen{Name: "phone", Width: 390, Height: 844}
	Desktop = Screen{Name: "desktop", Width: 1280, Height: 900}
)

// Screen is the size of a window, in CSS pixels.
type Screen struct {
	Name          string
	Width, Height int64
}

// patience is how long a page may take to come to what a test waits for.
const patience = 30 * time.Second

// Tab is a tab of a browser of the test's own.
type Tab struct {
	t      testing.TB
	ctx    context.Context
	screen Screen
}

// Open starts a browser. What the page logs as an error, and exceptions nobody
// catches, fail the test. Without a Chromium the test is skipped, or fails where
// FRESHET_TEST_REQUIRE_SERVICES is 1.
func Open(t testing.TB, screen Screen) *Tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(find(t)),
		chromedp.NoSandbox, // tests run as root in containers
		chromedp.DisableGPU,
		chromedp.Flag("disable-dev-shm-usage", true),
	)
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	tab := &Tab{t: t, ctx: ctx, screen: screen}
	// Not with a timeout: the browser ends with the context it was started in.
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(screen.Width, screen.Height)); err != nil {
		t.Fatalf("start Chromium: %v", err)
	}
	tab.watch()
	return tab
}

// watch fails the test for what the page complains about.
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
			tab.t.Errorf("the page complains: %s", c)
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

// Go opens an address.
func (tab *Tab) Go(url string) {
	tab.t.Helper()
	tab.do("open "+url, chromedp.Navigate(url))
}

// Click clicks the first element a CSS selector finds, once it can be seen.
func (tab *Tab) Click(selector string) {
	tab.t.Helper()
	tab.do("click "+selector, chromedp.Click(chromedp.CSS(selector)))
}

// Press types text, or keys, wherever the focus is.
func (tab *Tab) Press(keys string) {
	tab.t.Helper()
	tab.do("press keys", chromedp.KeyEvent(keys))
}

// Eval runs JavaScript in the page and returns its value.
func Eval[T any](tab *Tab, script string) T {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](script))
	if err != nil {
		tab.t.Fatalf("%s: %v", script, err)
	}
	return v
}

// Until waits for JavaScript to become true.
func (tab *Tab) Until(script string) {
	tab.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if Eval[bool](tab, "Boolean(("+script+"))") {
			return
		}
		if time.Now().After(deadline) {
			tab.Shot("timeout")
			tab.t.Fatalf("waited %s for: %s", patience, script)
		}
	}
}

// Shot keeps a picture of the screen as <name>-<screen>.png in the directory
// FRESHET_TEST_SCREENSHOTS names; without it there is none.
func (tab *Tab) Shot(name string) {
	tab.t.Helper()
	dir := os.Getenv("FRESHET_TEST_SCREENSHOTS")
	if dir == "" {
		return
	}
	time.Sleep(500 * time.Millisecond) // what moves comes to rest
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

func find(t testing.TB) string {
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
