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
	require.NoError(t, a.Engine.PutProfile(t.Context(), "u_1", feed.Profile{Interests: map[string]float64{"rust": 2, "cats": 1}, MutedTags: []string{"food"}, MutedWords: []feed.MutedWord{{Term: "crypto"}}, Langs: []string{"en"}}))
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
		assert.Regexp(t, `food.*crypto`, chromium.Eval[string](tab, `document.querySelector('#mutes').textContent`))
		assert.Regexp(t, `handed out lately|\d{4}-\d\d-\d\d`, chromium.Eval[string](tab, `document.querySelector('#shown tbody').textContent`))
		assert.False(t, chromium.Eval[bool](tab, `document.querySelector('#pattern').checkVisibility()`), "for you has no pattern")
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
		assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#settings').textContent`), "the program", "the test has set it")
		assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#recording').textContent`), "Recorded in a filter")
		assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#files').textContent`), "catalog.db")
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
	fill := func(form, name, text string) { field(tab, form, name, text) }
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
	tab.Press("\r")
	tab.Until(rows + ` === 1 && document.querySelector('#found').textContent.includes('A river in spring')`)
	fill("find", "words", "river absent")
	tab.Press("\r")
	tab.Until(`document.querySelector('#found').textContent.includes('No item matches.')`)
	fill("find", "words", "")
	fill("find", "tag", "water")
	tab.Press("\r")
	tab.Until(rows + ` === 1 && document.querySelector('#found').textContent.includes('A river in spring')`)
	tab.Click("#found button")
	tab.Until(`document.activeElement.id === 'item-title'`)
	assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#fields').textContent`), "https://example.org/river")
	tab.Until(`document.querySelector('#acted').textContent.startsWith('0 readers have clicked or liked it in 90 days.')`)
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

// field sets a field of a form like a user.
func field(tab *chromium.Tab, form, name, value string) {
	chromium.Eval[any](tab, fmt.Sprintf(`((f) => { f.value = %q; f.dispatchEvent(new Event('input', { bubbles: true })); f.dispatchEvent(new Event('change', { bubbles: true })); f.focus(); })(document.querySelector('#%s').elements[%q])`, value, form, name))
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
