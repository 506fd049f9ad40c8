package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/checks/chromium"
	"github.com/freshet/freshet/internal/testenv"
)

const (
	selected = `document.querySelector('[role=tab][aria-selected=true]').id`
	written  = `[...document.querySelectorAll('#items .card')].find((c) => c.textContent.includes('Low water at the weir'))`
)

// loaded selects the loaded pictures of the written post.
const loaded = `[...` + written + `.querySelectorAll('.picture')].filter((i) => i.complete && i.naturalWidth > 0)`

func pictures(t *testing.T, n int) (files []string) {
	t.Helper()
	for i := range n {
		img := image.NewRGBA(image.Rect(0, 0, 400, 300))
		draw.Draw(img, img.Bounds(), image.NewUniform(color.RGBA{40, 110, uint8(100 + 60*i), 255}), image.Point{}, draw.Src)
		var b bytes.Buffer
		require.NoError(t, png.Encode(&b, img))
		name := filepath.Join(t.TempDir(), fmt.Sprintf("picture-%d.png", i+1))
		require.NoError(t, os.WriteFile(name, b.Bytes(), 0o600))
		files = append(files, name)
	}
	return files
}

func choose(tab *chromium.Tab, name string) {
	tab.Click("#tab-" + name)
	tab.Until(selected + ` === 'tab-` + name + `' && document.querySelector('#items') && ` + idle)
}

// TestFeedPagePostAndRead uses the pages like a person on a phone: write, follow, like, hide,
// reload, and go back.
func TestFeedPagePostAndRead(t *testing.T) {
	t.Parallel()
	a, url := serve(t)
	require.NoError(t, a.Engine.PutProfile(t.Context(), "river_1", feed.Profile{}))
	tab := chromium.Open(t, chromium.Phone)
	tab.Go(url + "/")
	tab.Until(ids + `.length > 5`)
	assert.Equal(t, "Trending", chromium.Eval[string](tab, `document.querySelector('#tab-guest').textContent`))
	assert.False(t, chromium.Eval[bool](tab, `document.querySelector('#compose').checkVisibility()`), "a guest writes nothing")
	tab.Shot("guest")
	tab.Click("#guest input")
	tab.Press("river_1\r")
	tab.Until(ids + `.length >= 20 && ` + selected + ` === 'tab-for_you' && ` + idle)

	tab.Click("#compose")
	tab.Until(`document.activeElement.name === 'caption'`)
	tab.Press("Low water at the weir\nTwo herons, and a bicycle. #river")
	tab.Attach("#composer input[type=file]", pictures(t, 2)...)
	tab.Until(`[...document.querySelectorAll('#picked img')].filter((i) => i.complete && i.naturalWidth > 0).length === 2`)
	for i, alt := range []string{"Two herons", "A bicycle"} {
		tab.Click(fmt.Sprintf("#picked li:nth-child(%d) input", i+1))
		tab.Press(alt)
	}
	tab.Shot("composer")
	tab.Click("#composer .publish")
	tab.Until(selected + ` === 'tab-following' && ` + written)
	tab.Until(loaded + `.length === 2`)
	assert.Equal(t, []string{"Two herons", "A bicycle"}, chromium.Eval[[]string](tab, loaded+`.map((i) => i.alt)`))
	assert.Equal(t, "400 × 300", chromium.Eval[string](tab, loaded+`[0].getAttribute('width') + ' × ' + `+loaded+`[0].getAttribute('height')`), "nothing moves when it comes")
	tab.Shot("following")
	assert.Equal(t, "You have posted it", chromium.Eval[string](tab, written+`.querySelector('.reason').textContent`))
	assert.Equal(t, "river", chromium.Eval[string](tab, written+`.querySelector('.tags').textContent`))

	tab.Go(url + "/?author=ana.costa")
	tab.Until(`document.querySelectorAll('.grid li').length > 5`)
	tab.Click(".follow")
	tab.Until(`document.querySelector('.follow').getAttribute('aria-pressed') === 'true'`)
	tab.Shot("author")
	tab.Click(".back")
	tab.Until(selected + ` === 'tab-for_you'`)
	choose(tab, "following")
	tab.Until(ids + `.length > 1`)
	assert.Equal(t, []string{"ana.costa", "river_1"}, slices.Sorted(slices.Values(chromium.Eval[[]string](tab,
		`[...new Set([...document.querySelectorAll('#items .card .by')].map((a) => new URL(a.href).searchParams.get('author')))]`))))

	const other = `#items .card:nth-child(3)`
	tab.Click(other + " .like")
	tab.Until(`document.querySelector('` + other + ` .like').getAttribute('aria-pressed') === 'true'`)
	liked := chromium.Eval[[]string](tab, ids)[2]
	hidden := chromium.Eval[[]string](tab, ids)[1]
	tab.Click("#items .card:nth-child(2) .hide")
	tab.Until(`!` + ids + `.includes('` + hidden + `')`)

	tab.Reload()
	tab.Until(`document.readyState === 'complete' && ` + written)
	chromium.Eval[any](tab, `document.querySelector('#refresh').click()`)
	tab.Until(idle + ` && ` + ids + `.length > 1`)
	assert.NotContains(t, chromium.Eval[[]string](tab, ids), hidden)
	assert.Equal(t, "true", chromium.Eval[string](tab, `[...document.querySelectorAll('#items .card')].find((c) => c.dataset.id === '`+liked+`').querySelector('.like').getAttribute('aria-pressed')`))

	// The page of the post: its author edits and deletes it.
	chromium.Eval[any](tab, written+`.querySelector('h2 a').click()`)
	tab.Until(`document.querySelector('.post .edit')?.checkVisibility()`)
	tab.Click(".post .edit")
	chromium.Eval[any](tab, `document.querySelector('.editing').elements.caption.value = 'Low water at the weir, still'`)
	tab.Click(".editing .main")
	tab.Until(`document.querySelector('.post h2').textContent === 'Low water at the weir, still'`)
	tab.Shot("post")
	chromium.Eval[any](tab, `history.back()`)
	tab.Until(selected + ` === 'tab-following' && ` + written + `?.textContent.includes('still')`)
	chromium.Eval[any](tab, `history.forward()`)
	tab.Until(`document.querySelector('.post .delete')?.checkVisibility()`)
	tab.Click(".post .delete")
	tab.Click(".sure .bad")
	tab.Until(`document.querySelector('#feed-view').checkVisibility() && !` + written)
	// Fake the answer, because a browser logs a real 404 as an error.
	chromium.Eval[any](tab, `window.fetch = ((f) => async (path, o) => (path.startsWith('/v1/posts/post') ? new Response('{"code":40401,"msg":"not found","data":null}', { status: 404 }) : f(path, o)))(window.fetch)`)
	chromium.Eval[any](tab, `history.forward()`)
	tab.Until(`document.querySelector('#other').textContent.includes('nothing here')`)
	assert.Empty(t, chromium.Eval[string](tab, notSent))
}

// TestFeedPageBackRestoresPosition reads far down, opens a post, another page, goes back, and
// reloads: the items and the scroll position are the same.
func TestFeedPageBackRestoresPosition(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serve(t)
	for _, name := range []string{"for_you", "home", "following"} {
		t.Run(name, func(t *testing.T) {
			tab := chromium.Open(t, chromium.Phone)
			readAs(tab, url, "u_1", "feed="+name)
			tab.Until(ids + `.length >= 20 && ` + idle)
			readDown(tab, 60)
			const middle = `scrollTo(0, Math.floor(document.body.scrollHeight / 2)), scrollY`
			at := chromium.Eval[float64](tab, middle)
			before := chromium.Eval[[]string](tab, ids)
			require.Greater(t, at, 2000.0)
			chromium.Eval[any](tab, `window.asked = 0; window.fetch = ((f) => (...a) => { if (/feed$|timeline/.test(a[0]) && !String(a[1]?.body).includes('silent')) window.asked++; return f(...a); })(window.fetch)`)
			same := func(how string) {
				t.Helper()
				tab.Until(fmt.Sprintf(`document.querySelector('#feed-view')?.checkVisibility() && %s.length === %d && Math.abs(scrollY - %f) < 2`, ids, len(before), at))
				assert.Equal(t, before, chromium.Eval[[]string](tab, ids), how)
			}
			chromium.Eval[any](tab, `document.querySelectorAll('#items .card .by')[30].click()`)
			tab.Until(`document.querySelector('.who h2')`)
			chromium.Eval[any](tab, `history.back()`)
			same("back from an author")
			assert.Zero(t, chromium.Eval[int](tab, `window.asked`), "nothing is asked for again")
			chromium.Eval[any](tab, `location.href = '/docs'`)
			tab.Until(`location.pathname === '/docs' && document.querySelector('article')`)
			chromium.Eval[any](tab, `history.back()`)
			same("back from another page")
			tab.Reload()
			same("loaded again")
			chromium.Eval[any](tab, `document.querySelector('#refresh').click()`)
			tab.Until(idle + ` && scrollY === 0 && ` + ids + `.length >= 20`)
		})
	}
}

// TestFeedPageTabsKeyboard switches between the feeds like a user of a screen reader.
func TestFeedPageTabsKeyboard(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, url := serve(t)
	send(t, a, "u_1", "PUT", "/v1/agents/u_1/following/ann", "")
	tab := chromium.Open(t, chromium.Desktop)
	readAs(tab, url, "u_1", "badge=600000")
	tab.Until(ids + `.length >= 20 && ` + idle)
	chromium.Eval[any](tab, `document.querySelector('#tab-for_you').focus()`)
	tab.Press("\u0303") // right arrow
	tab.Until(selected + ` === 'tab-home' && document.activeElement.id === 'tab-home' && ` + ids + `.length >= 20 && ` + idle)
	assert.Equal(t, 1, chromium.Eval[int](tab, `[...document.querySelectorAll('[role=tab]')].filter((t) => t.tabIndex === 0).length`))
	assert.Equal(t, "tab-home", chromium.Eval[string](tab, `document.querySelector('[role=tabpanel]').getAttribute('aria-labelledby')`))
	assert.Regexp(t, `You follow|Liked|liked|Because|Chosen`, chromium.Eval[string](tab, `document.querySelector('#items .reason').textContent`))
	tab.Press("\u0303")
	tab.Until(selected + ` === 'tab-following' && ` + ids + `.length > 0 && ` + idle)

	// While another feed is shown the tab shows the number of new posts.
	tab.Press("\u0302") // left arrow
	tab.Until(selected + ` === 'tab-home'`)
	send(t, a, "ann", "POST", "/v1/posts", `{"caption":"Told at once"}`)
	tab.Until(`Number(document.querySelector('#tab-following .count').textContent) > 0`)
	chromium.Eval[any](tab, `history.back()`)
	tab.Until(selected + ` === 'tab-following' && document.querySelector('#badge').checkVisibility()`)
	assert.Equal(t, "status", chromium.Eval[string](tab, `document.querySelector('#badge').parentElement.getAttribute('role')`))
	tab.Shot("badge-following")
	tab.Click("#badge")
	tab.Until(`document.querySelector('#items').textContent.includes('Told at once') && document.querySelector('#badge').hidden`)

	// n opens the composer, j moves to a card.
	tab.Press("n")
	tab.Until(`document.querySelector('#composer').open`)
	tab.Press("\u001b")
	tab.Until(`!document.querySelector('#composer').open`)
	chromium.Eval[any](tab, `document.activeElement.blur()`)
	tab.Press("jj")
	tab.Until(`document.activeElement.closest('.card') === document.querySelectorAll('#items .card')[1]`)
}

// unfit selects controls that are less than 44 pixels high or have no name.
const unfit = `[...document.querySelectorAll('button, input, textarea, summary, .by, .back')].filter((e) => e.checkVisibility() && !['radio', 'file'].includes(e.type)).filter((e) => {
	const named = e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length;
	return e.getBoundingClientRect().height < 43.9 || !named;
}).map((e) => e.outerHTML.slice(0, 120))`

func TestFeedPageTouchTargets(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, url := serve(t)
	send(t, a, "u_1", "POST", "/v1/posts", `{"caption":"Mine"}`)
	tab := chromium.Open(t, chromium.Phone)
	readAs(tab, url, "u_1")
	tab.Until(ids + `.length >= 20 && ` + idle)
	tab.Click("#profile > summary")
	assert.Empty(t, chromium.Eval[[]string](tab, unfit))
	tab.Click("#compose")
	assert.Empty(t, chromium.Eval[[]string](tab, unfit))
	tab.Shot("composer")
	tab.Press("\u001b")
	tab.Click("#me")
	tab.Until(`document.querySelector('.grid a')`)
	assert.Empty(t, chromium.Eval[[]string](tab, unfit))
	tab.Click(".grid a")
	tab.Until(`document.querySelector('.post .edit')?.checkVisibility()`)
	tab.Click(".post .edit")
	assert.Empty(t, chromium.Eval[[]string](tab, unfit))
	assert.LessOrEqual(t, chromium.Eval[float64](tab, `document.documentElement.scrollWidth`), float64(chromium.Phone.Width), "nothing is cut off at the side")
}

// TestFeedPageLayoutShift scrolls down a feed: there must be no layout shifts.
func TestFeedPageLayoutShift(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serve(t)
	tab := chromium.Open(t, chromium.Phone)
	readAs(tab, url, "u_1", "feed=following")
	tab.Until(ids + `.length >= 20 && ` + idle)
	chromium.Eval[any](tab, `window.shifts = []; new PerformanceObserver((l) => window.shifts.push(...l.getEntries().map((e) => e.value))).observe({ type: 'layout-shift', buffered: true })`)
	tab.Until(`scrollBy(0, 400), ` + ids + `.length >= 60`)
	assert.Less(t, chromium.Eval[float64](tab, `window.shifts.reduce((a, b) => a + b, 0)`), 0.05)
	assert.Positive(t, chromium.Eval[int](tab, `[...document.querySelectorAll('.picture')].filter((i) => i.complete && i.naturalWidth > 0).length`), "posts of the demo have pictures")
}

// TestFeedPageCirclePost checks that a post for a circle is marked as such.
func TestFeedPageCirclePost(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, url := serve(t)
	send(t, a, "u_1", "PUT", "/v1/circles/rowers", `{"name":"Rowers","members":["u_2"]}`)
	tab := chromium.Open(t, chromium.Desktop)
	readAs(tab, url, "u_1")
	tab.Until(ids + `.length >= 20 && ` + idle)
	tab.Press("n")
	tab.Until(`document.activeElement.name === 'caption'`)
	tab.Press("Low water at the weir")
	tab.Click("#composer input[value=circles]")
	tab.Click("#composer .publish")
	tab.Until(`document.querySelector('#composer .said').textContent.includes('at least one')`)
	tab.Until(`document.querySelector('#composer .circles').textContent.includes('Rowers (1)')`)
	tab.Click("#composer input[value=rowers]")
	tab.Attach("#composer input[type=file]", pictures(t, 1)...)
	tab.Click("#composer .publish")
	tab.Until(written)
	assert.Contains(t, chromium.Eval[string](tab, written+`.querySelector('.meta').textContent`), "not public")
	var seen struct {
		Items []struct {
			Caption string
			InFeed  struct{ Reason string } `json:"in_feed"`
		}
	}
	require.NoError(t, json.Unmarshal(send(t, a, "u_2", "GET", "/v1/timeline?limit=1", ""), &seen))
	require.Len(t, seen.Items, 1)
	assert.Equal(t, "audience", seen.Items[0].InFeed.Reason)
	readAs(tab, url, "u_2", "feed=following")
	tab.Until(written)
	tab.Until(loaded + `.length === 1`)
	assert.Equal(t, "It is for a circle that you are in", chromium.Eval[string](tab, written+`.querySelector('.reason').textContent`))
}
