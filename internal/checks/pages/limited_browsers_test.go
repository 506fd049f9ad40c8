package pages

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/checks/chromium"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server"
)

// without serves the pages of a system with a script that removes features of the browser before
// the scripts of the pages run.
func without(t *testing.T, a *server.App, script string) (url string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/without.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write([]byte(script))
		case "/", "/console":
			r.Header.Del("Accept-Encoding")
			r.Header.Del("If-None-Match")
			page := httptest.NewRecorder()
			a.Handler.ServeHTTP(page, r)
			for name, values := range page.Header() {
				if name != "Content-Length" && name != "Etag" {
					w.Header()[name] = values
				}
			}
			_, _ = w.Write([]byte(strings.Replace(page.Body.String(), "<script", `<script src="/without.js"></script><script`, 1)))
		default:
			a.Handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestPagesInLimitedBrowsers checks browsers with missing features: a page over plain HTTP from
// another machine has fewer functions, and site data may be blocked.
func TestPagesInLimitedBrowsers(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, _ := serve(t)
	for name, script := range map[string]string{
		"plain HTTP from another machine": `delete Crypto.prototype.randomUUID; delete Navigator.prototype.locks;`,
		"site data blocked": `for (const name of ['localStorage', 'sessionStorage']) {
			Object.defineProperty(window, name, { get() { throw new DOMException('Access is denied.', 'SecurityError'); } });
		}`,
		"no room": `Storage.prototype.setItem = () => { throw new DOMException('It is full.', 'QuotaExceededError'); };`,
	} {
		t.Run(name, func(t *testing.T) {
			url := without(t, a, script)
			tab := chromium.Open(t, chromium.Phone)
			tab.Go(url + "/")
			tab.Until(`document.querySelectorAll('#items .card').length > 0`)
			chromium.Eval[any](tab, `document.querySelector('#agent').value = 'u_1', document.querySelector('#agent').dispatchEvent(new Event('change'))`)
			tab.Until(ids + `.length >= 20 && ` + idle + ` && !document.querySelector('#tabs').hidden`)
			readDown(tab, 40)
			chromium.Eval[any](tab, `dispatchEvent(new Event('pagehide'))`) // makes the page store its state
			tab.Click("#compose")
			tab.Until(`document.querySelector('#composer').open`)
			assert.Empty(t, chromium.Eval[string](tab, `document.querySelector('#note.error')?.textContent ?? ''`))
			tab.Go(url + "/console#/ranking")
			tab.Until(`document.querySelectorAll('input[type=range]').length > 0`)
		})
	}
}

// TestFeedPageManyWindows opens eight windows, each with a stream: a browser has only six
// connections to an HTTP/1.1 server.
func TestFeedPageManyWindows(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, url := serve(t)
	tab := chromium.Open(t, chromium.Desktop)
	readAs(tab, url, "u_1", "feed=following")
	tab.Until(`document.querySelectorAll('#items .card').length > 0`)
	chromium.Eval[any](tab, `window.all = [window, ...Array.from({ length: 7 }, () => open('/?feed=following', '', 'popup,width=300,height=300'))], 0`)
	tab.Until(`all.every((w) => w.document.querySelectorAll('#items .card').length > 0)`)
	require.False(t, chromium.Eval[bool](tab, `all.some((w) => w.document.hidden)`), "a hidden window rests")
	send(t, a, "u_2", http.MethodPost, "/v1/posts", `{"caption":"Rain at last"}`)
	send(t, a, "u_1", http.MethodPut, "/v1/agents/u_1/following/u_3", "")
	const told = `all.every((w) => w.document.querySelector('#tab-following .count').textContent`
	post := func() { send(t, a, "u_3", http.MethodPost, "/v1/posts", `{"caption":"Snow"}`) }
	post()
	tab.Until(told + ` !== '')`)
	tab.Click("#refresh")
	tab.Until(told + ` === '')`)
}

func TestFeedPageLongWord(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, url := serve(t)
	ingest(t, a, "long", strings.Repeat("x", 60))
	tab := chromium.Open(t, chromium.Screen{Name: "small", Width: 320, Height: 640})
	send(t, a, "reader", http.MethodPut, "/v1/agents/reader/profile", `{"interests":{"`+strings.Repeat("x", 60)+`":1}}`)
	var post struct{ ID string }
	require.NoError(t, json.Unmarshal(send(t, a, strings.Repeat("w", 60), http.MethodPost, "/v1/posts", `{"caption":"`+strings.Repeat("x", 300)+` #`+strings.Repeat("y", 60)+`"}`), &post))
	send(t, a, "reader", http.MethodPut, "/v1/agents/reader/following/"+strings.Repeat("w", 60), "")
	for query, shown := range map[string]string{
		"": `[data-id=long] .chip`, "feed=following": `.card`, "post=" + post.ID: `#other h2`, "author=" + strings.Repeat("w", 60): `#other .grid li`,
	} {
		readAs(tab, url, "reader", query)
		tab.Until(`document.querySelector('` + shown + `')`)
		assert.LessOrEqual(t, chromium.Eval[float64](tab, `document.documentElement.scrollWidth`), 320.0, query)
	}
	for _, page := range []string{"/console#/ranking", "/docs", "/console#/system"} {
		tab.Go(url + page)
		tab.Until(`document.querySelectorAll('main section, main details, input').length > 3`)
		assert.LessOrEqual(t, chromium.Eval[float64](tab, `document.documentElement.scrollWidth`), 320.0, page)
	}
}
