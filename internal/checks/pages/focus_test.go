package pages

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/internal/checks/chromium"
	"github.com/freshet/freshet/internal/testenv"
)

const (
	focused    = `document.activeElement`
	unfocused  = focused + ` === document.body`
	followers  = `document.querySelectorAll('.followers li')`
	addsAnyTag = `document.querySelector('#interests').lastElementChild`
)

// TestFeedPageFocusKept presses, by the keyboard, what loads, replaces or removes parts of the page.
// The focus must not fall back to the document: the next Tab would begin at the top of the page.
func TestFeedPageFocusKept(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, url := serve(t)
	tab := chromium.Open(t, chromium.Desktop)
	press := func(element, keys string) {
		t.Helper()
		tab.Until(element + `?.checkVisibility()`)
		chromium.Eval[any](tab, element+`.focus(), 0`)
		tab.Press(keys)
	}
	of := func(selector string) string { return `document.querySelector('` + selector + `')` }
	loaded := ids + `.length >= 20 && ` + idle
	readAs(tab, url, "u_1")
	tab.Until(loaded)

	t.Run("refresh", func(t *testing.T) {
		press(of("#refresh"), "\r")
		assert.False(t, chromium.Eval[bool](tab, unfocused), "while it loads")
		tab.Until(loaded)
		tab.Until(focused + `.id === 'refresh'`)
	})
	t.Run("refresh from a card", func(t *testing.T) {
		press(of("#items .card:nth-child(2) .like"), "r")
		tab.Until(loaded + ` && ` + focused + `.id === 'panel'`)
	})
	t.Run("like", func(t *testing.T) {
		like := of("#items .card:nth-child(3) .like")
		press(like, "\r")
		tab.Until(like + `.ariaPressed === 'true'`)
		tab.Until(focused + ` === ` + like)
	})
	t.Run("interests", func(t *testing.T) {
		press(addsAnyTag, "\r")
		tab.Press("rust\r")
		tab.Until(of("#interests") + `.textContent.includes('rust') && ` + loaded)
		tab.Until(focused + ` === ` + addsAnyTag)
		press(of("#interests button"), "\r")
		tab.Until(focused + ` === ` + of("#interests button") + ` && ` + loaded)
	})
	t.Run("badge", func(t *testing.T) {
		send(t, a, "u_1", "PUT", "/v1/agents/u_1/following/u_5", "")
		readAs(tab, url, "u_1", "feed=following")
		tab.Until(selected + ` === 'tab-following' && ` + idle)
		send(t, a, "u_5", "POST", "/v1/posts", `{"caption":"News"}`)
		press(of("#badge"), "\r")
		tab.Until(of("#badge") + `.hidden && ` + idle + ` && ` + focused + `.id === 'panel'`)
	})
	t.Run("followers", func(t *testing.T) {
		for i := range 60 {
			reader := fmt.Sprintf("fan_%02d", i)
			send(t, a, reader, "PUT", "/v1/agents/"+reader+"/following/u_5", "")
		}
		readAs(tab, url, "u_5", "author=u_5")
		press(of(".followers summary"), "\r")
		press(of(".followers .more"), "\r")
		tab.Until(followers + `.length > 50 && ` + of(".followers .more") + `.hidden`)
		tab.Until(focused + `.parentElement === ` + followers + `[50]`)
	})
	t.Run("delete", func(t *testing.T) {
		send(t, a, "u_5", "POST", "/v1/posts", `{"caption":"A mistake"}`)
		readAs(tab, url, "u_5", "feed=following")
		press(`[...document.querySelectorAll('#items h2 a')].find((link) => link.textContent === 'A mistake')`, "\r")
		press(of(".post > footer .delete"), "\r")
		press(of(".post > .sure .bad"), "\r")
		tab.Until(of("#feed-view") + `.checkVisibility() && ` + focused + `.id === 'panel'`)
	})
	t.Run("a guest says who they are", func(t *testing.T) {
		chromium.Eval[any](tab, `localStorage.removeItem('agent'), 0`)
		tab.Go(url)
		press(of("#guest input"), "u_2\r")
		tab.Until(loaded + ` && ` + selected + ` === 'tab-for_you'`)
		tab.Until(focused + `.id === 'panel'`)
	})
}
