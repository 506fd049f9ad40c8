package pages

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/checks/chromium"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server"
)

const welcomed = `document.querySelector('#welcome').checkVisibility()`

// newcomers creates readers with empty profiles, because a browser logs an error if there is none,
// and waits for suggestions.
func newcomers(t *testing.T, a *server.App, agents ...string) {
	t.Helper()
	for _, agent := range agents {
		require.NoError(t, a.Engine.PutProfile(t.Context(), agent, feed.Profile{}))
	}
	require.Eventually(t, func() bool {
		return strings.Contains(string(send(t, a, "newcomer", "GET", "/v1/agents/newcomer/suggestions", "")), `"author"`)
	}, time.Minute, 100*time.Millisecond)
}

// TestFeedPageWelcome selects two authors with the keyboard, who are followed by
// one call.
func TestFeedPageWelcome(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, url := serve(t)
	newcomers(t, a, "newcomer")
	tab := chromium.Open(t, chromium.Phone)
	readAs(tab, url, "newcomer")
	tab.Until(welcomed + ` && document.querySelectorAll('#welcome li').length >= 2 && ` + ids + `.length >= 20 && ` + idle)
	tab.Shot("welcome")
	chromium.Eval[any](tab, `document.documentElement.style.width = '320px'`)
	assert.LessOrEqual(t, chromium.Eval[int](tab, `document.querySelector('#welcome').scrollWidth`), 320)
	chromium.Eval[any](tab, `document.documentElement.style.width = ''`)
	for _, place := range []string{"1", "2"} {
		chromium.Eval[any](tab, `document.querySelector('#welcome li:nth-child(`+place+`) input').focus()`)
		tab.Press(" ")
	}
	chosen := chromium.Eval[[]string](tab, `[...document.querySelectorAll('#welcome :checked')].map((box) => box.value)`)
	require.Len(t, chosen, 2)
	tab.Click("#welcome .main")
	tab.Until(`!` + welcomed + ` && ` + ids + `.length > 0 && ` + idle)
	tab.Until(`document.activeElement.id === 'panel'`)
	followed, err := a.Social.Following(t.Context(), "newcomer", "", "", 10)
	require.NoError(t, err)
	assert.ElementsMatch(t, chosen, followed)
	choose(tab, "following")
	tab.Until(ids + `.length > 0`)

	readAs(tab, url, "newcomer")
	tab.Until(ids + `.length > 0 && ` + idle)
	assert.False(t, chromium.Eval[bool](tab, welcomed), "it is shown once")
}

// TestFeedPageWelcomeSkipped checks that the welcome view can be skipped, and that it is not shown
// to known readers.
func TestFeedPageWelcomeSkipped(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, url := serve(t)
	newcomers(t, a, "newcomer", "regular")
	firstPage(t, a, "regular", 3)
	tab := chromium.Open(t, chromium.Desktop)
	readAs(tab, url, "regular")
	tab.Until(ids + `.length >= 20 && ` + idle)
	assert.False(t, chromium.Eval[bool](tab, welcomed))

	readAs(tab, url, "newcomer")
	tab.Until(welcomed)
	tab.Click("#welcome .skip-it")
	tab.Until(`!` + welcomed)
	assert.GreaterOrEqual(t, len(chromium.Eval[[]string](tab, ids)), 20)
}
