package pages

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/checks/chromium"
	"github.com/freshet/freshet/internal/testenv"
)

const (
	shownView = `document.querySelector('#view-title')?.textContent`
	// hold makes calls of a method wait until released is called; asked has their number.
	hold = `((plain) => { window.asked = 0; const open = new Promise((r) => { window.released = r; });
		window.fetch = async (path, o) => { if ((o?.method ?? 'GET') === '%s' && path.startsWith('/v1/')) { asked++; await open; } return plain(path, o); }; })(window.fetch), 0`
)

// TestConsoleBack goes back through views, also to the address without one, and from a dialog.
func TestConsoleBack(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serveStill(t)
	tab := chromium.Open(t, chromium.Desktop)
	signIn(tab, url)
	tab.Go(url + "/console")
	tab.Until(shownView + ` === 'Overview' && ` + opened)
	tab.Click(`#views [href="#/ranking"]`)
	tab.Until(shownView + ` === 'Ranking' && ` + compared)
	chromium.Eval[any](tab, `history.back()`)
	tab.Until(shownView + ` === 'Overview' && document.querySelector('#views [aria-current]').textContent === 'Overview'`)
	chromium.Eval[any](tab, `history.forward()`)
	tab.Until(shownView + ` === 'Ranking' && ` + compared)
	slide(tab, "scale", 950)
	tab.Until(compared)
	chromium.Eval[any](tab, `((f) => { f.by.value = 'ana'; f.why.value = 'a test'; })(document.querySelector('#why-form').elements)`)
	tab.Click("#live")
	tab.Until(confirming)
	chromium.Eval[any](tab, `history.back()`)
	tab.Until(shownView + ` === 'Overview' && !` + confirming)
	tab.Click(`#views [href="#/experiments"]`)
	tab.Until(shownView + ` === 'Experiments' && document.querySelector('#version').textContent.startsWith('The ranking of the configuration')`)
	tab.Go(url + "/docs")
	tab.Go(url + "/console#/reader?agent=u_1&item=a?b")
	tab.Until(opened + ` && document.querySelector('#ask')?.elements.wanted.value === 'a?b'`)
}

// TestConsoleLeftBeforeAnswer leaves a view before a change is answered: it is not said to have failed.
func TestConsoleLeftBeforeAnswer(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serveStill(t)
	tab := chromium.Open(t, chromium.Desktop)
	signIn(tab, url)
	tab.Go(url + "/console#/ranking")
	tab.Until(compared)
	slide(tab, "scale", 950)
	tab.Until(compared)
	chromium.Eval[any](tab, `((f) => { f.by.value = 'ana'; f.why.value = 'a test'; })(document.querySelector('#why-form').elements)`)
	chromium.Eval[any](tab, fmt.Sprintf(hold, "PUT"))
	tab.Click("#live")
	tab.Until(confirming)
	tab.Click("#confirm .main")
	tab.Until(`asked === 1`)
	tab.Click(`#views [href="#/items"]`)
	tab.Until(shownView + ` === 'Items' && ` + opened)
	chromium.Eval[any](tab, `released()`)
	tab.Until(says + `.startsWith('Live.')`)
	assert.False(t, chromium.Eval[bool](tab, `document.querySelector('#note').classList.contains('error')`))

	chromium.Eval[any](tab, fmt.Sprintf(hold, "POST"))
	tab.Click(`#views [href="#/moderation"]`)
	tab.Until(shownView + ` === 'Moderation' && ` + opened)
	tab.Click("#reports button")
	decide(tab, "Dismiss the reports")
	chromium.Eval[any](tab, `document.querySelector('#acts button').click()`) // a double click
	tab.Until(`asked === 1`)
	tab.Click(`#views [href="#/items"]`)
	tab.Until(shownView + ` === 'Items' && ` + opened)
	chromium.Eval[any](tab, `released()`)
	tab.Until(says + ` === 'Item doc_1 stays as it is.'`)
	assert.Equal(t, 1, chromium.Eval[int](tab, `asked`))
}

// TestConsoleDoubleClicks deletes an item with a double click.
func TestConsoleDoubleClicks(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serveStill(t)
	tab := chromium.Open(t, chromium.Desktop)
	signIn(tab, url)
	tab.Go(url + "/console#/items?id=doc_1")
	tab.Until(opened + ` && document.querySelector('#delete').checkVisibility()`)
	chromium.Eval[any](tab, fmt.Sprintf(hold, "DELETE"))
	tab.Click("#delete")
	chromium.Eval[any](tab, `((b) => { b.click(); b.click(); })(document.querySelector('#really'))`)
	chromium.Eval[any](tab, `released()`)
	tab.Until(says + ` === 'doc_1 is deleted.' && document.activeElement.id === 'found-title'`)
	assert.Equal(t, 1, chromium.Eval[int](tab, `asked`))
}

// TestConsoleSlowAnswers says that it loads, and marks what belongs to another question.
func TestConsoleSlowAnswers(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serveStill(t)
	tab := chromium.Open(t, chromium.Desktop)
	tab.Expect("503")
	signIn(tab, url)
	tab.Go(url + "/console#/reader?agent=u_1")
	tab.Until(opened + ` && document.querySelectorAll('#page tbody tr').length > 5`)
	chromium.Eval[any](tab, fmt.Sprintf(hold, "GET"))
	tab.Click(`#views [href="#/items"]`)
	tab.Until(says + ` === 'Loading …'`)
	chromium.Eval[any](tab, `released()`)
	tab.Until(opened + ` && document.querySelectorAll('#found tbody tr').length > 5 && ` + says + ` === ''`)

	// What was found before is not shown as the answer to a question that failed.
	chromium.Eval[any](tab, `((plain) => { window.fetch = async (path, o) => (path.startsWith('/v1/') && window.down
		? new Response(JSON.stringify({ code: 50301, msg: 'a dependency is unavailable; try again' }), { status: 503 }) : plain(path, o)); window.down = true; })(window.fetch)`)
	field(tab, "find", "tag", "")
	tab.Press("\r")
	tab.Until(`document.querySelector('#note.error') && document.querySelector('#count').textContent === 'Not known.' && document.querySelectorAll('#found tr').length === 0`)
	chromium.Eval[any](tab, `window.down = false`)
	tab.Press("\r")
	tab.Until(`document.querySelectorAll('#found tbody tr').length > 5 && ` + says + ` === ''`)
	chromium.Eval[any](tab, `location.hash = '#/reader?agent=u_1'`)
	tab.Until(shownView + ` === 'Reader' && ` + opened + ` && document.querySelectorAll('#page tbody tr').length > 5`)
	chromium.Eval[any](tab, `window.down = true`)
	field(tab, "ask", "agent", "u_2")
	tab.Press("\r")
	tab.Until(`document.querySelector('#note.error') && !document.querySelector('#answers').checkVisibility()`)
	chromium.Eval[any](tab, `window.down = false`)
	tab.Press("\r")
	tab.Until(`document.querySelector('#answers').checkVisibility() && ` + says + ` === ''`)
}

// TestConsoleQuestionsAboutReaders asks about a reader who does not exist, and with fields that the server refuses.
func TestConsoleQuestionsAboutReaders(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, url := serveStill(t)
	tab := chromium.Open(t, chromium.Desktop)
	tab.Expect("404") // nobody has a profile
	tab.Expect("400")
	signIn(tab, url)
	tab.Go(url + "/console#/reader?agent=u_l")
	tab.Until(opened + ` && document.querySelector('#summary').textContent.includes('No profile is stored under this id')`)
	require.NoError(t, a.Engine.PutProfile(t.Context(), "u_l", feed.Profile{Interests: map[string]float64{"rust": 1}}))
	field(tab, "ask", "feed", "tag:rust")
	tab.Press("\r")
	tab.Until(`document.querySelector('#summary').textContent.includes(' on the page') && !document.querySelector('#summary').textContent.includes('No profile') && location.hash.includes('tag%3Arust')`)
	for name, value := range map[string]string{"feed": "tag:", "wanted": "an item"} {
		was := chromium.Eval[string](tab, `document.querySelector('#ask').elements.`+name+`.value`)
		field(tab, "ask", name, value)
		chromium.Eval[any](tab, `document.querySelector('#ask').elements.agent.focus()`)
		tab.Press("\r")
		tab.Until(`document.querySelector('#note.error') && document.activeElement.name === '` + name + `'`)
		field(tab, "ask", name, was)
		tab.Press("\r")
		tab.Until(says + ` === ''`)
	}
	field(tab, "ask", "agent", "Zoë")
	tab.Press("\r")
	assert.True(t, chromium.Eval[bool](tab, `document.activeElement.matches('[name=agent]:invalid')`))
	assert.Empty(t, chromium.Eval[string](tab, says), "nothing was asked")
}

// TestConsoleTokenRevoked has its token refused in the middle, and enters others.
func TestConsoleTokenRevoked(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serveStill(t)
	tab := chromium.Open(t, chromium.Desktop)
	tab.Expect("401")
	signIn(tab, url)
	tab.Go(url + "/console#/moderation")
	tab.Until(opened + ` && document.querySelector('#reports button')`)
	tab.Click("#reports button")
	tab.Until(acts + `.length > 0`)
	chromium.Eval[any](tab, `sessionStorage.setItem('admin', 'of before')`)
	decide(tab, "Dismiss the reports")
	tab.Until(says + `.startsWith('The console is for admins') && document.querySelector('#sign-in').checkVisibility()`)
	chromium.Eval[any](tab, `document.querySelector('#sign-in input').focus()`)
	tab.Press("schlüssel\r")
	tab.Until(`document.querySelector('#sign-in input:invalid')`)
	chromium.Eval[any](tab, `document.querySelector('#sign-in input').select()`)
	tab.Press("wrong\r")
	tab.Until(says + `.startsWith('The console is for admins') && document.querySelector('#sign-in').checkVisibility() && document.querySelector('#sign-in input').value === ''`)
	chromium.Eval[any](tab, `document.querySelector('#sign-in input').focus()`)
	tab.Press(adminToken + " \r")
	tab.Until(says + ` === '' && document.querySelector('#object-title').textContent === 'Item doc_1' && ` + acts + `.length > 0`)
	decide(tab, "Dismiss the reports")
	tab.Until(says + ` === 'Item doc_1 stays as it is.'`)
}

// TestConsoleClock has a device whose clock is two days behind: items are dated by the server's.
func TestConsoleClock(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, url := serveStill(t)
	tab := chromium.Open(t, chromium.Desktop)
	signIn(tab, url)
	tab.Go(url + "/console#/overview")
	tab.Until(opened)
	chromium.Eval[any](tab, `((real) => { Date.now = () => real() - 2 * 86400_000; })(Date.now.bind(Date))`)
	tab.Click(`#views [href="#/items"]`)
	tab.Until(opened + ` && document.querySelectorAll('#found tbody tr').length > 5`)
	field(tab, "add", "id", "dated")
	field(tab, "add", "title", "A river in spring")
	tab.Press("\r")
	tab.Until(says + ` === 'dated is stored.'`)
	docs, err := a.Catalog.Docs(t.Context(), []string{"dated"})
	require.NoError(t, err)
	it, err := docs[0].Item()
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now(), time.Unix(it.UpdateTime, 0), time.Hour)
	assert.Regexp(t, `\d s$`, chromium.Eval[string](tab, `document.querySelector('#found tbody tr').cells[5].textContent`))
}

// TestConsoleServerRestarts opens views while the server is away, and when it is there again.
func TestConsoleServerRestarts(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, _ := serveStill(t)
	addr := testenv.FreeAddr(t)
	start := func() *httptest.Server {
		listener, err := net.Listen("tcp", addr)
		require.NoError(t, err)
		s := &httptest.Server{Listener: listener, Config: &http.Server{Handler: a.Handler}}
		s.Start()
		t.Cleanup(s.Close)
		return s
	}
	first := start()
	tab := chromium.Open(t, chromium.Desktop)
	tab.Expect("ERR_CONNECTION_REFUSED")
	tab.Expect("Failed to load resource")
	signIn(tab, "http://"+addr)
	tab.Go("http://" + addr + "/console#/items")
	tab.Until(opened + ` && document.querySelectorAll('#found tbody tr').length > 5`)
	first.Close()
	tab.Click(`#views [href="#/system"]`)
	tab.Until(opened + ` && document.querySelector('#note.error')?.textContent === 'The server cannot be reached. Load the page again in a moment.'`)
	tab.Click(`#views [href="#/items"]`) // whose module was loaded
	tab.Until(shownView + ` === 'Items' && document.querySelector('#note.error')?.textContent.startsWith('The server cannot be reached')`)
	start()
	field(tab, "find", "tag", "")
	tab.Press("\r")
	tab.Until(`document.querySelectorAll('#found tbody tr').length > 5 && ` + says + ` === ''`)
	tab.Click(`#views [href="#/system"]`)
	tab.Until(opened + ` && (document.querySelector('#settings tbody') || document.querySelector('#note.error'))`)
	tab.Reload()
	tab.Until(opened + ` && document.querySelector('#settings tbody')`)
}

// TestConsoleHostileItems finds, opens, explains and deletes items whose ids have every character that ids can have, and
// whose texts are long, run from right to left, or look like markup.
func TestConsoleHostileItems(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, url := serveStill(t)
	items := map[string]string{
		`a/b?c=d&e#f%2Fg'h(i)*+,;=[j]!$:@~`: strings.Repeat("long", 2500),
		"../../v1/feeds/x":                  "\u202eright to left\u202c שלום " + markup,
		"%":                                 strings.Repeat("😀", 300),
		"https://example.org/?p=1#/ranking": `"quotes" ' and \ ` + markup,
	}
	for id, title := range items {
		errs, err := a.Catalog.Put(t.Context(), []feed.Item{{
			ID: id, Title: title, Summary: title, AuthorID: markup, Tags: []string{markup[:30], strings.Repeat("t", 60)}, Lang: "en", UpdateTime: time.Now().Unix(),
		}})
		require.NoError(t, errors.Join(append(errs, err)...))
		send(t, a, "u_4", http.MethodPost, "/v1/items/"+escaped(id)+"/report", `{"reason":"hate"}`)
	}
	tab := chromium.Open(t, chromium.Screen{Name: "small", Width: 320, Height: 640})
	signIn(tab, url)
	for id, title := range items {
		tab.Go(url + "/console#/items")
		tab.Reload()
		tab.Until(opened + ` && document.querySelectorAll('#found tbody tr').length > 5`)
		fits(t, tab, id)
		field(tab, "find", "id", id)
		tab.Press("\r")
		tab.Until(`!document.querySelector('#item').hidden`)
		assert.Equal(t, title, chromium.Eval[string](tab, `document.querySelector('#item-title').textContent`))
		fits(t, tab, id)
		field(tab, "rank", "agent", "u_1")
		tab.Press("\r")
		tab.Until(shownView + ` === 'Reader' && ` + opened + ` && document.querySelector('#verdict').checkVisibility()`)
		assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#verdict').textContent`), title+": ")
		assert.Equal(t, id, chromium.Eval[string](tab, `document.querySelector('#ask').elements.wanted.value`))
		fits(t, tab, id)
		tab.Click(`#views [href="#/moderation"]`)
		tab.Until(shownView + ` === 'Moderation' && ` + opened)
		chromium.Eval[any](tab, fmt.Sprintf(`[...document.querySelectorAll('#reports button')].find((b) => b.ariaLabel === %q).click()`, "Open Item "+id))
		tab.Until(`document.querySelector('#about a')?.textContent === ` + fmt.Sprintf("%q", title))
		fits(t, tab, id)
		chromium.Eval[any](tab, `document.querySelector('#about a').click()`)
		tab.Until(shownView + ` === 'Items' && ` + opened + ` && !document.querySelector('#item').hidden`)
		assert.Equal(t, title, chromium.Eval[string](tab, `document.querySelector('#item-title').textContent`))
		assert.Empty(t, chromium.Eval[string](tab, injected))
		tab.Click("#delete")
		tab.Click("#really")
		tab.Until(`document.querySelector('#item').hidden`)
		fits(t, tab, id)
		docs, err := a.Catalog.Docs(t.Context(), []string{id})
		require.NoError(t, err)
		assert.True(t, docs[0].Missing(), id)
	}
}

// escaped writes an id as a part of a path.
func escaped(id string) string {
	var b strings.Builder
	for _, c := range []byte(id) {
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// TestConsoleWithoutPosts opens the moderation of a server that has no posts.
func TestConsoleWithoutPosts(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	cfg := predictable()
	cfg.Auth.AdminToken, cfg.Social.Off = adminToken, true
	_, url := serveWith(t, cfg)
	tab := chromium.Open(t, chromium.Phone)
	tab.Expect("404")
	signIn(tab, url)
	tab.Go(url + "/console#/moderation")
	tab.Until(opened + ` && document.querySelector('#none').checkVisibility() && !document.querySelector('#some').checkVisibility()`)
	assert.Empty(t, chromium.Eval[string](tab, says))
}
