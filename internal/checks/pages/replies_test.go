package pages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/checks/chromium"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server"
)

const (
	answers = `[...document.querySelectorAll('.replies li')]`
	texts   = answers + `.map((r) => r.querySelector('.summary').textContent)`
	replies = `document.querySelector('.replies h3')?.textContent`
)

func replied(t *testing.T, a *server.App, agent, to, caption string) string {
	t.Helper()
	return posted(t, a, agent, fmt.Sprintf(`{"caption":%q,"reply_to":%q}`, caption, to))
}

func posted(t *testing.T, a *server.App, agent, body string) string {
	t.Helper()
	var post struct{ ID string }
	require.NoError(t, json.Unmarshal(send(t, a, agent, http.MethodPost, "/v1/posts", body), &post))
	return post.ID
}

func postView(id string) string { return "post=" + url.QueryEscape(id) }

// TestFeedPageReplies has a person reply to a post and to a reply, also after a lost answer, and
// delete the replies.
func TestFeedPageReplies(t *testing.T) {
	t.Parallel()
	a, _ := serve(t)
	url := without(t, a, `window.plain = window.fetch; window.keys = []; window.lose = true;
		window.fetch = async (path, options) => {
			const answer = await plain(path, options);
			if (path !== '/v1/posts') return answer;
			keys.push(options.headers['Idempotency-Key']);
			if (lose) { lose = false; throw new TypeError('lost'); }
			return answer;
		};`)
	root := posted(t, a, "u_1", `{"caption":"Low water at the weir"}`)
	replied(t, a, "u_2", root, "How low?")
	tab := chromium.Open(t, chromium.Phone)
	readAs(tab, url, "u_1", "feed=following")
	tab.Until(written + `?.querySelector('.comments').textContent === '1 reply'`)
	chromium.Eval[any](tab, written+`.querySelector('.comments').click()`)
	tab.Until(texts + `.join() === 'How low?' && ` + replies + ` === 'Replies · 1'`)

	tab.Click(".write textarea")
	tab.Press("Down to the stones")
	tab.Click(".write .publish")
	tab.Until(`document.querySelector('.replies .said').textContent.startsWith('The server cannot be reached')`)
	tab.Click(".write .publish")
	tab.Until(texts + `.join() === 'How low?,Down to the stones' && ` + replies + ` === 'Replies · 2'`)
	assert.Equal(t, "", chromium.Eval[string](tab, `document.querySelector('.write textarea').value`))
	assert.Equal(t, 1, chromium.Eval[int](tab, `new Set(keys).size`), "it is published once")
	assert.True(t, chromium.Eval[bool](tab, answers+`[1] === document.activeElement`), "the reader is where they wrote")

	// Reply to a reply with the keyboard.
	chromium.Eval[any](tab, answers+`[0].querySelector('.respond').focus()`)
	tab.Press("\r")
	tab.Until(answers + `[0].contains(document.activeElement) && document.activeElement.labels[0].textContent.startsWith('Reply to Elias Thorn')`)
	tab.Press("I can stand in it")
	tab.Click(".replies li .publish")
	tab.Until(texts + `.length === 3 && ` + replies + ` === 'Replies · 3'`)
	assert.Equal(t, "In reply to Elias Thorn", chromium.Eval[string](tab, answers+`[2].querySelector('.answers').textContent`))
	assert.Equal(t, 2, chromium.Eval[int](tab, `new Set(keys).size`))
	tab.Shot("replies")

	chromium.Eval[any](tab, answers+`[0].querySelector('.like').click()`)
	tab.Until(answers + `[0].querySelector('.like').textContent === 'Liked · 1'`)
	assert.False(t, chromium.Eval[bool](tab, answers+`[0].querySelector('.delete').checkVisibility()`), "it is another's")
	chromium.Eval[any](tab, answers+`[1].querySelector('.delete').click()`)
	chromium.Eval[any](tab, answers+`[1].querySelector('.bad').click()`)
	tab.Until(texts + `.join() === 'How low?,I can stand in it' && ` + replies + ` === 'Replies · 2'`)

	// The page of a reply names the post it answers, and has a form.
	chromium.Eval[any](tab, answers+`[1].querySelector('.when').click()`)
	tab.Until(`document.querySelector('.post > .answers')?.textContent === 'In reply to Elias Thorn: How low? · All replies'`)
	assert.NotContains(t, chromium.Eval[string](tab, `document.querySelector('.post .meta').textContent`), "not public")
	tab.Click(".write textarea")
	tab.Press("Still")
	tab.Click(".write .publish")
	tab.Until(texts + `.join() === 'How low?,I can stand in it,Still'`)
	tab.Click("h1 a")
	tab.Until(ids + `.length > 0`)
	choose(tab, "following")
	tab.Until(written + `.querySelector('.comments').textContent === '2 replies'`)
}

// TestFeedPageManyReplies checks that replies come in pages. A reply written before the last
// page is loaded appears once.
func TestFeedPageManyReplies(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, url := serve(t)
	root := posted(t, a, "u_1", `{"caption":"Low water at the weir"}`)
	for i := range 45 {
		replied(t, a, "u_2", root, fmt.Sprint(i+1))
	}
	tab := chromium.Open(t, chromium.Desktop)
	readAs(tab, url, "u_3", postView(root))
	tab.Until(texts + `.length === 20`)
	tab.Click(".write textarea")
	tab.Press("46")
	tab.Click(".write .publish")
	for _, n := range []int{41, 46} {
		tab.Click(".replies .more")
		tab.Until(fmt.Sprintf(texts+`.length === %d`, n))
	}
	assert.True(t, chromium.Eval[bool](tab, texts+`.every((text, i) => text === String(i + 1))`), chromium.Eval[[]string](tab, texts))
	assert.False(t, chromium.Eval[bool](tab, `document.querySelector('.replies .more').checkVisibility()`))
}

func TestFeedPageReplyNotAllowed(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, url := serve(t)
	tab := chromium.Open(t, chromium.Desktop)
	for _, tt := range []struct{ agent, reply, want string }{
		{"u_2", "none", "Nobody may reply."},
		{"u_1", "none", "Nobody may reply."},
		{"u_2", "followers", "Only followers of its author may reply."},
		{"u_1", "followers", ""},
		{"u_2", "public", ""},
		{"", "public", "To reply, say who you are."},
	} {
		id := posted(t, a, "u_1", fmt.Sprintf(`{"caption":"Low water","reply":%q}`, tt.reply))
		readAs(tab, url, tt.agent, postView(id))
		tab.Until(`document.querySelector('.replies .none')?.textContent === 'No replies yet.'`)
		assert.Equal(t, tt.want, chromium.Eval[string](tab, `document.querySelector('.may-not').textContent`), tt)
		assert.Equal(t, tt.want == "", chromium.Eval[bool](tab, `document.querySelector('.write form').checkVisibility()`), tt)
	}
}
