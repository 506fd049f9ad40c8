package pages

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/checks/chromium"
	"github.com/freshet/freshet/internal/testenv"
)

const secret = "a secret of thirty-two bytes, more"

func token(payload string) string {
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"HS256"}`)) + "." + encode([]byte(payload))
	sum := hmac.New(sha256.New, []byte(secret))
	sum.Write([]byte(text))
	return text + "." + encode(sum.Sum(nil))
}

func TestFeedPageTokenPrompt(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	cfg := configs.Default()
	cfg.Auth.Mode, cfg.Auth.JWT.Secret = configs.ModeJWT, secret
	a, url := serveWith(t, cfg)
	tab := chromium.Open(t, chromium.Phone)
	readAs(tab, url, "u_1")
	tab.Until(`document.querySelector('#sign-in').checkVisibility()`)
	for _, hidden := range []string{"#guest", ".as", "#sign-out", "#me"} {
		assert.False(t, chromium.Eval[bool](tab, `document.querySelector('`+hidden+`').checkVisibility()`), hidden)
	}
	for subject, agent := range map[string]string{"ana": "ana", "auth0|5f7c": must(t, "auth0|5f7c"), "Zoë": must(t, "Zoë")} {
		require.NoError(t, a.Engine.PutProfile(t.Context(), agent, feed.Profile{Interests: map[string]float64{"go": 1}}))
		tab.Click("#sign-in input")
		tab.Press(token(`{"sub":"` + subject + `","exp":4102444800}`))
		tab.Click("#sign-in button")
		tab.Until(`localStorage.getItem('agent') === '` + agent + `' && ` + selected + ` === 'tab-for_you' && ` + idle)
		tab.Until(`[...document.querySelectorAll('#interests *')].some((e) => e.textContent.includes('go'))`)
		assert.Empty(t, chromium.Eval[string](tab, `document.querySelector('#note').textContent`))
		tab.Reload()
		tab.Until(`document.querySelector('#sign-out')?.checkVisibility()`)
		tab.Click("#sign-out")
		tab.Until(`document.querySelector('#sign-in').checkVisibility()`)
	}
	tab.Click("#sign-in input")
	tab.Press("no token\r")
	tab.Until(`document.querySelector('#note.error')?.textContent.startsWith('This is not a token')`)
}

func must(t *testing.T, subject string) string {
	t.Helper()
	agent, err := feed.AgentOf(subject)
	require.NoError(t, err)
	return agent
}

// TestFeedPageDemoReaders checks that other servers do not suggest the demo's readers,
// who do not exist there.
func TestFeedPageDemoReaders(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, demo := serve(t)
	_, other := serveWith(t, configs.Default())
	for url, want := range map[string]string{demo: "u_1 u_2 u_3 u_4 u_5 u_6 u_7 u_8", other: ""} {
		tab := chromium.Open(t, chromium.Desktop)
		tab.Go(url + "/")
		tab.Until(`document.querySelector('#guest').checkVisibility()`)
		assert.Equal(t, want, chromium.Eval[string](tab, `[...document.querySelectorAll('#agents option')].map((o) => o.value).join(' ')`))
		assert.Equal(t, strings.Split(want, " ")[0], chromium.Eval[string](tab, `document.querySelector('#guest input').placeholder`))
	}
}

// TestFeedPageBlockAndUnblock blocks and unblocks on the author's page, and checks the reader's
// own list of blocked authors.
func TestFeedPageBlockAndUnblock(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	_, url := serve(t)
	tab := chromium.Open(t, chromium.Phone)
	readAs(tab, url, "u_2", "author=ana.costa")
	tab.Until(`document.querySelectorAll('.grid li').length > 5`)
	tab.Click(".block")
	tab.Until(`document.querySelector('.block')?.textContent === 'Unblock' && document.querySelectorAll('.grid li').length === 0`)
	assert.False(t, chromium.Eval[bool](tab, `document.querySelector('.follow').checkVisibility()`))
	tab.Shot("blocked")
	readAs(tab, url, "u_2", "author=u_2")
	tab.Click(".blocked summary")
	tab.Until(`document.querySelector('.blocked li')?.textContent.includes('ana.costa')`)
	tab.Click(".blocked li a")
	tab.Until(`document.querySelector('.block')?.textContent === 'Unblock'`)
	tab.Click(".block")
	tab.Until(`document.querySelectorAll('.grid li').length > 5 && document.querySelector('.block').textContent === 'Block'`)
}
