package pages

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/checks/chromium"
	"github.com/freshet/freshet/internal/testenv"
)

// judges installs the tools of judges/package.json once for all tests, and returns their folder.
var judges = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "judges-")
	if err != nil {
		return "", err
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		data, err := os.ReadFile(filepath.Join("judges", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		if err != nil {
			return dir, err
		}
	}
	cmd := exec.CommandContext(context.Background(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	return dir, cmd.Run()
})

func TestMain(m *testing.M) {
	code := m.Run()
	if testenv.InFull("judges") {
		if dir, err := judges(); err == nil {
			_ = os.RemoveAll(dir)
		}
	}
	os.Exit(code)
}

// judged skips the test unless it is requested, and returns the folder of the judges.
func judged(t *testing.T) string {
	t.Helper()
	testenv.Full(t, "judges")
	dir, err := judges()
	require.NoError(t, err, "install judges/package.json")
	return dir
}

func TestAxeAccessibility(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile(filepath.Join(judged(t), "node_modules", "axe-core", "axe.min.js"))
	require.NoError(t, err)
	a, url := serve(t)
	views := viewsOf(t, a)
	for _, screen := range []chromium.Screen{{Name: "small", Width: 320, Height: 700}, chromium.Desktop, {Name: "dark", Width: 1280, Height: 900}} {
		tab := chromium.Open(t, screen)
		if screen.Name == "dark" {
			tab.Dark()
		}
		for _, v := range views {
			show(tab, url, v)
			judge(t, tab, axe, v.name+" on "+screen.Name)
		}
		agent := "newcomer_" + screen.Name
		newcomers(t, a, agent)
		readAs(tab, url, agent)
		tab.Until(welcomed)
		judge(t, tab, axe, "the beginning on "+screen.Name)
	}
}

// judge runs axe on the current view of the tab.
func judge(t *testing.T, tab *chromium.Tab, axe []byte, where string) {
	t.Helper()
	chromium.Eval[any](tab, string(axe)+`; window.found = undefined;
		Promise.all(document.getAnimations().map((a) => a.finished)).then(() => axe.run()).then((r) => { window.found = r; }), 0`)
	tab.Until(`window.found`)
	broken := chromium.Eval[[]string](tab, `found.violations.flatMap((v) => v.nodes.map((n) => v.id + ': ' + n.html.slice(0, 160)))`)
	assert.Empty(t, broken, where)
	assert.Greater(t, chromium.Eval[int](tab, `found.passes.length`), 10, "%s: rules that hold", where)
}

// report is a report of Lighthouse about a page.
type report struct {
	Categories map[string]struct{ Score float64 }
	Audits     map[string]struct {
		NumericValue float64
		Details      struct{ Items json.RawMessage }
	}
}

// TestLighthouse judges the pages on a simulated phone. Figures that depend on the load of the
// machine are printed, and the best of three is used: the performance score may be low during
// other work. Their causes do not depend on it: bytes, calls, elements and layout shifts.
func TestLighthouse(t *testing.T) {
	dir := judged(t)
	_, url := serve(t)
	type bounds struct {
		bytes, elements float64
		calls           int
	}
	pages := map[string]bounds{"": {80_000, 2000, 35}, "docs": {80_000, 6000, 10}, "console": {90_000, 1500, 35}}
	for _, v := range consoleViews()[1:] { // /console shows the first
		pages["console#/"+v.path] = bounds{110_000, 2500, 40}
	}
	for page, most := range pages {
		t.Run("page "+page, func(t *testing.T) {
			best := 0.0
			for range 3 {
				r := lighthouse(t, dir, url+"/"+page)
				assert.InDelta(t, 1, r.Categories["accessibility"].Score, 0, "accessibility")
				assert.GreaterOrEqual(t, r.Categories["best-practices"].Score, .95, "best practices")
				assert.GreaterOrEqual(t, r.Categories["seo"].Score, .95, "search engines")
				assert.Less(t, r.Audits["cumulative-layout-shift"].NumericValue, .1, "layout shift")
				assert.Less(t, r.Audits["total-byte-weight"].NumericValue, most.bytes, "bytes")
				var calls []any
				require.NoError(t, json.Unmarshal(r.Audits["network-requests"].Details.Items, &calls))
				assert.Less(t, len(calls), most.calls, "calls")
				assert.Less(t, r.Audits["dom-size"].NumericValue, most.elements, "elements")
				best = max(best, r.Categories["performance"].Score)
				if best >= .95 {
					break
				}
			}
			t.Logf("performance on a phone: %.0f", best*100)
		})
	}
}

// lighthouse judges one page in a new browser.
func lighthouse(t *testing.T, dir, url string) (r report) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "report.json")
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join(dir, "node_modules", "lighthouse", "cli", "index.js"), url, "--quiet",
		"--output=json", "--output-path="+out, "--only-categories=performance,accessibility,best-practices,seo", "--throttling-method=simulate",
		"--chrome-flags=--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage")
	cmd.Env = append(os.Environ(), "CHROME_PATH="+chromium.Find(t))
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", said)
	data, err := os.ReadFile(out)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &r))
	return r
}
