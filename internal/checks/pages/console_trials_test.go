package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/checks/chromium"
	"github.com/freshet/freshet/internal/testenv"
)

// TestConsoleSweep compares the lists of values of a parameter, and stops.
func TestConsoleSweep(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serve(t)
	for _, screen := range widths() {
		tab := chromium.Open(t, screen)
		tab.Go(url + "/console#/ranking")
		tab.Until(compared)
		field(tab, "trial", "steps", "4")
		tab.Click("#trial .main")
		tab.Until(`!document.querySelector('#drawn').hidden && document.querySelector('#progress').hidden`)
		assert.Equal(t, 4, chromium.Eval[int](tab, `document.querySelectorAll('#drawn circle').length`))
		assert.Equal(t, 4, chromium.Eval[int](tab, `document.querySelectorAll('#drawn .margin').length`))
		assert.Equal(t, 4, chromium.Eval[int](tab, `document.querySelectorAll('#trial-table tbody tr').length`))
		fits(t, tab, screen.Name)
		tab.Shot("ranking-sweep")
	}
	tab := chromium.Open(t, chromium.Desktop)
	tab.Go(url + "/console#/ranking")
	tab.Until(compared)
	field(tab, "trial", "low", "soon")
	tab.Click("#trial .main")
	tab.Until(`document.querySelector('#note').textContent === 'decay.scale cannot be soon; write a time such as 6h or 30m.' && document.activeElement.name === 'low'`)
	field(tab, "trial", "low", "6h")
	chromium.Eval[any](tab, `window.plain = window.fetch, window.fetch = (path, o) => (path !== '/v1/compare' ? plain(path, o) : new Promise((_, give) => o.signal.addEventListener('abort', () => give(o.signal.reason)))), 0`)
	tab.Click("#trial .main")
	tab.Click("#stop")
	tab.Until(`document.querySelector('#trial-says').textContent === 'Stopped.' && document.querySelector('#progress').hidden && document.activeElement.textContent === 'Run'`)
}

// TestConsoleReplay scores values of a parameter by clicks of a file: those on the newest items of readers.
func TestConsoleReplay(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, url := serveStill(t)
	var lines []string
	for i := range 8 {
		agent := fmt.Sprintf("u_%d", i+1)
		for _, id := range strings.Fields(firstPage(t, a, agent, 20))[:8] {
			lines = append(lines, fmt.Sprintf(`{"agent_id":%q,"id":%q,"at":%q}`, agent, id, time.Now().UTC().Format(time.RFC3339)))
		}
	}
	lines = append(lines, `{"agent_id":"u_1","id":"doc_1","at":"2026-03-06T12:00:00Z","type":"like"}`, `{"agent_id":"u_1","id":"deleted","at":"2026-03-06T12:00:00Z"}`, "")
	path := filepath.Join(t.TempDir(), "clicks.ndjson")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
	tab := chromium.Open(t, chromium.Desktop)
	signIn(tab, url)
	tab.Go(url + "/console#/ranking")
	tab.Until(compared)
	field(tab, "trial", "metric", "ndcg_gain")
	field(tab, "trial", "steps", "3")
	tab.Click("#trial .main")
	tab.Until(`document.querySelector('#note').textContent.startsWith('Choose the file of clicks')`)
	tab.Attach("#trial [name=clicks]", path)
	tab.Click("#trial .main")
	tab.Until(`!document.querySelector('#drawn').hidden && document.querySelector('#progress').hidden`)
	said := chromium.Eval[string](tab, `document.querySelector('#trial-says').textContent`)
	assert.Contains(t, said, "64 clicks of 8 readers count. Left out: other events: 1, clicks on items that no ranking could have placed: 1.")
	assert.Contains(t, said, "too few readers")
	assert.Equal(t, 3, chromium.Eval[int](tab, `document.querySelectorAll('#drawn .margin').length`))
	field(tab, "trial", "of", "")
	assert.True(t, chromium.Eval[bool](tab, `document.querySelector('#trial').elements.low.disabled`))
	tab.Click("#trial .main")
	tab.Until(`document.querySelector('#trial-table').textContent.includes('proposed')`)
	tab.Until(`document.querySelectorAll('#trial-table tbody tr').length === 2`)
	assert.Regexp(t, `None is better`, chromium.Eval[string](tab, `document.querySelector('#trial-says').textContent`), "the proposal is the ranking in force")
}
