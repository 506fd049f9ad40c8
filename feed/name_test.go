package feed_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

func TestFeedNames(t *testing.T) {
	t.Parallel()
	for _, good := range []feed.Name{"", "for_you", "home", "tag:go", "tag:C++ & co", "tag:Çay", "lang:de", "lang:pt-BR", "lang:German", "weekend", "a_b-9"} {
		require.NoError(t, good.Check(), good)
	}
	for bad, says := range map[feed.Name]string{
		"Weekend": "send for_you, home, tag:", "a b": "of a-z 0-9 _ -", "named": "has another meaning", "guest": "has another meaning", "tag": "has another meaning",
		"tag:": "is not a tag", "lang:": "is not a language", "tag:a\nb": "without control characters",
		feed.Name("tag:" + strings.Repeat("x", 129)): "at most 128 bytes", feed.Name(strings.Repeat("x", 65)): "1 to 64 characters",
	} {
		err := bad.Check()
		require.ErrorIs(t, err, feed.ErrInvalid, bad)
		require.ErrorContains(t, err, says, bad)
	}
	for name, want := range map[feed.Name]string{"": "for_you", "home": "home", "tag:x": "tag", "lang:x": "lang", "x": "stored"} {
		assert.Equal(t, want, name.Kind(), name)
		assert.Equal(t, want != "for_you" && want != "home", name.Named(), name)
		assert.NotContains(t, name.Others(), name)
	}
}

func TestFeedScopes(t *testing.T) {
	t.Parallel()
	assert.Empty(t, feed.ForYou.Scope()+feed.HomeFeed.Scope()+feed.Name("").Scope())
	assert.Equal(t, feed.Name("tag:Go").Scope(), feed.Name("tag:go").Scope(), "spellings of a tag")
	for _, same := range []feed.Name{"lang:DE", "lang:deu", "lang:German", "lang:Deutsch", "lang:de-Latn"} {
		assert.Equal(t, feed.Name("lang:de").Scope(), same.Scope(), same)
	}
	assert.NotEqual(t, feed.Name("lang:de").Scope(), feed.Name("lang:de-AT").Scope(), "it has fewer items")
	scopes := map[string]feed.Name{}
	for _, name := range []feed.Name{"tag:go", "lang:go", "go", "tag:rust", "lang:de"} {
		scope := name.Scope()
		assert.Regexp(t, regexp.MustCompile(`^N[A-Z2-7]{11}$`), scope)
		assert.Empty(t, scopes[scope])
		scopes[scope] = name
	}
	assert.Equal(t, "NPPIMQMKBYKX", feed.Name("tag:go").Scope(), "it must not change: what was shown is recorded by it")
}

func TestScopedRefs(t *testing.T) {
	t.Parallel()
	scope := feed.Name("tag:go").Scope()
	for _, r := range []feed.Ref{
		{ID: "a", Group: "a", Scope: scope}, {ID: "a", Group: "g", Scope: scope, ShownBefore: true}, {ID: "a", Group: "g", Scope: scope, Source: feed.SourceExplore},
	} {
		assert.Equal(t, r, feed.ParseRef(r.String()), r.String())
		assert.True(t, r.Marked())
		assert.Equal(t, []feed.Ref{r}, feed.Detached([]feed.Ref{r}))
	}
	r := feed.Ref{ID: "a", Group: "g", Scope: scope}
	within := []string{"~" + scope + "~g", "~" + scope + "~a"}
	keys, n := r.AppendTakenKeys(nil)
	assert.Equal(t, append(slices.Clone(within), "g", "a"), keys)
	assert.Equal(t, 4, n)
	assert.Equal(t, append(append([]string{"g", "a"}, within...), "~N~g"), feed.ClaimKeys([]feed.Ref{r}))
	r.ShownBefore = true
	keys, n = r.AppendTakenKeys([]string{"before"})
	assert.Equal(t, append([]string{"before"}, within...), keys)
	assert.Equal(t, 2, n)
}
