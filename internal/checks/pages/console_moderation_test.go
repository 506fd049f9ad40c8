package pages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/internal/checks/chromium"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server"
)

const (
	says     = `document.querySelector('#note').textContent`
	reported = `document.querySelector('#reports').textContent`
	logged   = `[...document.querySelectorAll('#log tbody tr')].map((r) => r.cells[2].textContent + ' ' + r.cells[3].textContent)`
	acts     = `[...document.querySelectorAll('#acts button')].map((b) => b.textContent)`
)

// decide presses the button of an action, once it can be pressed.
func decide(tab *chromium.Tab, action string) {
	tab.Until(fmt.Sprintf(`((b) => b && !b.matches(':disabled') && (b.click(), true))([...document.querySelectorAll('#acts button')].find((b) => b.textContent === %q))`, action))
}

// openReport opens a reported object by its name.
func openReport(tab *chromium.Tab, name string) {
	tab.Until(fmt.Sprintf(`((b) => b && (b.click(), true))([...document.querySelectorAll('#reports button')].find((b) => b.ariaLabel === %q))`, "Open "+name))
	tab.Until(fmt.Sprintf(`!document.querySelector('#object').hidden && document.querySelector('#object-title').textContent === %q`, name))
}

// reportedPost has an author publish a post with a picture for followers, with markup in every field, and two followers
// report it. It returns the post's id.
func reportedPost(t *testing.T, a *server.App, address string) string {
	t.Helper()
	for _, follower := range []string{"kim", "lee"} {
		send(t, a, follower, http.MethodPut, "/v1/agents/"+follower+"/following/bad", "")
	}
	file, err := os.ReadFile(pictures(t, 1)[0])
	require.NoError(t, err)
	c, err := client.New(address, client.WithAgent("bad"))
	require.NoError(t, err)
	post, err := c.CreatePost(t.Context(), client.NewPost{Caption: "Buy " + markup, Audience: &client.Audience{Followers: true}, Images: []client.NewImage{{Data: file, Alt: "alt " + markup}}})
	require.NoError(t, err)
	details, err := json.Marshal(strings.Repeat("the same ", 50) + markup)
	require.NoError(t, err)
	send(t, a, "kim", http.MethodPost, "/v1/posts/"+post.ID+"/report", `{"reason":"self_harm","details":`+string(details)+`}`)
	send(t, a, "lee", http.MethodPost, "/v1/posts/"+post.ID+"/report", `{"reason":"spam"}`)
	return post.ID
}

// sees returns the status of a reader's call for a post.
func sees(t *testing.T, a *server.App, reader, post string) int {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/posts/"+post, nil)
	r.Header.Set("X-Agent-ID", reader)
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, r)
	return w.Code
}

// TestConsoleModeration works through reports: looks at a post that only followers see, removes it with a reason, suspends
// its author, and undoes both.
func TestConsoleModeration(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, address := serveStill(t)
	post := reportedPost(t, a, address)
	tab := chromium.Open(t, chromium.Desktop)
	signIn(tab, address)
	tab.Go(address + "/console#/moderation")
	tab.Until(opened + ` && document.querySelectorAll('#reports tbody tr').length === 2`)
	assert.Regexp(t, `Post `+post+`2(spam 1, self harm 1|self harm 1, spam 1)`, chromium.Eval[string](tab, reported))
	openReport(tab, "Post "+post)
	tab.Until(`document.activeElement.id === 'object-title' && document.querySelector('.picture')?.naturalWidth > 0`)
	about := chromium.Eval[string](tab, `document.querySelector('#about').textContent`)
	assert.Contains(t, about, "Buy "+markup)
	assert.Contains(t, about, "Forfollowers")
	assert.Contains(t, about, "Stateshown")
	assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('.picture').alt`), "alt <img")
	assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#newest').textContent`), "the same the same")
	assert.Equal(t, []string{"Hold", "Remove", "Suspend the author", "Dismiss the reports"}, chromium.Eval[[]string](tab, acts))
	assert.Empty(t, chromium.Eval[string](tab, injected))
	assert.Contains(t, chromium.Eval[string](tab, `location.hash`), "kind=post&id="+url.QueryEscape(post))

	const reason = `document.querySelector('#decide').elements.reason`
	decide(tab, "Remove")
	tab.Until(`document.activeElement === ` + reason)
	assert.Equal(t, "Enter a reason: the author reads it.", chromium.Eval[string](tab, `document.querySelector('#decide-note').textContent`))
	assert.Equal(t, "true", chromium.Eval[string](tab, reason+`.getAttribute('aria-invalid')`))
	tab.Press("advertisement\r") // Enter decides nothing
	assert.Equal(t, 200, sees(t, a, "kim", post))
	decide(tab, "Remove")
	tab.Until(says + ` === 'Post ` + post + ` is removed.' && document.activeElement.id === 'reports-title'`)
	assert.False(t, chromium.Eval[bool](tab, `document.querySelector('#object').checkVisibility()`))
	assert.NotContains(t, chromium.Eval[string](tab, reported), post, "it is decided")
	assert.Equal(t, 404, sees(t, a, "kim", post))
	assert.Contains(t, string(send(t, a, "bad", http.MethodGet, "/v1/posts/"+post, "")), `"reason":"advertisement"`, "its author reads why")
	field(tab, "look", "state", "decided")
	tab.Until(reported + `.includes('` + post + `') && ` + reported + `.includes('remove, ')`)
	assert.Equal(t, "remove Post "+post, chromium.Eval[[]string](tab, logged)[0])
	assert.Contains(t, chromium.Eval[[]string](tab, logged), "read Post "+post)

	openReport(tab, "Post "+post)
	tab.Until(`document.querySelector('#about')?.textContent.includes('Stateremoved: advertisement')`)
	decide(tab, "Restore")
	tab.Until(says + ` === 'Post ` + post + ` is shown again.'`)
	assert.Equal(t, 200, sees(t, a, "kim", post))
	openReport(tab, "Post "+post)
	tab.Until(acts + `.includes('Suspend the author')`)
	field(tab, "decide", "reason", "advertisement")
	decide(tab, "Suspend the author")
	tab.Until(`document.activeElement.name === 'until' && document.querySelector('#decide-note').textContent === 'Enter a time in the future.'`)
	field(tab, "decide", "until", "2020-01-01T00:00")
	decide(tab, "Suspend the author")
	tab.Until(`document.activeElement.getAttribute('aria-invalid') === 'true'`)
	field(tab, "decide", "until", "2200-01-01T00:00")
	decide(tab, "Suspend the author")
	tab.Until(says + ` === 'Author bad is suspended.' && ` + acts + `.includes('End the suspension')`)
	assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#about').textContent`), "Suspendeduntil ")
	field(tab, "look", "kind", "author")
	field(tab, "look", "id", "bad")
	tab.Press("\r")
	tab.Until(`document.querySelector('#object-title').textContent === 'Author bad' && document.querySelector('#about').textContent.includes('Suspended')`)
	assert.Empty(t, chromium.Eval[string](tab, injected))
	decide(tab, "End the suspension")
	tab.Until(says + ` === 'Author bad is not suspended any more.'`)
	send(t, a, "bad", http.MethodPost, "/v1/posts", `{"caption":"Back"}`)

	field(tab, "look", "state", "open")
	tab.Until(reported + `.includes('Item doc_1')`)
	openReport(tab, "Item doc_1")
	tab.Until(acts + `.join() === 'Dismiss the reports' && document.querySelector('#about a')`)
	assert.False(t, chromium.Eval[bool](tab, `document.querySelector('#ends').checkVisibility()`))
	decide(tab, "Dismiss the reports")
	tab.Until(reported + `.includes('Nothing is reported.') && ` + says + ` === 'Item doc_1 stays as it is.'`)
	assert.Empty(t, chromium.Eval[string](tab, injected))

	// What was reported is deleted, and what does not exist is looked for.
	send(t, a, "bad", http.MethodDelete, "/v1/posts/"+post, "")
	tab.Expect("404")
	tab.Expect("400")
	for id, want := range map[string]string{post: `document.querySelector('#about').textContent.includes('does not exist any more')`, "post:é": says + `.startsWith('bad id')`} {
		field(tab, "look", "kind", "post")
		field(tab, "look", "id", id)
		tab.Press("\r")
		tab.Until(want)
	}
	tab.Go(address + "/docs")
	tab.Go(address + "/console#/moderation?kind=author&id=bad")
	tab.Until(opened + ` && document.querySelector('#object-title').textContent === 'Author bad'`)
	assert.Contains(t, chromium.Eval[string](tab, `document.querySelector('#about').textContent`), "Back")
}

// TestConsoleModerationWidths opens a reported post with long texts at every width, and loads earlier entries of the audit
// log by the keyboard.
func TestConsoleModerationWidths(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	a, address := serveStill(t)
	post := reportedPost(t, a, address)
	for range 25 {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/moderation/posts", nil)
		r.Header.Set("X-Admin-Token", adminToken)
		a.Handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	for _, screen := range widths() {
		tab := chromium.Open(t, screen)
		signIn(tab, address)
		tab.Go(address + "/console#/moderation?kind=post&id=" + url.QueryEscape(post))
		tab.Until(opened + ` && document.querySelector('.picture')?.naturalWidth > 0`)
		fits(t, tab, screen.Name)
		tab.Shot("moderation")
		assert.Contains(t, chromium.Eval[[]string](tab, logged), "list posts of all authors")
		before := len(chromium.Eval[[]string](tab, logged))
		require.Equal(t, 20, before)
		chromium.Eval[any](tab, `document.querySelector('#earlier').focus()`)
		tab.Press("\r")
		tab.Until(logged + `.length > 20 && (document.activeElement.id === 'earlier' || document.activeElement.matches('.scroll'))`)
	}
}
