package pages

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/checks/chromium"
	"github.com/freshet/freshet/internal/testenv"
)

const (
	// described counts the operations of /openapi.json.
	described = `fetch('/openapi.json').then((r) => r.json()).then((s) => { window.described = Object.values(s.paths)` +
		`.flatMap((p) => ['get', 'post', 'put', 'delete', 'patch'].filter((m) => p[m])).length; })`
	shownRoutes = `[...document.querySelectorAll('article')].filter((a) => a.checkVisibility()).map((a) => a.id).join(' ')`
)

func TestDocsPageShowsEveryRoute(t *testing.T) {
	t.Parallel()
	_, url := serve(t)
	for _, screen := range chromium.Screens() {
		t.Run(screen.Name, func(t *testing.T) {
			tab := chromium.Open(t, screen)
			tab.Go(url + "/docs")
			tab.Until(`document.querySelectorAll('article').length > 0`)
			chromium.Eval[any](tab, `void `+described)
			tab.Until(`window.described`)
			assert.Equal(t, chromium.Eval[int](tab, `window.described`), chromium.Eval[int](tab, `document.querySelectorAll('article').length`))
			assert.Equal(t, chromium.Eval[int](tab, `window.described`), chromium.Eval[int](tab, `document.querySelectorAll('#contents li').length`))
			tab.Shot("docs")

			const feed = `document.querySelector('#postFeed')`
			curl := chromium.Eval[string](tab, feed+`.querySelector('pre').textContent`)
			assert.Equal(t, `curl -H 'X-Agent-ID: u_1' -H 'Content-Type: application/json' --data-binary '{"action":"refresh","limit":20,"request_id":"3f2a9c1e77b04d5d"}' '`+url+`/v1/feed'`, curl)
			assert.Less(t, chromium.Eval[int](tab, `document.querySelectorAll('*').length`), 6000, "what nobody has opened is not there")
			chromium.Eval[any](tab, `document.querySelectorAll('.parts').forEach((d) => { d.open = true; })`)
			tab.Until(`[...document.querySelectorAll('.parts')].every((d) => d.children.length === 2)`)
			text := chromium.Eval[string](tab, feed+`.textContent`)
			for _, want := range []string{"Idempotency-Key", `"refresh" | "load_more"`, "1 to 100 · default 20", "required", "Retry-After", "update_time", "Any other field is a business field", "40901", "doc_9527"} {
				assert.Contains(t, text, want)
			}
			// Examples are JSON, which may contain null.
			const prose = `(() => { const all = document.body.cloneNode(true); all.querySelectorAll('details pre').forEach((p) => p.remove()); return all.textContent; })()`
			for _, mishap := range []string{"undefined", "[object", "NaN", "null,"} {
				assert.NotContains(t, chromium.Eval[string](tab, prose), mishap)
			}

			chromium.Eval[any](tab, feed+`.scrollIntoView()`)
			tab.Shot("docs-feed")
			chromium.Eval[any](tab, `document.querySelectorAll('details').forEach((d) => { d.open = true; })`)
			chromium.Eval[any](tab, `document.querySelector('#postExplain').scrollIntoView()`)
			tab.Shot("docs-open")
			assert.LessOrEqual(t, chromium.Eval[float64](tab, `document.documentElement.scrollWidth`), float64(screen.Width), "nothing is cut off at the side")
		})
	}
}

func TestDocsPageKeyboard(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serve(t)
	tab := chromium.Open(t, chromium.Desktop)
	tab.Go(url + "/docs#getProfile")
	tab.Until(`document.querySelectorAll('article').length > 0`)
	tab.Until(`document.querySelector('#getProfile').getBoundingClientRect().top < 200`)
	all := chromium.Eval[string](tab, shownRoutes)
	tab.Press("/")
	require.Equal(t, "find", chromium.Eval[string](tab, `document.activeElement.id`))
	tab.Press("profile put")
	tab.Until(shownRoutes + ` === 'putProfile'`)
	assert.Equal(t, 1, chromium.Eval[int](tab, `[...document.querySelectorAll('#contents li')].filter((l) => l.checkVisibility()).length`))
	tab.Press("\u001b")
	assert.Equal(t, all, chromium.Eval[string](tab, shownRoutes))
}

// The curl line on the page works as shown.
func TestDocsPageCurlLine(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serve(t)
	tab := chromium.Open(t, chromium.Desktop)
	tab.Go(url + "/docs")
	tab.Until(`document.querySelectorAll('article').length > 0`)
	for _, route := range []string{"postFeed", "postItems", "putRanking", "getItem", "getRankingHistory", "postCompare"} {
		line := chromium.Eval[string](tab, `document.querySelector('#`+route+` pre').textContent`)
		answer := sh(t, line+" -s")
		if route == "getItem" {
			assert.Contains(t, answer, `"code":40401`, line)
			continue
		}
		assert.Contains(t, answer, `"code":0`, line)
	}
}

// sh runs a line as pasted into a shell, on a machine without a token.
func sh(t *testing.T, line string) string {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("install curl to run this test")
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Env = append(os.Environ(), "TOKEN=none")
	out, err := cmd.Output()
	require.NoError(t, err, line)
	return string(out)
}
