package feed_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/feed"
)

func TestFilterRejects(t *testing.T) {
	t.Parallel()
	it := feed.Item{ID: "a", Title: "Text", Tags: []string{"Go", "new things"}, Lang: "de-AT", AuthorID: "ann", URL: "https://a.example/1"}
	several := feed.Item{ID: "b", AuthorID: "ann", AuthorIDs: []string{"ann", "bob"}, Langs: []string{"en", "fr"}}
	tags := func(tags ...string) feed.Conditions { return feed.Conditions{Tags: tags} }
	langs := func(langs ...string) feed.Conditions { return feed.Conditions{Langs: langs} }
	for name, tt := range map[string]struct {
		feed.Filter
		rejects, severalRejected bool
	}{
		"tag":                     {feed.Filter{All: tags("GO")}, false, true},
		"two tags":                {feed.Filter{All: tags("go", "rust")}, true, true},
		"one of two":              {feed.Filter{Any: tags("rust", "new  Things")}, false, true},
		"neither of two":          {feed.Filter{Any: tags("rust", "c")}, true, true},
		"not a tag":               {feed.Filter{None: tags("go")}, true, false},
		"language":                {feed.Filter{All: langs("de")}, false, true},
		"of another region":       {feed.Filter{All: langs("de-CH")}, true, true},
		"one of its languages":    {feed.Filter{Any: langs("French")}, true, false},
		"not a language":          {feed.Filter{None: langs("en")}, false, true},
		"one of its authors":      {feed.Filter{All: feed.Conditions{Authors: []string{"bob"}}}, true, false},
		"a site is not looked at": {feed.Filter{All: feed.Conditions{Sites: []string{"b.example"}}, None: feed.Conditions{Words: []string{"text"}}}, false, false},
		"nor if it is enough":     {feed.Filter{Any: feed.Conditions{Tags: []string{"rust"}, Words: []string{"text"}}}, false, false},
	} {
		assert.Equal(t, tt.rejects, tt.Rejects(&it), name)
		assert.Equal(t, tt.severalRejected, tt.Rejects(&several), name)
	}
	f := feed.Filter{All: tags("go"), Any: langs("de"), None: feed.Conditions{Authors: []string{"ann"}, Words: []string{"x"}}}
	assert.Equal(t, feed.Profile{MutedTags: []string{"go"}, Langs: []string{"de"}, MutedAuthors: []string{"ann"}}, f.AsMutes())
}
