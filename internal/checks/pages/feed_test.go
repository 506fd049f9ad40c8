package pages

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/checks/chromium"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
)

const (
	ids     = `[...document.querySelectorAll('#items .card')].map((c) => c.dataset.id)`
	idle    = `document.querySelector('#refresh').ariaDisabled !== 'true'`
	notSent = `document.body.dataset.repeated ?? ''`
)

func TestFeedPageScrollRepeatsNothing(t *testing.T) {
	t.Parallel()
	for _, screen := range chromium.Screens() {
		t.Run(screen.Name, func(t *testing.T) {
			_, url := serve(t)
			tab := chromium.Open(t, screen)
			readAs(tab, url, "u_1")
			tab.Until(ids + `.length >= 20 && ` + idle)
			tab.Until(`[...document.querySelectorAll('.why')].some((w) => w.textContent.includes('decay'))`)
			tab.Shot("feed")
			for pages := 2; pages <= 8; pages++ {
				readDown(tab, 20*pages)
			}
			all := chromium.Eval[[]string](tab, ids)
			first := map[string]bool{}
			for _, id := range all {
				assert.False(t, first[id], "%s is there twice", id)
				first[id] = true
			}
			tab.Until(idle)
			tab.Press("r")
			tab.Until(ids + `.length >= 20 && ` + ids + `.length < ` + fmt.Sprint(len(all)) + ` && ` + idle)
			for _, id := range chromium.Eval[[]string](tab, ids) {
				assert.False(t, first[id], "%s came again with a refresh", id)
			}
			assert.Empty(t, chromium.Eval[string](tab, notSent))
			assert.LessOrEqual(t, chromium.Eval[float64](tab, `document.documentElement.scrollWidth`), float64(screen.Width), "nothing is cut off at the side")
		})
	}
}

// TestFeedPagePosts has a post that matches the reader best.
func TestFeedPagePosts(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, url := serve(t)
	send(t, a, "ann", "POST", "/v1/posts", `{"caption":"A post of mine\nwith more to it","tags":["go","databases","distributed-systems","performance"]}`)
	find := func() bool {
		x, err := a.Engine.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Limit: 20})
		return err == nil && slices.ContainsFunc(x.Candidates[:20], func(c api.Explained) bool { return feed.IsPost(c.ID) && c.Title == "A post of mine" })
	}
	require.Eventually(t, find, 30*time.Second, 20*time.Millisecond, "it is not recalled")
	tab := chromium.Open(t, chromium.Desktop)
	readAs(tab, url, "u_1")
	tab.Until(ids + `.length >= 20 && ` + idle)
	const card = `[...document.querySelectorAll('#items .card')].find((c) => c.dataset.id.startsWith('post:') && c.textContent.includes('A post of mine'))`
	tab.Until(card)
	text := chromium.Eval[string](tab, card+`.textContent`)
	assert.Contains(t, text, "with more to it")
	assert.Contains(t, text, "ann")
	assert.Regexp(t, `\d+ ?(s|m|min).* ago`, text)

	id := chromium.Eval[string](tab, card+`.dataset.id`)
	chromium.Eval[any](tab, card+`.querySelector('.like').click()`)
	tab.Until(card + `.querySelector('.like').getAttribute('aria-pressed') === 'true'`)
	cards, err := a.Social.Cards(t.Context(), "u_1", []social.PostVersion{{ID: id}})
	require.NoError(t, err)
	assert.True(t, cards[0].HasLiked)
	assert.EqualValues(t, 1, cards[0].Likes)
}

func TestFeedPageBadge(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, url := serve(t)
	tab := chromium.Open(t, chromium.Desktop)
	readAs(tab, url, "u_1", "badge=300")
	tab.Until(ids + `.length >= 20 && ` + idle)
	ingest(t, a, "breaking", "go", "databases")
	tab.Until(`!document.querySelector('#badge').hidden`)
	tab.Shot("badge")
	assert.Regexp(t, `^\d+ new$`, chromium.Eval[string](tab, `document.querySelector('#badge').textContent`))
	tab.Click("#badge")
	tab.Until(ids + `.includes('breaking')`)
	tab.Until(`document.querySelector('#badge').hidden`)
}

// The page does not poll in this test, but a stream tells it of a post by an author whom the
// reader follows.
func TestFeedPageStream(t *testing.T) {
	t.Parallel()
	a, url := serve(t)
	send(t, a, "u_1", "PUT", "/v1/agents/u_1/following/ann", "")
	tab := chromium.Open(t, chromium.Desktop)
	readAs(tab, url, "u_1", "badge=600000")
	tab.Until(ids + `.length >= 20 && ` + idle)
	// For a reader with an empty timeline a stream reports only posts created while it is open, and
	// the test cannot see when that is.
	for n := 0; chromium.Eval[bool](tab, `document.querySelector('#badge').hidden`); n++ {
		require.Less(t, n, 60, "no badge")
		send(t, a, "ann", "POST", "/v1/posts", fmt.Sprintf(`{"caption":"Told at once, %d","tags":["go","databases","distributed-systems","performance"]}`, n))
		time.Sleep(time.Second)
	}
}

func TestFeedPageLikeHideSwitchReader(t *testing.T) {
	t.Parallel()
	_, url := serve(t)
	tab := chromium.Open(t, chromium.Phone)
	readAs(tab, url, "u_1")
	tab.Until(ids + `.length >= 20 && ` + idle)

	tab.Click("#items .card .like")
	tab.Until(`document.querySelector('#items .like').getAttribute('aria-pressed') === 'true'`)
	hidden := chromium.Eval[[]string](tab, ids)[1]
	tab.Click("#items .card:nth-child(2) .hide")
	tab.Until(`!` + ids + `.includes('` + hidden + `')`)
	require.Empty(t, chromium.Eval[string](tab, `document.querySelector('#note.error')?.textContent ?? ''`))

	// u_2 has other interests and its own impressions.
	chromium.Eval[any](tab, `(() => { const a = document.querySelector('#agent'); a.value = 'u_2'; a.dispatchEvent(new Event('change')); })()`)
	tab.Until(`document.querySelector('#interests').textContent.includes('climate')`)
	tab.Until(ids + `.length >= 20 && ` + idle)

	// A new interest of high weight changes the next page.
	tab.Click("#profile > summary")
	tab.Click("#interests button:last-child")
	tab.Click("#interest input[name=tag]")
	tab.Press("football")
	chromium.Eval[any](tab, `document.querySelector('#interest input[name=weight]').value = 100`)
	tab.Click("#interest button")
	tab.Until(`document.querySelector('#interests').textContent.includes('football')`)
	tab.Until(`document.querySelector('#items .card .tags').textContent.includes('football')`)
	assert.Empty(t, chromium.Eval[string](tab, notSent))
}

// TestFeedPageServerDown scrolls down a list and a profile whose next page cannot
// be loaded.
func TestFeedPageServerDown(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serve(t)
	tab := chromium.Open(t, chromium.Phone)
	const away = `window.asked = 0; window.plain ??= window.fetch; window.fetch = async (path, o) => { if (/timeline|posts\?/.test(path)) { window.asked++; throw new TypeError('away'); } return plain(path, o); }`
	const stuck = `document.querySelector('#again').checkVisibility() && document.querySelector('#note.error')?.textContent.startsWith('The server cannot be reached.')`
	for where, entries := range map[string]string{"feed=following": `#items .card`, "author=ana.costa": `.grid li`} {
		shown := `document.querySelectorAll('` + entries + `').length`
		readAs(tab, url, "u_1", where)
		tab.Until(shown + ` >= 20`)
		before := chromium.Eval[int](tab, away+`, `+shown)
		tab.Until(`scrollTo(0, document.body.scrollHeight), ` + stuck)
		for _, to := range []string{"0", "document.body.scrollHeight"} {
			chromium.Eval[any](tab, `new Promise((r) => { scrollTo(0, `+to+`); requestAnimationFrame(() => requestAnimationFrame(r)); })`)
		}
		tab.Until(stuck)
		assert.Equal(t, []int{1, before}, chromium.Eval[[]int](tab, `[window.asked, `+shown+`]`), where)
		chromium.Eval[any](tab, `window.fetch = window.plain`)
		tab.Click("#again")
		tab.Until(fmt.Sprintf(`%s > %d && !document.querySelector('#again').checkVisibility()`, shown, before))
	}

	readAs(tab, url, "u_1", "author=u_1")
	tab.Until(`document.querySelector('.people')?.checkVisibility()`)
	chromium.Eval[any](tab, `window.plain = window.fetch, window.fetch = async () => { throw new TypeError('away'); }`)
	tab.Click(".people summary")
	tab.Until(`document.querySelector('#note.error')?.textContent.startsWith('The server cannot be reached.')`)
	chromium.Eval[any](tab, `window.fetch = window.plain`)
	tab.Click(".people summary")
	tab.Click(".people summary")
	tab.Until(`document.querySelector('.people li, .people p')`)
}

func TestFeedPagePullToRefresh(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serve(t)
	tab := chromium.Open(t, chromium.Phone)
	readAs(tab, url, "u_1")
	tab.Until(ids + `.length >= 20 && ` + idle)
	before := chromium.Eval[[]string](tab, ids)
	pull := func(px int) {
		chromium.Eval[any](tab, fmt.Sprintf(`(() => {
			const send = (type, y) => {
				const touch = new Touch({ identifier: 1, target: document.body, clientX: 100, clientY: y });
				document.body.dispatchEvent(new TouchEvent(type, { bubbles: true, touches: type === 'touchend' ? [] : [touch], changedTouches: [touch] }));
			};
			scrollTo(0, 0);
			send('touchstart', 100);
			send('touchmove', 100 + %d);
			send('touchend', 100 + %d);
		})()`, px, px))
	}
	pull(60)
	assert.True(t, chromium.Eval[bool](tab, idle), "a short pull is none")
	assert.Equal(t, before, chromium.Eval[[]string](tab, ids))
	pull(200)
	tab.Until(ids + `[0] !== '` + before[0] + `' && ` + ids + `.length >= 20 && ` + idle)
	for _, id := range chromium.Eval[[]string](tab, ids) {
		assert.NotContains(t, before, id)
	}
}

// TestFeedPageActFeedback likes and hides items, and checks the next refresh.
func TestFeedPageActFeedback(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serve(t)
	tab := chromium.Open(t, chromium.Phone)
	readAs(tab, url, "u_1")
	tab.Until(ids + `.length >= 20 && ` + idle + ` && document.querySelector('#interests .keyword')`)
	hidden := chromium.Eval[[]string](tab, ids)[1]
	tab.Click("#items .card:nth-child(1) .like")
	tab.Until(`document.querySelector('#items .like').getAttribute('aria-pressed') === 'true'`)
	tab.Click("#items .card:nth-child(2) .hide")
	tab.Until(`document.querySelector('#note').textContent.startsWith('Hidden') && !` + ids + `.includes('` + hidden + `')`)
	tab.Click("#refresh")
	tab.Until(`document.querySelector('#note').textContent.includes('1 liked, 1 hidden') && ` + idle)
	assert.NotContains(t, chromium.Eval[[]string](tab, ids), hidden)
	assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('.chip.liked')?.textContent ?? ''`), "as liked: ")
	tab.Shot("feed-acts")
	assert.LessOrEqual(t, chromium.Eval[float64](tab, `document.documentElement.scrollWidth`), float64(chromium.Phone.Width))
	tab.Click("#profile > summary")
	tab.Click("#interests .keyword") // one of two
	tab.Until(`document.querySelectorAll('#interests .keyword').length === 1 && ` + idle)
}

// TestFeedPageLearned gives the page an answer of a server that learns.
func TestFeedPageLearned(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serve(t)
	tab := chromium.Open(t, chromium.Desktop)
	readAs(tab, url, "u_1")
	tab.Until(ids + `.length >= 20 && ` + idle)
	chromium.Eval[any](tab, `(async () => {
		const { learnedChips } = await import('/assets/feed/learned.js');
		const chips = learnedChips([{ kind: 'tag', value: 'go', score: 0.05, clicks: 6, likes: 1 }, { kind: 'author', value: 'ann', factor: 0.8, hides: 1 }, { kind: 'word', value: 'off' }]);
		document.body.dataset.probe = chips.map((c) => c.textContent + ' | ' + c.title).join('; ');
	})()`)
	tab.Until(`document.body.dataset.probe`)
	assert.Equal(t, "tag go +0.05 | 6 clicks, 1 like; author ann × 0.8 | 1 hide; word off | ", chromium.Eval[string](tab, `document.body.dataset.probe`))
}

// TestFeedPageMarksUnscoredItems reads a small catalog to its end, and beyond.
func TestFeedPageMarksUnscoredItems(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	cfg := configs.Default()
	cfg.Ranking.Explore.Share, cfg.Dedup.WhenExhausted = 1, configs.ExhaustedOldest
	cfg.Auth.AdminToken = "a-token-for-tests"
	a, url := serveWith(t, cfg)
	require.NoError(t, a.Engine.PutProfile(t.Context(), "u_1", feed.Profile{Interests: map[string]float64{"go": 1}}))
	for i := range 40 {
		ingest(t, a, fmt.Sprintf("item-%d", i))
	}
	tab := chromium.Open(t, chromium.Phone)
	tab.Go(url + "/docs") // to sign in before the page is refused
	chromium.Eval[any](tab, `sessionStorage.setItem('token', 'a-token-for-tests')`)
	readAs(tab, url, "u_1")
	marks := func(card string) string {
		return chromium.Eval[string](tab, `[...document.querySelectorAll('#items .card`+card+` .mark')].map((m) => m.textContent).join(', ')`)
	}
	readDown(tab, 40)
	assert.Empty(t, marks(":nth-child(-n+5)"), "the first five go by score")
	assert.Equal(t, "exploration", marks(":nth-child(6)"))
	assert.NotContains(t, marks(""), "shown before")
	// It is shown again once it is certainly in a filter.
	tab.Until(`document.querySelector('#items .card:nth-child(1) .mark') || (` + idle + ` && document.querySelector('#refresh').click())`)
	assert.Equal(t, "shown before", marks(":nth-child(1)"))
	tab.Shot("feed-marks")
}
