package pages

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/checks/chromium"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server"
)

type view struct {
	name, agent, path string
	ready             string // becomes true when it is loaded
	click             string // the element that opens it; "" if nothing needs to be opened
	open              string // becomes true when it is open
}

const (
	hasCards   = `document.querySelectorAll('#items .card').length > 0 && ` + idle
	hasRoutes  = `document.querySelectorAll('article').length > 0`
	opened     = `!document.querySelector('main').classList.contains('waiting')`
	hasRanking = `document.querySelectorAll('#current li').length > 0 && document.querySelectorAll('input[type=range]').length > 0`
)

// viewsOf returns all views of a demo server with a post and an author with long texts.
func viewsOf(t *testing.T, a *server.App) []view {
	t.Helper()
	long := strings.Repeat("long", 30)
	send(t, a, "u_1", http.MethodPut, "/v1/authors/u_1", `{"name":"A Name Of Many Words That Goes On","bio":"`+long+`"}`)
	var post struct{ ID string }
	require.NoError(t, json.Unmarshal(send(t, a, "u_1", http.MethodPost, "/v1/posts", `{"caption":"`+long+` #`+long[:60]+`"}`), &post))
	reply := replied(t, a, "u_3", post.ID, long)
	replied(t, a, "u_2", reply, "Two words")
	at := "/?post=" + url.QueryEscape(post.ID)
	own := `document.querySelector('.grid a')`
	send(t, a, "u_3", http.MethodPost, "/v1/posts/"+post.ID+"/report", `{"reason":"self_harm","details":"`+long+`"}`)
	views := []view{
		{name: "guest", path: "/", ready: hasCards},
		{name: "for you", agent: "u_1", path: "/", ready: hasCards},
		{name: "home", agent: "u_1", path: "/?feed=home", ready: hasCards},
		{name: "following", agent: "u_1", path: "/?feed=following", ready: hasCards},
		{name: "interests", agent: "u_1", path: "/", ready: hasCards, click: "#profile > summary", open: `document.querySelector('#profile').open`},
		{name: "composer", agent: "u_1", path: "/", ready: hasCards, click: "#compose", open: `document.querySelector('#composer').open`},
		{name: "own profile", agent: "u_1", path: "/?author=u_1", ready: own},
		{name: "author", agent: "u_2", path: "/?author=u_1", ready: own},
		{name: "guest's author", path: "/?author=u_1", ready: own},
		{name: "own post", agent: "u_1", path: at, ready: `document.querySelector('.post .edit')`},
		{name: "edit", agent: "u_1", path: at, ready: `document.querySelector('.post .edit')`, click: ".post .edit", open: `document.querySelector('.editing').checkVisibility()`},
		{name: "post", agent: "u_2", path: at, ready: `document.querySelector('.post')`},
		{name: "replies", agent: "u_2", path: at, ready: answers + `.length === 2`, click: ".replies .respond", open: `document.querySelector('.replies li textarea')`},
		{name: "own reply", agent: "u_2", path: at, ready: answers + `.length === 2`, click: ".replies .delete:not([hidden])", open: `document.querySelector('.replies .sure:not([hidden])')`},
		{name: "reply", agent: "u_2", path: "/?post=" + url.QueryEscape(reply), ready: `document.querySelector('.post .answers a')`},
		{name: "guest's post", path: at, ready: `document.querySelector('.post')`},
		{name: "docs", path: "/docs", ready: hasRoutes},
		{name: "route", path: "/docs", ready: hasRoutes, click: "#postFeed .parts > summary", open: `document.querySelector('#postFeed .parts').children.length === 2`},
		{name: "sweep", path: "/console#/ranking", ready: hasRanking + ` && ` + compared, click: "#trial .main", open: `!document.querySelector('#drawn').hidden`},
		{name: "a reader's home", path: "/console#/reader?agent=u_1&feed=home", ready: opened + ` && document.querySelectorAll('#page tbody tr').length > 5`},
	}
	for _, v := range consoleViews() {
		views = append(views, view{name: v.name(), path: "/console#/" + v.path, ready: cmp.Or(v.ready, v.data), click: v.click, open: v.open})
	}
	return views
}

func show(tab *chromium.Tab, url string, v view) {
	readAs(tab, url, v.agent)
	tab.Go(url + v.path)
	tab.Until(v.ready)
	if v.click != "" && !chromium.Eval[bool](tab, `Boolean(`+v.open+`)`) {
		tab.Click(v.click)
		tab.Until(v.open)
	}
}

// tooWide lists the elements that are cut off at the side.
const tooWide = `[...document.querySelectorAll('body *')].filter((e) => Math.max(e.getBoundingClientRect().right, e.getBoundingClientRect().left + (getComputedStyle(e).overflowX === 'visible' ? e.scrollWidth : 0)) > document.documentElement.clientWidth + 1 && e.getClientRects().length)
	.map((e) => e.tagName + '.' + e.className + '#' + e.id + ' ' + Math.round(e.getBoundingClientRect().left) + ' ' + e.scrollWidth).slice(-12)`

// TestFeedPageViewWidth checks the width of all views, signed in or not, on phones, on the
// narrowest phones, and with large text.
func TestFeedPageViewWidth(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, url := serve(t)
	cfg := configs.Default()
	cfg.Auth.Mode, cfg.Auth.JWT.Secret = configs.ModeJWT, strings.Repeat("secret", 8)
	_, locked := serveWith(t, cfg)
	views := viewsOf(t, a)
	for _, width := range []int64{390, 320} {
		tab := chromium.Open(t, chromium.Screen{Name: "phone", Width: width, Height: 700})
		fits := func(name string) {
			wide := chromium.Eval[[]float64](tab, `[document.documentElement.scrollWidth, document.documentElement.clientWidth]`)
			assert.Equal(t, wide[1], wide[0], "%s at %d", name, width)
		}
		for _, v := range views {
			show(tab, url, v)
			fits(v.name)
		}
		tab.Go(locked + "/")
		tab.Until(`document.querySelector('#sign-in').checkVisibility()`)
		fits("token")
	}
	tab := chromium.Open(t, chromium.Phone)
	for _, v := range views {
		show(tab, url, v)
		chromium.Eval[any](tab, `document.documentElement.style.fontSize = '200%'`)
		wide := chromium.Eval[[]float64](tab, `[document.documentElement.scrollWidth, document.documentElement.clientWidth]`)
		assert.Equal(t, wide[1], wide[0], "%s with text twice as large: %s", v.name, chromium.Eval[[]string](tab, tooWide))
	}
}

// unseenEdges lists the elements with a border that is transparent.
const unseenEdges = `[...document.querySelectorAll('body *')].filter((e) => e.checkVisibility()).flatMap((e) => ['Top', 'Right', 'Bottom', 'Left'].filter((side) => {
	const style = getComputedStyle(e), color = style['border' + side + 'Color'];
	return parseFloat(style['border' + side + 'Width']) > 0 && /, 0\)$/.test(color);
}).map((side) => e.tagName + '#' + e.id + ' ' + side))`

// TestFeedPageForcedColors checks that no view has a transparent border: the high contrast modes of
// systems draw it like any other, and so what is chosen looks like what is not.
func TestFeedPageForcedColors(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, url := serve(t)
	tab := chromium.Open(t, chromium.Phone)
	for _, v := range viewsOf(t, a) {
		show(tab, url, v)
		assert.Empty(t, chromium.Eval[[]string](tab, unseenEdges), v.name)
	}
}

// TestFeedPageScreenReader checks what a screen reader is told while a list loads, and the language
// of items.
func TestFeedPageScreenReader(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serve(t)
	tab := chromium.Open(t, chromium.Phone)
	readAs(tab, url, "u_1")
	tab.Until(hasCards)
	chromium.Eval[any](tab, `window.said = [], window.busy = [],
		new MutationObserver(() => said.push(document.querySelector('#progress').textContent)).observe(document.querySelector('#progress'), { childList: true }),
		new MutationObserver(() => busy.push(document.querySelector('#items').ariaBusy)).observe(document.querySelector('#items'), { attributeFilter: ['aria-busy'] }), 0`)
	tab.Click("#refresh")
	tab.Until(`said.length >= 2 && busy.length >= 2`)
	assert.Equal(t, []string{"Loading …", "20 entries loaded."}, chromium.Eval[[]string](tab, `said`))
	assert.Equal(t, []string{"true", "false"}, chromium.Eval[[]string](tab, `busy`))
	assert.Equal(t, []string{"en"}, chromium.Eval[[]string](tab, `[...new Set([...document.querySelectorAll('#items .card:not([data-id^="post:"]) h2 a')].map((a) => a.lang))]`))
	tab.Go(url + "/?author=u_1")
	tab.Until(`document.querySelector('#other').ariaBusy === 'false' && document.querySelector('#progress').textContent === 'Loaded.'`)
}
