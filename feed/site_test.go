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
		"https://www.Example.com/a":          "example.com",
		"HTTP://example.com:8080/":           "example.com",
		"https://user@example.com./":         "example.com",
		"https://www.www.com":                "www.com",
		"https://blog.example.com":           "blog.example.com",
		"//cdn.example.com/x":                "cdn.example.com",
		" https://example.com/a\n":           "example.com",
		"https://bücher.example/a":           "bücher.example",
		"https://BÜCHER.example/a":           "bücher.example",
		"https://xn--bcher-kva.example/":     "bücher.example",
		"https://www.xn--bcher-kva.example/": "bücher.example",
		"https://b%C3%BCcher.example":        "bücher.example",
		"https://bu\u0308cher.example":       "bücher.example",
		"https://xn--zz.example":             "xn--zz.example",
		"https://a_b.example":                "a_b.example",
		"http://[2001:DB8::1]:80/":           "2001:db8::1",
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

		"https://example.com/#/a":                      "https://example.com#/a",
		"https://example.com/app/#/a/b/":               "https://example.com/app#/a/b",
		"https://example.com/#!a":                      "https://example.com#!a",
		"https://example.com/#!/a?utm_source=x&id=1":   "https://example.com#!/a?id=1",
		"https://example.com/#/a?fbclid=1:~:text=word": "https://example.com#/a",
		"https://example.com/#/d%c3%a9%41":             "https://example.com#/d%C3%A9A",
		"https://example.com/#/dé":                     "https://example.com#/d%C3%A9",
		"https://example.com/a/B#/":                    page,
		"https://example.com/a/B#!/":                   page,
		"https://example.com/a/B#!":                    page,
		"https://example.com/a/B#:~:text=word":         page,
		"https://example.com/?a=1#/b":                  "https://example.com?a=1#/b",

		"https://example.com/%61/%42":             page,
		"https://example.com/x/../a/./B/.":        page,
		"https://example.com/../../a/B":           page,
		"https://example.com/%2e%2E/a/B":          page,
		"https://example.com/a//B":                "https://example.com/a//B",
		"https://example.com/%c3%a9":              "https://example.com/%C3%A9",
		"https://example.com/é":                   "https://example.com/%C3%A9",
		"https://example.com/a%2fb%7e":            "https://example.com/a%2Fb~",
		"https://example.com/?q=é&p=%61%2f%zz%":   "https://example.com?p=a%2F%zz%&q=%C3%A9",
		"https://example.com/?%75tm_source=x&a=1": "https://example.com?a=1",
		"https://XN--BCHER-KVA.example/a":         "https://bücher.example/a",
		"https://bücher.example/a":                "https://bücher.example/a",
		"ftp://example.com/a":                     "", "": "", "example.com/a": "", "https:///a": "", "http://%zz": "",
	} {
		assert.Equal(t, want, feed.CanonicalURL(link), link)
		if want != "" {
			assert.Equal(t, want, feed.CanonicalURL(want), "it is stable")
		}
	}
}

// TestTrackingParameters: parameters that tell where a click came from make no other page, those
// that sites use for content do.
func TestTrackingParameters(t *testing.T) {
	t.Parallel()
	for name := range strings.FieldsSeq(`utm_source utm_id UTM_anything fbclid gclid gad_source srsltid wbraid msclkid mc_cid mc_eid igsh igshid twclid ttclid yclid ysclid
		li_fat_id _openstat vero_id oly_enc_id wickedid _hsenc __hssc hsCtaTracking mkt_tok _ke _kx s_kwcid ef_id irclickid cjevent epik ScCid rdt_cid mibextid
		mtm_campaign pk_kwd matomo_source hsa_cam itm_source fb_action_ids guccounter _branch_match_id trk_msg WT.mc_id xtor ICID at_medium`) {
		assert.Equal(t, "https://example.com?a=1&z=2", feed.CanonicalURL("https://example.com/?z=2&"+name+"=x%41&a=1"), name)
	}
	for name := range strings.FieldsSeq("id p q page ref source cid v t list lang utm gclid2 campaign s tag sort") {
		assert.Equal(t, "https://example.com?"+name+"=1", feed.CanonicalURL("https://example.com/?"+name+"=1"), name)
	}
}

// TestSharingParameters: what the share buttons of well-known sites append makes no other page there,
// also on their subdomains. On other sites the same names may be content.
func TestSharingParameters(t *testing.T) {
	t.Parallel()
	for page, shared := range map[string]string{
		"https://laurenleek.substack.com/p/maps":               "?r=2mgxo2&triedRedirect=true",
		"https://open.substack.com/pub/a/p/maps":               "?r=2mgxo2&utm_campaign=post&utm_medium=web&showWelcomeOnShare=true",
		"https://letters.example/p/maps":                       "?triedRedirect=true&showWelcomeOnShare=false",
		"https://youtube.com/watch?v=dQw4w9WgXcQ":              "&si=AbC&feature=youtu.be&pp=x&ab_channel=Rick",
		"https://m.youtube.com/watch?v=dQw4w9WgXcQ":            "&feature=share",
		"https://youtu.be/dQw4w9WgXcQ":                         "?si=AbC",
		"https://youtu.be/dQw4w9WgXcQ?t=42":                    "&si=AbC",
		"https://x.com/u/status/1":                             "?s=20&t=AbC",
		"https://twitter.com/u/status/1":                       "?s=46&ref_src=twsrc",
		"https://tiktok.com/@a/video/1":                        "?_t=8&_r=1&is_from_webapp=1&sender_device=pc&web_id=7",
		"https://old.reddit.com/r/go/comments/a/b":             "?share_id=x&rdt=1",
		"https://open.spotify.com/episode/1":                   "?si=a&nd=1&dlsi=b",
		"https://medium.com/@a/b-1":                            "?source=rss-12------2&sk=ab",
		"https://nytimes.com/2026/01/01/a.html":                "?smid=url-share&unlocked_article_code=1.a",
		"https://theguardian.com/a/b":                          "?CMP=share_btn_url",
		"https://linkedin.com/posts/a-activity-1":              "?trk=public_post&trackingId=a%3D&rcm=b",
		"https://wsj.com/a":                                    "?st=a&reflink=desktopwebshare_permalink&mod=b",
		"https://washingtonpost.com/a":                         "?itid=hp-top",
		"https://ft.com/content/1":                             "?shareType=nongift",
		"https://bloomberg.com/news/articles/1":                "?srnd=premium&sref=a&leadSource=b",
		"https://bilibili.com/video/BV1":                       "?spm_id_from=333&vd_source=a",
		"https://imdb.com/title/tt1":                           "?ref_=nv_sr_1",
		"https://soundcloud.com/a/b":                           "?si=a",
		"https://youtube.com/results?search_query=a&sp=CAI%3D": "&feature=share",
	} {
		assert.Equal(t, page, feed.CanonicalURL(page+shared), page+shared)
	}
	for _, page := range []string{
		"https://example.org/index.php?r=site/about", "https://example.org?s=rust", "https://example.org?t=1", "https://example.org?source=bbc",
		"https://example.org?si=1", "https://example.org?mod=news", "https://example.org?feature=a", "https://youtube.com/watch?list=a&t=42&v=b",
		"https://substack.com/app-link/post?post_id=1&publication_id=2", "https://notyoutube.com?si=1", "https://youtube.com.example.org?si=1", "https://x.com/search?f=live&q=a",
	} {
		assert.Equal(t, page, feed.CanonicalURL(page))
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
