package pages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/checks/chromium"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/signals/events"
)

// fits checks that nothing of a page is cut off at the side.
func fits(t *testing.T, tab *chromium.Tab, where string) {
	t.Helper()
	assert.Equal(t, chromium.Eval[float64](tab, `document.documentElement.clientWidth`), chromium.Eval[float64](tab, `document.documentElement.scrollWidth`),
		"%s: %v", where, chromium.Eval[[]string](tab, tooWide))
}

// widths are those of small and large phones, a tablet, and a large window.
func widths() []chromium.Screen {
	return []chromium.Screen{{Name: "small", Width: 320, Height: 640}, chromium.Phone, {Name: "tablet", Width: 768, Height: 1024}, {Name: "wide", Width: 1400, Height: 900}}
}

// TestConsoleOverview shows the figures of a server that has answered calls, and reads points out.
func TestConsoleOverview(t *testing.T) {
	t.Parallel()
	a, url := serveStill(t)
	tab := chromium.Open(t, chromium.Screen{Name: "wide", Width: 1400, Height: 900})
	signIn(tab, url)
	tab.Go(url + "/console")
	tab.Until(opened + ` && !document.querySelector('#none').hidden`)
	assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#none').textContent`), "Nothing has been counted yet")
	assert.True(t, chromium.Eval[bool](tab, `document.querySelector('#charts').hidden`))

	ids := firstPage(t, a, "u_1", 20)
	_, err := a.Engine.React(t.Context(), "u_1", []engine.Act{{Kind: events.Click, ID: firstOf(ids)}})
	require.NoError(t, err)
	require.NoError(t, a.Flush(t.Context()))
	for _, screen := range widths() {
		tab := chromium.Open(t, screen)
		signIn(tab, url)
		tab.Go(url + "/console")
		tab.Until(`document.querySelectorAll('#charts figure').length > 10`)
		fits(t, tab, screen.Name)
		assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#charts').textContent`), "Refreshes")
		assert.NotEmpty(t, chromium.Eval[string](tab, `document.querySelector('#when').textContent`))
		assert.Equal(t, "serves", chromium.Eval[string](tab, `document.querySelector('#servers tbody tr').cells[1].textContent`))
		tab.Click("[value=hours]")
		tab.Until(`document.querySelector('#figures-table').rows.length === 2`)
		assert.Equal(t, chromium.Eval[string](tab, `document.querySelector('#charts output').textContent`),
			chromium.Eval[string](tab, `document.querySelector('#figures-table').rows[1].cells[1].textContent`), "the table has the figure of the chart")
		tab.Shot("overview")
	}
}

// TestConsoleOverviewKeyboard reads the points of several hours by the keyboard.
func TestConsoleOverviewKeyboard(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serveStill(t)
	tab := chromium.Open(t, chromium.Desktop)
	signIn(tab, url)
	tab.Go(url + "/console")
	tab.Until(opened)
	chromium.Eval[any](tab, `(async () => {
		const { show } = await import('/assets/console/overview/overview.js');
		const point = (i) => ({ begin: new Date(Date.UTC(2026, 2, 6, 12, i)).toISOString(), seconds: 60, servers: 1, refreshes: i, load_mores: 2 * i, p50: i ? .002 : null, p99: i ? .7 : null,
			errors: 0, degraded: i === 1 ? .5 : 0, short: 0, shown: 20 * i, clicks: i, click_rate: .05, queue_delay: 0, streams: 3 });
		const data = { at: new Date().toISOString(), minutes: [0, 1, 2].map(point), hours: [], servers: [{ name: 'one', version: 'v1', started: new Date().toISOString(), counted: new Date().toISOString(), down: ['redis'] }] };
		window.fetch = async () => new Response(JSON.stringify({ code: 0, msg: 'success', data }));
		document.querySelector('#view').replaceChildren(document.querySelector('#view-overview').content.cloneNode(true));
		await show(new URLSearchParams(), new AbortController().signal);
		document.body.dataset.shown = 'yes';
	})()`)
	tab.Until(`document.body.dataset.shown`)
	figure := func(name string) string {
		return chromium.Eval[string](tab, `[...document.querySelectorAll('#charts figure')].find((f) => f.textContent.startsWith('`+name+`')).querySelector('output').textContent`)
	}
	assert.Equal(t, "2 /s", figure("Refreshes"), "the newest point")
	chromium.Eval[any](tab, `document.querySelector('#at').focus()`)
	tab.Press("\u0302") // left arrow
	tab.Until(`document.querySelector('#at').value === '1'`)
	assert.Equal(t, "1 /s", figure("Refreshes"))
	assert.Equal(t, "50 %", figure("Degraded"))
	assert.True(t, chromium.Eval[bool](tab, `[...document.querySelectorAll('#charts figure')].find((f) => f.textContent.startsWith('Degraded')).classList.contains('bad')`))
	assert.Equal(t, chromium.Eval[string](tab, `document.querySelector('#when').textContent`), chromium.Eval[string](tab, `document.querySelector('#at').getAttribute('aria-valuetext')`))
	tab.Press("\u0302")
	tab.Until(`document.querySelector('#at').value === '0'`)
	assert.Equal(t, "–", figure("Half of the calls"), "there were no calls")
	assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#servers').textContent`), "does not reach redis")
}

// TestConsoleDenied opens each view without a token, and signs in.
func TestConsoleDenied(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serveStill(t)
	for name, loaded := range map[string]string{
		"overview": `document.querySelector('#servers tbody')`, "ranking": compared, "experiments": `document.querySelector('#versions tbody')`,
		"items": `document.querySelector('#found tbody')`, "reader?agent=u_1": `document.querySelector('#page tbody')`, "system": `document.querySelector('#settings tbody')`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := chromium.Open(t, chromium.Phone)
			tab.Expect("401")
			tab.Go(url + "/console#/" + name)
			tab.Until(`document.querySelector('#sign-in').checkVisibility() && document.querySelector('#note').textContent.startsWith('The console is for admins')`)
			fits(t, tab, name)
			chromium.Eval[any](tab, `document.querySelector('#sign-in input').focus()`)
			tab.Press(adminToken + "\r")
			tab.Until(loaded)
			assert.False(t, chromium.Eval[bool](tab, `document.querySelector('#sign-in').checkVisibility()`))
			assert.Empty(t, chromium.Eval[string](tab, `document.querySelector('#note').textContent`))
		})
	}
}

// TestConsoleRankingTogether checks that the curve and the beginning of both lists are visible together,
// and on a phone the lists with the drawer of sliders.
func TestConsoleRankingTogether(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serve(t)
	const inside = `(s, n) => { const r = [...document.querySelectorAll(s)][n].getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight && r.width > 0; }`
	visible := func(tab *chromium.Tab, selector string, n int) bool {
		return chromium.Eval[bool](tab, fmt.Sprintf(`(%s)('%s', %d)`, inside, selector, n))
	}
	tab := chromium.Open(t, chromium.Screen{Name: "wide", Width: 1400, Height: 900})
	tab.Go(url + "/console#/ranking")
	tab.Until(compared)
	for _, what := range []string{"#curve", "#range-scale", "#current li:nth-child(7)", "#proposed li:nth-child(7)"} {
		assert.True(t, visible(tab, what, 0), what)
	}
	assert.Positive(t, chromium.Eval[int](tab, `document.querySelectorAll('#proposed li:first-child .stack rect').length`))
	fits(t, tab, "wide")
	tab.Shot("ranking")

	tab = chromium.Open(t, chromium.Phone)
	tab.Go(url + "/console#/ranking")
	tab.Until(compared)
	assert.False(t, chromium.Eval[bool](tab, `document.querySelector('#tune').checkVisibility()`))
	chromium.Eval[any](tab, `document.querySelector('#proposed').scrollIntoView()`)
	chromium.Eval[any](tab, `document.querySelector('#to-sliders').focus()`)
	tab.Press("\r")
	tab.Until(`document.querySelector('#tune').checkVisibility() && document.activeElement.id === 'close-sliders'`)
	assert.True(t, visible(tab, "#proposed li", 1), "above the drawer")
	before := chromium.Eval[string](tab, list)
	slide(tab, "scale", 950)
	tab.Until(compared + ` && ` + list + ` !== '` + before + `'`)
	tab.Shot("ranking-drawer")
	tab.Press("\u001b")
	tab.Until(`!document.querySelector('#tune').checkVisibility() && document.activeElement.id === 'to-sliders'`)
}

// TestConsoleReader asks why an item was not shown to a reader, and reads what is known about both.
func TestConsoleReader(t *testing.T) {
	t.Parallel()
	a, url := serveStill(t)
	ids := firstPage(t, a, "u_1", 20)
	require.NoError(t, a.Flush(t.Context()))
	require.NoError(t, a.Engine.PutProfile(t.Context(), "u_1", feed.Profile{Interests: map[string]float64{"rust": 2, "cats": 1}, MutedTags: []string{"food"}, Langs: []string{"en"}}))
	for _, screen := range widths() {
		tab := chromium.Open(t, screen)
		signIn(tab, url)
		tab.Go(url + "/console#/reader")
		tab.Until(opened)
		assert.False(t, chromium.Eval[bool](tab, `document.querySelector('#answers').checkVisibility()`), "nothing is asked yet")
		chromium.Eval[any](tab, `document.querySelector('#ask').elements.agent.focus()`)
		tab.Press("u_1")
		chromium.Eval[any](tab, `document.querySelector('#ask').elements.wanted.value = '`+firstOf(ids)+`'`)
		tab.Press("\r")
		tab.Until(`document.querySelector('#verdict').checkVisibility()`)
		assert.Regexp(t, `was given it`, chromium.Eval[string](tab, `document.querySelector('#verdict').textContent`))
		assert.Equal(t, 20, chromium.Eval[int](tab, `document.querySelectorAll('#page tbody tr').length`))
		assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#declared').textContent`), "rust")
		assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#mutes').textContent`), "food")
		assert.Contains(t, chromium.Eval[string](tab, `location.hash`), "agent=u_1")
		fits(t, tab, screen.Name)
		chromium.Eval[any](tab, `((s) => { s.value = [...s.options].find((o) => o.value === 'pending' || o.value === 'seen').value; s.dispatchEvent(new Event('change')); })(document.querySelector('#outcome'))`)
		assert.Regexp(t, `shown (before|recently)`, chromium.Eval[string](tab, `document.querySelector('#left tbody').textContent`))
		tab.Shot("reader")
	}
}

// TestConsoleSystem shows checks, jobs and settings, without secrets.
func TestConsoleSystem(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serveStill(t)
	for _, screen := range widths() {
		tab := chromium.Open(t, screen)
		signIn(tab, url)
		tab.Go(url + "/console#/system")
		tab.Until(opened + ` && document.querySelector('#findings tbody')`)
		assert.Regexp(t, `checks (are fine|found something)`, chromium.Eval[string](tab, `document.querySelector('#checking').textContent`))
		assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#jobs-some').textContent`), "No job has failed.")
		all := chromium.Eval[int](tab, `document.querySelectorAll('#settings tbody tr').length`)
		chromium.Eval[any](tab, `document.querySelector('#filter').elements.changed.click()`)
		assert.Less(t, chromium.Eval[int](tab, `document.querySelectorAll('#settings tbody tr').length`), all)
		assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#settings').textContent`), "auth.admin_token")
		assert.NotContains(t, chromium.Eval[string](tab, `document.body.textContent`), adminToken)
		fits(t, tab, screen.Name)
		tab.Shot("system")
	}
}

// TestConsoleSystemRetriesJobs has a failed job in the answers of the server, and tries it again.
func TestConsoleSystemRetriesJobs(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serveStill(t)
	tab := chromium.Open(t, chromium.Desktop)
	signIn(tab, url)
	tab.Go(url + "/console#/overview")
	tab.Until(opened)
	chromium.Eval[any](tab, `((plain) => {
		let failed = [{ id: 42, kind: 'deliver', state: 'failed', key: 'post:1', attempts: 5, error: 'the list cannot be written' }];
		window.fetch = async (path, o) => {
			const answer = (data) => new Response(JSON.stringify({ code: 0, msg: 'success', data }));
			if (path === '/v1/jobs/42/retry' && o.method === 'POST') { failed = []; return answer({}); }
			if (path.startsWith('/v1/jobs')) return answer({ jobs: failed, next_after: null, queue: { rows: failed.map(() => ({ kind: 'deliver', state: 'failed', count: 1 })), oldest_seconds: 90 } });
			return plain(path, o);
		};
	})(window.fetch)`)
	tab.Click(`#views [href="#/system"]`)
	tab.Until(`document.querySelector('#failed')?.textContent.includes('the list cannot be written')`)
	assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#oldest').textContent`), "1 min")
	tab.Until(`document.querySelector('#findings tbody')`)
	tab.Click("#failed button")
	tab.Until(`document.querySelector('#note').textContent === 'Job 42 is tried again.'`)
	assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#failed').textContent`), "No job has failed.")
	assert.Equal(t, "failed-title", chromium.Eval[string](tab, `document.activeElement.id`))
}

// TestConsoleItems finds, adds and deletes items.
func TestConsoleItems(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serveStill(t)
	tab := chromium.Open(t, chromium.Desktop)
	tab.Expect("404") // of an item that was deleted
	signIn(tab, url)
	tab.Go(url + "/console#/items")
	const rows = `document.querySelectorAll('#found tbody tr').length`
	tab.Until(rows + ` === 100`)
	tab.Click("#more")
	tab.Until(rows + ` === 200`)
	fill := func(form, name, text string) {
		chromium.Eval[any](tab, fmt.Sprintf(`((f) => { f.value = %q; f.dispatchEvent(new Event('input', { bubbles: true })); f.focus(); })(document.querySelector('#%s').elements[%q])`, text, form, name))
	}
	const note = `document.querySelector('#add-note').textContent`
	fill("add", "title", "A river in spring")
	fill("add", "lang", strings.Repeat("x", 2000))
	fill("add", "id", "added")
	tab.Press("\r")
	tab.Until(note + ` !== ''`)
	assert.Equal(t, "lang", chromium.Eval[string](tab, `document.activeElement.name`), "%s", chromium.Eval[string](tab, note))
	assert.Equal(t, "true", chromium.Eval[string](tab, `document.activeElement.getAttribute('aria-invalid')`))
	fill("add", "lang", "en")
	fill("add", "url", "https://example.org/river")
	fill("add", "tags", "water, spring")
	tab.Press("\r")
	tab.Until(`document.querySelector('#item-title').textContent === 'A river in spring'`)
	fill("find", "words", "RIVER spring")
	tab.Until(rows + ` === 1`)
	fill("find", "words", "")
	fill("find", "tag", "water")
	tab.Press("\r")
	tab.Until(rows + ` === 1 && document.querySelector('#found').textContent.includes('A river in spring')`)
	tab.Click("#found button")
	tab.Until(`document.activeElement.id === 'item-title'`)
	assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#fields').textContent`), "https://example.org/river")
	tab.Click("#delete")
	tab.Click("#keep")
	assert.Equal(t, "delete", chromium.Eval[string](tab, `document.activeElement.id`))
	tab.Click("#delete")
	tab.Click("#really")
	tab.Until(`document.querySelector('#note').textContent === 'added is deleted.' && document.querySelector('#item').hidden`)
	fill("find", "id", "added")
	tab.Press("\r")
	tab.Until(`document.querySelector('#found').textContent.includes('No item matches.')`)
	fill("find", "id", "doc_1")
	tab.Press("\r")
	tab.Until(`!document.querySelector('#item').hidden`)
	fill("rank", "agent", "u_1")
	tab.Press("\r")
	tab.Until(`document.querySelector('#verdict')?.checkVisibility()`)
	assert.Contains(t, chromium.Eval[string](tab, `location.hash`), "item=doc_1")
}

// firstOf returns the first of ids separated by spaces.
func firstOf(ids string) string {
	first, _, _ := strings.Cut(ids, " ")
	return first
}

// signIn stores the admin token for the tab.
func signIn(tab *chromium.Tab, url string) {
	tab.Go(url + "/docs")
	chromium.Eval[any](tab, `sessionStorage.setItem('admin', '`+adminToken+`')`)
}
