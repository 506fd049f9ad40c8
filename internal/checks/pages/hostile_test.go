package pages

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/checks/chromium"
	"github.com/freshet/freshet/internal/testenv"
)

// markup has an effect wherever it is interpreted as HTML.
const markup = `<img src=x onerror="window.ran=1"><script>window.ran=1</script><svg onload="window.ran=1">`

// injected detects the effects of markup: scripts that ran, and elements that the pages do not
// have.
const injected = `window.ran ? 'a script ran' : [...document.querySelectorAll('img:not(.picture), main script, [onerror], [onload], a[href^="javascript"]')].map((e) => e.outerHTML).join(' ')`

// TestPagesEscapeMarkup puts markup wherever the pages show text by others.
func TestPagesEscapeMarkup(t *testing.T) {
	t.Parallel()
	a, url := serve(t)
	interests := map[string]float64{markup: 100}
	_, err := a.Catalog.Put(t.Context(), []feed.Item{{
		ID: "hostile", Title: "title " + markup, Summary: "summary " + markup, AuthorID: "author " + markup, Tags: []string{markup},
		URL: "javascript:window.ran=1", ImageURL: "javascript:window.ran=1", Lang: "en", UpdateTime: time.Now().Unix(),
	}})
	require.NoError(t, err)
	require.NoError(t, a.Engine.PutProfile(t.Context(), "u_1", feed.Profile{Interests: interests}))
	body := `{"ranking":{"base":0.2},"by":"by <img src=x onerror=window.ran=1>","why":"why <img src=x onerror=window.ran=1><script>window.ran=1</script>","experiments":[{"name":"quick","share":0.5}]}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url+"/v1/ranking", strings.NewReader(body))
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	answer, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 200, res.StatusCode, string(answer))
	require.NotContains(t, string(answer), "<img")

	tab := chromium.Open(t, chromium.Desktop)
	readAs(tab, url, "u_1")
	tab.Until(ids + `.includes('hostile') && ` + idle)
	const card = `document.querySelector('[data-id=hostile]')`
	tab.Until(card + `.querySelector('.why').textContent.includes('onerror')`)
	assert.Equal(t, "title "+markup, chromium.Eval[string](tab, card+`.querySelector('h2').textContent.trim()`))
	assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#interests').textContent`), markup)
	assert.Equal(t, "", chromium.Eval[string](tab, card+`.querySelector('h2 a').href`))
	assert.Empty(t, chromium.Eval[string](tab, injected))

	// In a post, its author, and a circle.
	text, err := json.Marshal(markup)
	require.NoError(t, err)
	send(t, a, "u_1", "PUT", "/v1/authors/u_1", `{"name":`+string(text)+`,"bio":`+string(text)+`}`)
	send(t, a, "u_1", "PUT", "/v1/circles/c", `{"name":`+string(text)+`}`)
	readAs(tab, url, "u_1", "feed=following")
	tab.Until(selected + ` === 'tab-following' && ` + idle)
	tab.Click("#compose")
	chromium.Eval[any](tab, `document.querySelector('#composer [name=caption]').value = `+string(text)+` + '\njavascript:window.ran=1'`)
	tab.Attach("#composer input[type=file]", pictures(t, 1)...)
	tab.Until(`document.querySelector('#picked input')`)
	chromium.Eval[any](tab, `document.querySelector('#picked input').value = `+string(text))
	tab.Until(`document.querySelector('#composer .circles').textContent.includes('onerror')`)
	tab.Click("#composer .publish")
	const posted = `[...document.querySelectorAll('#items .card')].find((c) => c.querySelector('h2').textContent.includes('onerror') && c.querySelector('.author').textContent.includes('onerror') && c.querySelector('.picture').alt.includes('onerror'))`
	tab.Until(posted)
	assert.Empty(t, chromium.Eval[string](tab, injected))
	for _, open := range []string{posted + `.querySelector('h2 a').click()`, `document.querySelector('.post .by').click()`} {
		chromium.Eval[any](tab, open)
		tab.Until(`document.querySelector('#other h2')?.textContent.includes('onerror') && document.querySelector('#other .picture')`)
		assert.Empty(t, chromium.Eval[string](tab, injected))
	}

	tab.Go(url + "/console#/ranking")
	tab.Until(compared)
	tab.Until(`document.querySelector('#proposed').textContent.includes('onerror')`)
	tab.Until(`document.querySelector('#version').textContent.includes('by <img')`)
	assert.Empty(t, chromium.Eval[string](tab, injected))
	chromium.Eval[any](tab, `((i) => { i.value = '`+`<img src=x>`+`'; i.dispatchEvent(new Event('input')); })(document.querySelector('#text-scale'))`)
	assert.Empty(t, chromium.Eval[string](tab, injected))

	tab.Go(url + "/docs")
	tab.Go(url + "/console#/experiments")
	tab.Until(`document.querySelector('#versions')?.textContent.includes('onerror') && document.querySelector('#version').textContent.includes('by <img')`)
	assert.Empty(t, chromium.Eval[string](tab, injected))
	tab.Go(url + "/docs")
	tab.Go(url + "/console#/reader?agent=u_1&item=hostile")
	tab.Until(`document.querySelector('#verdict')?.textContent.includes('onerror') && document.querySelector('#declared').textContent.includes('onerror')`)
	assert.Empty(t, chromium.Eval[string](tab, injected))

	for _, page := range []string{"/", "/console", "/docs", "/assets/feed/feed.js"} {
		res, err := http.Get(url + page)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		policy := res.Header.Get("Content-Security-Policy")
		assert.Contains(t, policy, "default-src 'none'; script-src 'self';", page)
		assert.NotContains(t, policy, "unsafe", page)
	}
}

// TestFeedPageKeepsHidden changes the interests of a reader who has hidden items since the
// page loaded the profile. They must stay hidden.
func TestFeedPageKeepsHidden(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, url := serve(t)
	tab := chromium.Open(t, chromium.Desktop)
	p, err := a.Engine.Profile(t.Context(), "u_1")
	require.NoError(t, err)
	p.MutedItems = []string{"hidden-before"}
	require.NoError(t, a.Engine.PutProfile(t.Context(), "u_1", p))
	readAs(tab, url, "u_1")
	tab.Until(ids + `.length >= 20 && ` + idle)
	hidden := chromium.Eval[[]string](tab, ids)[0]
	tab.Click("#items .card .hide")
	tab.Until(`!` + ids + `.includes('` + hidden + `')`)
	before := chromium.Eval[int](tab, `document.querySelectorAll('#interests button').length`)
	tab.Click("#interests button")
	tab.Until(fmt.Sprintf(`document.querySelectorAll('#interests button').length < %d`, before))
	tab.Until(idle)
	p, err = a.Engine.Profile(t.Context(), "u_1")
	require.NoError(t, err)
	docs, err := a.Catalog.Docs(t.Context(), []string{hidden})
	require.NoError(t, err)
	group, _, err := docs[0].Head()
	require.NoError(t, err)
	want := append([]string{"hidden-before"}, feed.Keys([]feed.Ref{{ID: hidden, Group: group}})...)
	require.Equal(t, want, p.MutedItems)
}
