package pages

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/handler/web"
	"github.com/freshet/freshet/internal/checks/chromium"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/internal/testenv/faultproxy"
	"github.com/freshet/freshet/server"
	"github.com/freshet/freshet/server/doctor"
)

// consoleView is a view of the console in each of its states: expressions that become true.
type consoleView struct {
	path  string // after /console#/
	data  string // it shows data
	ready string // it shows what there is; "" if data does
	empty string // it says that there is nothing
	down  string // it says what does not answer
	click string // the element that opens more of it; "" if there is none
	open  string // that is open
}

// name is the view's name in the address.
func (v consoleView) name() string {
	name, _, _ := strings.Cut(v.path, "?")
	return name
}

const refusedNote = `document.querySelector('#note.error') && /(unavailable|try again|cannot be read)/.test(document.querySelector('#note').textContent)`

// consoleViews has every view of the console. All tests of views take it from here.
func consoleViews() []consoleView {
	return []consoleView{
		{
			path: "overview", data: `document.querySelectorAll('#charts figure').length > 10 && document.querySelector('#servers tbody')`,
			ready: opened + ` && document.querySelector('#servers tbody')`,
			empty: `!document.querySelector('#none').hidden || document.querySelectorAll('#charts figure').length > 10`, // a minute has ended
			down:  refusedNote,
		},
		{
			path: "ranking", data: compared, down: refusedNote,
			empty: `!document.querySelector('main').classList.contains('stale') && document.querySelector('#proposed').textContent.includes('Nothing for this reader')`,
		},
		{
			path: "experiments", data: opened + ` && document.querySelectorAll('#versions tbody tr').length > 0`,
			empty: opened + ` && !document.querySelector('#none').hidden`, down: refusedNote,
		},
		{
			path: "reader?agent=u_1", data: opened + ` && document.querySelectorAll('#page tbody tr').length > 5`,
			empty: opened + ` && document.querySelector('#page').textContent.includes('Nothing for this reader')`,
			down:  `(` + refusedNote + `) || document.querySelector('#summary').textContent.includes('Missing: ')`,
		},
		{
			path: "items", data: opened + ` && document.querySelectorAll('#found tbody tr').length > 5`,
			empty: opened + ` && document.querySelector('#found').textContent.includes('No item matches')`, down: refusedNote,
			click: "#found button", open: `!document.querySelector('#item').hidden`,
		},
		{
			path: "moderation", data: opened + ` && document.querySelector('#reports tbody button') && document.querySelector('#log tbody')`,
			empty: opened + ` && document.querySelector('#reports').textContent.includes('Nothing is reported') && document.querySelector('#log tbody')`, down: refusedNote,
			click: "#reports button", open: `!document.querySelector('#object').hidden`,
		},
		{
			path: "system", data: opened + ` && document.querySelector('#findings tbody') && document.querySelector('#settings tbody')`,
			empty: opened + ` && document.querySelector('#failed')?.textContent.includes('No job has failed')`,
			down:  `document.querySelector('#dependencies').textContent.includes('down') && document.querySelector('#findings .level.broken')`,
		},
	}
}

// TestConsoleViewsAreTested checks that consoleViews has the views of the page, in the order of its navigation.
func TestConsoleViewsAreTested(t *testing.T) {
	t.Parallel()
	read := func(name, pattern string) (names []string) {
		text, err := web.Files.ReadFile("console/" + name)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
		return names
	}
	var tested []string
	for _, v := range consoleViews() {
		tested = append(tested, v.name())
	}
	assert.Equal(t, read("console.js", `(\w+): \(\) => import`), tested)
	assert.Equal(t, read("index.html", `href="#/(\w+)"`), tested)
}

// eachView shows every view at every width until it has reached a state, and checks that nothing is cut off.
func eachView(t *testing.T, url, state string, reached func(consoleView) string, expect ...string) {
	t.Helper()
	for _, screen := range widths() {
		t.Run(fmt.Sprintf("%s at %d", state, screen.Width), func(t *testing.T) {
			tab := chromium.Open(t, screen)
			for _, text := range expect {
				tab.Expect(text)
			}
			signIn(tab, url)
			for _, v := range consoleViews() {
				tab.Go(url + "/console#/" + v.path)
				tab.Reload() // the address may differ in its fragment alone
				tab.Until(reached(v))
				fits(t, tab, v.path)
				assert.Zero(t, chromium.Eval[int](tab, `document.querySelectorAll('[aria-busy=true]').length`), v.path)
				tab.Shot("console-" + state)
			}
		})
	}
}

// TestConsoleWithData shows every view with data.
func TestConsoleWithData(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, url := serveStill(t)
	firstPage(t, a, "u_2", 20)
	require.NoError(t, a.Flush(t.Context()))
	eachView(t, url, "data", func(v consoleView) string { return v.data })
}

// TestConsoleEmpty shows every view of a server that has nothing.
func TestConsoleEmpty(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	cfg := predictable()
	cfg.Auth.AdminToken = adminToken
	_, url := serveWith(t, cfg)
	eachView(t, url, "empty", func(v consoleView) string { return v.empty }, "404") // the profile of a reader who has none
}

// TestConsoleDenied opens each view without a token, and signs in.
func TestConsoleDenied(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, url := serveStill(t)
	firstPage(t, a, "u_2", 20)
	require.NoError(t, a.Flush(t.Context()))
	for _, screen := range widths() {
		for _, v := range consoleViews() {
			t.Run(fmt.Sprintf("%s at %d", v.path, screen.Width), func(t *testing.T) {
				tab := chromium.Open(t, screen)
				tab.Expect("401")
				tab.Go(url + "/console#/" + v.path)
				tab.Until(`document.querySelector('#sign-in').checkVisibility() && document.querySelector('#note').textContent.startsWith('The console is for admins')`)
				fits(t, tab, v.path)
				chromium.Eval[any](tab, `document.querySelector('#sign-in input').focus()`)
				tab.Press(adminToken + "\r")
				tab.Until(v.data)
				assert.False(t, chromium.Eval[bool](tab, `document.querySelector('#sign-in').checkVisibility()`))
				assert.Empty(t, chromium.Eval[string](tab, `document.querySelector('#note').textContent`))
			})
		}
	}
}

// TestConsoleDependencyDown shows every view while Redis, Elasticsearch and PostgreSQL do not answer: it
// says so, and goes on when they answer again.
func TestConsoleDependencyDown(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	cfg, cut, mend := cuttable(t)
	cfg.Auth.AdminToken = adminToken
	_, url := serveItems(t, cfg)
	eachView(t, url, "up", func(v consoleView) string {
		if v.path == "overview" {
			return opened // nobody has counted yet
		}
		return v.data
	})
	cut()
	eachView(t, url, "down", func(v consoleView) string { return v.down }, "503", "504")
	tab := chromium.Open(t, chromium.Desktop)
	tab.Expect("503")
	tab.Expect("504")
	signIn(tab, url)
	tab.Go(url + "/console#/items")
	tab.Until(refusedNote)
	mend()
	chromium.Eval[any](tab, `document.querySelector('#find').elements.tag.focus()`)
	testenv.WaitFor(t, func() bool {
		tab.Press("\r")
		return chromium.Eval[bool](tab, `document.querySelectorAll('#found tbody tr').length > 5 && document.querySelector('#note').textContent === ''`)
	}, "the view to find items again")
}

// cuttable returns services mode behind proxies, and functions that cut all services off and connect
// them again.
func cuttable(t *testing.T) (cfg configs.Config, cut, mend func()) {
	t.Helper()
	_, prefix := testenv.Redis(t)
	redisURL, err := url.Parse(testenv.RedisURL(t))
	require.NoError(t, err)
	postgresURL, err := url.Parse(testenv.ReusedPostgres(t))
	require.NoError(t, err)
	elastic, index := testenv.Elastic(t)
	elasticURL, err := url.Parse(elastic)
	require.NoError(t, err)
	redis, postgres := faultproxy.Start(t, redisURL.Host), faultproxy.StartPostgres(t, postgresURL.Host)
	search := faultproxy.StartRaw(t, elasticURL.Host)
	dead := httptest.NewServer(nil)
	dead.Close() // its port refuses connections

	cfg = predictable()
	cfg.Server.RequestTimeout = 20 * time.Second // the services may be busy; connections that are refused end at once
	postgresURL.Host = postgres.Addrs[0]
	cfg.Postgres.URL = postgresURL.String() + "&pool_max_conns=8"
	cfg.Redis.URL, cfg.Redis.KeyPrefix = "redis://"+redis.Addrs[0], prefix
	cfg.Elasticsearch.Addresses, cfg.Elasticsearch.Index = []string{"http://" + search.Addr}, index
	for _, f := range doctor.Check(t.Context(), cfg, doctor.Options{Fix: true}) {
		require.NotEqual(t, doctor.Broken, f.Level, "%+v", f)
	}
	cut = func() {
		redis.Down()
		postgres.Down()
		search.Lead(dead.Listener.Addr().String())
		search.Sever() // calls would go on over idle connections
	}
	mend = func() {
		redis.Up()
		postgres.Up()
		search.Lead(elasticURL.Host)
	}
	return cfg, cut, mend
}

const (
	// stops lists what the keyboard must reach in a view.
	stops = `[...document.querySelectorAll('header a, main a[href], main button, main input, main select, main summary, main [tabindex="0"]')].filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled
		&& !(e.type === 'radio' && !e.checked))`
	// step notes the focused element, and returns whether it is visible within the window. Of a field of a date the
	// browser marks the part.
	step = `((e) => { (window.met ??= new Set()).add(e); const r = e.getBoundingClientRect(), o = getComputedStyle(e);
		return e === document.body || (r.bottom > 0 && r.top < innerHeight && (o.outlineStyle !== 'none' || e.matches('.skip, [type=datetime-local]'))); })(document.activeElement)`
)

// TestConsoleKeyboard walks through every view by Tab alone: each control is reached, in view, and with a
// visible mark of the focus; Enter on a link of the navigation opens the next view at its title.
func TestConsoleKeyboard(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, url := serveStill(t)
	firstPage(t, a, "u_2", 20)
	require.NoError(t, a.Flush(t.Context()))
	for _, screen := range widths() {
		t.Run(screen.Name, func(t *testing.T) {
			t.Parallel()
			tab := chromium.Open(t, screen)
			signIn(tab, url)
			for _, v := range consoleViews() {
				tab.Go(url + "/console#/" + v.path)
				tab.Reload()
				tab.Until(v.data)
				chromium.Eval[any](tab, `window.met = new Set(), document.body.tabIndex = -1, document.body.focus(), 0`)
				const all = 400 // more than any view has
				for range all {
					tab.Press("\t")
					if !chromium.Eval[bool](tab, step) {
						assert.Fail(t, "the focus cannot be seen", "%s: %s", v.path, chromium.Eval[string](tab, `document.activeElement.outerHTML.slice(0, 160)`))
					}
					if chromium.Eval[bool](tab, stops+`.every((e) => met.has(e))`) {
						break
					}
				}
				assert.Empty(t, chromium.Eval[[]string](tab, stops+`.filter((e) => !met.has(e)).map((e) => e.outerHTML.slice(0, 120))`), "%s: not reached", v.path)
			}
			chromium.Eval[any](tab, `document.querySelector('#views [href="#/items"]').focus()`)
			tab.Press("\r")
			tab.Until(opened + ` && document.activeElement.id === 'view-title' && document.activeElement.textContent === 'Items'`)
			chromium.Eval[any](tab, `document.querySelector('.skip').focus()`)
			tab.Press("\r")
			tab.Until(`document.activeElement.id === 'main' && location.hash === '#/items'`)
		})
	}
}

// serveItems is serveStill with a configuration.
func serveItems(t *testing.T, cfg configs.Config) (*server.App, string) {
	t.Helper()
	a, url := serveWith(t, cfg)
	fillItems(t, a)
	return a, url
}
