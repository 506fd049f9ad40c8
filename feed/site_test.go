package feed_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

func TestSite(t *testing.T) {
	t.Parallel()
	for link, want := range map[string]string{
		"": "", "no link": "", "/path": "", "mailto:a@example.com": "", "http://%zz": "",
		"https://www.Example.com/a":  "example.com",
		"HTTP://example.com:8080/":   "example.com",
		"https://user@example.com./": "example.com",
		"https://www.www.com":        "www.com",
		"https://blog.example.com":   "blog.example.com",
		"//cdn.example.com/x":        "cdn.example.com",
		" https://example.com/a\n":   "example.com",
		"https://bücher.example/a":   "bücher.example",
		"http://[2001:DB8::1]:80/":   "2001:db8::1",
	} {
		assert.Equal(t, want, feed.Site(link), link)
	}
}

func TestCanonicalURL(t *testing.T) {
	t.Parallel()
	const page = "https://example.com/a/B"
	for link, want := range map[string]string{
		page:                                       page,
		"HTTP://WWW.Example.com:80/a/B/":           page,
		" https://example.com:443/a/B#part ":       page,
		"https://example.com/a/B?utm_source=x":     page,
		"https://example.com/a/B/?fbclid=1&gclid=": page,
		"https://example.com/a/B?UTM_Medium=x&":    page,
		"https://me:pw@example.com/a/B":            page,
		"https://example.com":                      "https://example.com",
		"https://example.com/?":                    "https://example.com",
		"https://example.com:8443/":                "https://example.com:8443",
		"https://example.com/?b=2&utm_term=q&a=1":  "https://example.com?a=1&b=2",
		"https://example.com/?t=2&t=1":             "https://example.com?t=2&t=1",
		"https://example.com/x?q=%C3%A9&z":         "https://example.com/x?q=%C3%A9&z",
		"https://example.com/a%2Fb":                "https://example.com/a%2Fb",
		"http://[::1]:8080/x":                      "https://[::1]:8080/x",
		"ftp://example.com/a":                      "", "": "", "example.com/a": "", "https:///a": "", "http://%zz": "",
	} {
		assert.Equal(t, want, feed.CanonicalURL(link), link)
		if want != "" {
			assert.Equal(t, want, feed.CanonicalURL(want), "it is stable")
		}
	}
}

func TestURLGroup(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "https://example.com/a", feed.URLGroup("http://www.example.com/a/?utm_source=b"))
	assert.Equal(t, "url:ce636969708e0de957fe3066f2bbe93d", feed.URLGroup("https://example.com/?id=1"), "it is the same for ever")
	assert.Empty(t, feed.URLGroup("example.com"))
	for _, link := range []string{"https://example.com/?id=1", "https://example.com/" + strings.Repeat("a", 300), "https://例え.jp/道"} {
		group := feed.URLGroup(link)
		require.NoError(t, feed.CheckItemID(group), link)
		assert.Len(t, group, 36)
		assert.NotEqual(t, group, feed.URLGroup(link+"b"))
	}
}

// TestCheckURL accepts links that browsers open by HTTP, and no others in any spelling: browsers
// ignore tabs, line ends and characters before a scheme.
func TestCheckURL(t *testing.T) {
	t.Parallel()
	for _, link := range []string{
		"", "https://example.com/a:b", "http://example.com", "HTTPS://EXAMPLE.COM", "//example.com/x", "/a/javascript:x", "page?at=12:30", "#a:b", "example.com", "U",
	} {
		assert.NoError(t, feed.CheckURL(link), link)
	}
	for _, link := range []string{
		"javascript:alert(1)", "JavaScript://example.com/%0aalert(1)", " javascript:alert(1)", "\x01javascript:alert(1)", "java\tscript:alert(1)", "java\nscript:x",
		"data:text/html,x", "vbscript:x", "file:///etc/passwd", "ftp://example.com", "https:example.com", "http:/x", ":x", "mailto:a@b", "intent://x",
	} {
		assert.Error(t, feed.CheckURL(link), link)
		it := feed.Item{ID: "a", Title: "A", UpdateTime: 1, ImageURL: link}
		assert.ErrorIs(t, it.Validate(), feed.ErrInvalid, link)
		it.URL, it.ImageURL = link, ""
		assert.ErrorIs(t, it.Validate(), feed.ErrInvalid, link)
	}
}
