package web_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv/chromium"
)

const (
	ids     = `[...document.querySelectorAll('#items .card')].map((c) => c.dataset.id)`
	idle    = `document.querySelector('#refresh').disabled === false`
	notSent = `document.body.dataset.repeated ?? ''`
)

func TestFeedPageScrollsWithoutRepeating(t *testing.T) {
	for _, screen := range []chromium.Screen{chromium.Phone, chromium.Desktop} {
		t.Run(screen.Name, func(t *testing.T) {
			_, url := serve(t)
			tab := chromium.Open(t, screen)
			tab.Go(url + "/")
			tab.Until(ids + `.length >= 20 && ` + idle)
			tab.Until(`[...document.querySelectorAll('.why')].some((w) => w.textContent.includes('decay'))`)
			tab.Shot("feed")
			for pages := 2; pages <= 8; pages++ {
				tab.Until(fmt.Sprintf(`scrollTo(0, document.body.scrollHeight), %s.length >= %d`, ids, 20*pages))
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

func TestFeedPageShowsABadgeForWhatIsNew(t *testing.T) {
	a, url := serve(t)
	tab := chromium.Open(t, chromium.Desktop)
	tab.Go(url + "/?badge=300")
	tab.Until(ids + `.length >= 20 && ` + idle)
	ingest(t, a, "breaking", "go", "databases")
	tab.Until(`!document.querySelector('#badge').hidden`)
	tab.Shot("badge")
	assert.Regexp(t, `^\d+ new$`, chromium.Eval[string](tab, `document.querySelector('#badge').textContent`))
	tab.Click("#badge")
	tab.Until(ids + `.includes('breaking')`)
	tab.Until(`document.querySelector('#badge').hidden`)
}

func TestFeedPageLikesHidesAndChangesReaders(t *testing.T) {
	_, url := serve(t)
	tab := chromium.Open(t, chromium.Phone)
	tab.Go(url + "/")
	tab.Until(ids + `.length >= 20 && ` + idle)

	tab.Click("#items .card .like")
	tab.Until(`document.querySelector('#items .like').getAttribute('aria-pressed') === 'true'`)
	hidden := chromium.Eval[[]string](tab, ids)[1]
	tab.Click("#items .card:nth-child(2) .hide")
	tab.Until(`!` + ids + `.includes('` + hidden + `')`)
	require.Empty(t, chromium.Eval[string](tab, `document.querySelector('#note.error')?.textContent ?? ''`))

	// u_2 likes other things, and has its own memory.
	chromium.Eval[any](tab, `(() => { const a = document.querySelector('#agent'); a.value = 'u_2'; a.dispatchEvent(new Event('change')); })()`)
	tab.Until(`document.querySelector('#interests').textContent.includes('climate')`)
	tab.Until(ids + `.length >= 20 && ` + idle)

	// A new interest of great weight changes the next page.
	tab.Click("#interests button:last-child")
	tab.Click("#interest input[name=tag]")
	tab.Press("football")
	chromium.Eval[any](tab, `document.querySelector('#interest input[name=weight]').value = 100`)
	tab.Click("#interest button")
	tab.Until(`document.querySelector('#interests').textContent.includes('football')`)
	tab.Until(`document.querySelector('#items .card .tags').textContent.includes('football')`)
	assert.Empty(t, chromium.Eval[string](tab, notSent))
}

func TestFeedPageIsPulledToRefresh(t *testing.T) {
	_, url := serve(t)
	tab := chromium.Open(t, chromium.Phone)
	tab.Go(url + "/")
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
