package social_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/social"
)

var now = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

func TestHashtags(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                      nil,
		"no tags # here #":                      nil,
		"#Go and #go, #GO!":                     {"Go"},
		"#a#b":                                  {"a"},
		"end #tag_1.":                           {"tag_1"},
		"#1 #2nd #2024 #H₂O #٢٠٢٤":              {"2nd", "H₂O"},
		"C# and x#y":                            nil,
		"&#39; &#x27; https://example.com/#top": nil,
		"#Straße #日本 #हिन्दी ＃full ﹟small":    {"Straße", "日本", "हिन्दी", "full", "small"},
		"(#x)\n#y\t#z \"#q\" «#r» 「#s」":       {"x", "y", "z", "q", "r", "s"},
		"##double":                            {"double"},
		"#___ #_x":                            {"_x"},
		"\xff#ok\xff":                         {"ok"},
		"#" + strings.Repeat("é", 257):        nil,
		"#" + strings.Repeat("é", 256) + ".":  {strings.Repeat("é", 256)},
		"#covid-19 #c++ #a.b #a'b #rock&roll": {"covid", "c", "a", "rock"},

		// One tag in several spellings.
		"#café #cafe\u0301 #CAFÉ":   {"café"},
		"#ｶﾞ #ガ #Ｇｏ #go":            {"ｶﾞ", "Ｇｏ"},
		"#İstanbul #i\u0307stanbul": {"İstanbul"},
		"#ΟΔΟΣ #οδος":               {"ΟΔΟΣ"},
		"#می\u200cخواهم و #میخواهم": {"می\u200cخواهم"},

		// Joiners and middle dots, required by words and otherwise.
		"#Persian_می\u200cروم!":                {"Persian_می\u200cروم"},
		"#क्\u200dष and #क्\u200cष":            {"क्\u200dष"},
		"#ශ්\u200dරී":                          {"ශ්\u200dරී"},
		"#അവന്\u200d വന്നു":                    {"അവന്\u200d"},
		"#می\u200c خواهم":                      {"می"},
		"#a\u200db #c\u200cd":                  {"a", "c"},
		"#col·lecció #paral·lel. #end· #·x":    {"col·lecció", "paral·lel", "end"},
		"#ジョン・レノン #צה״ל #བོད་ཡིག་":             {"ジョン・レノン", "צה״ל", "བོད་ཡིག"},
		"#عـربي #ไทยน้ำ #한국어 #ქართული":         {"عـربي", "ไทยน้ำ", "한국어", "ქართული"},
		"\u200f#שלום\u200f, \u2067#عربي\u2069": {"שלום", "عربي"},

		// Characters that nobody sees, copied along with a word; a zero-width space is between words.
		"#Donau\u00addampf\u00adschiff, #Donaudampfschiff": {"Donau\u00addampf\u00adschiff"},
		"#wo\u2060rd #ta\ufeffg #שלו\u200fם #a\u200eb":     {"wo\u2060rd", "ta\ufeffg", "שלו\u200fם", "a\u200eb"},
		"#a\u00ad #b\u2060. #\u00adc #1\u00ad2":            {"a", "b"},
		"#tag\u200bword":                                   {"tag"},

		// Emoji are not letters.
		"Press #\ufe0f\u20e3 to go on":        nil,
		"#\ufe0f·go #\ufe0f\u00adA":           {"go", "A"},
		"#1\ufe0f\u20e3 #\ufe0fgo #❤️ #I❤️NY": {"go", "I"},
		"#\u0301 #\u20e3":                     nil,

		// Fragments of links.
		"https://en.wikipedia.org/wiki/Go_(game)#Rules":       nil,
		"HTTP://a.b/?q=(x)#y and ftp://a.b/-#c":               nil,
		"(https://a.b/Go_(game)#Rules) #then":                 {"then"},
		"(see https://a.b/c)#tag":                             {"tag"},
		"www.example.com/a_(b)#c www.example.com/-#d":         nil,
		"example.com/a-#c, müller.de:80/x)#d":                 {"d"},
		"example.com/?#c en.m.example.co.uk/wiki/X_(y)#z #ok": {"ok"},
		"/wiki/Go_(game)#Rules ./a-#b ../c)#d (/e-#f)":        {"d"},
		"[rules](#rules) [x](/y-#z) (#t)":                     {"t"},
		"mailto:a@b.c?subject=-#x web+ap://h/(x)#y":           nil,
		"<https://a.b/c>#tag “https://a.b/-#c” #d":            {"tag", "d"},
		"見て https://a.b/c。#日本 https://a.b/(日)#本":              {"日本"},
		"and/or. #x e.g. #y 3.5 #z Note:#w":                   {"x", "y", "z", "w"},
	} {
		require.Equal(t, want, social.Hashtags(text), "%+q", text)
	}
}

func FuzzHashtags(f *testing.F) {
	f.Add("#go and ##x &#39; #日本 #می\u200cخواهم https://a.b/(c)#d [x](#y) #1\ufe0f\u20e3 #a\u00adb\u2060")
	f.Fuzz(func(t *testing.T, text string) {
		seen := map[string]bool{}
		for _, tag := range social.Hashtags(text) {
			require.NotEmpty(t, tag)
			require.NotContains(t, tag, "#")
			require.NotEmpty(t, terms.Fold(tag))
			require.False(t, seen[terms.Fold(tag)])
			seen[terms.Fold(tag)] = true
			require.Equal(t, []string{tag}, social.Hashtags("#"+tag))
		}
	})
}

func TestAllTags(t *testing.T) {
	p := social.Post{Tags: []string{"Go", "x"}, Caption: "#go #X #new"}
	require.Equal(t, []string{"Go", "x", "new"}, p.AllTags())
	require.Equal(t, []string{"Go", "x"}, p.Tags)
	for range 2 * feed.MaxTags {
		p.Caption += " #" + strings.Repeat("y", len(p.Caption)%200+1)
	}
	require.LessOrEqual(t, len(p.AllTags()), feed.MaxTags)
}

func TestTitle(t *testing.T) {
	for _, tc := range []struct {
		post social.Post
		want string
	}{
		{social.Post{Caption: "\n  First \nSecond"}, "First"},
		{social.Post{Caption: "\u200b\u2060\nFirst"}, "First"},
		{social.Post{Images: []social.Image{{}, {Alt: " A cat "}}}, "A cat"},
		{social.Post{Caption: " \n", Images: []social.Image{{}}}, "Photo"},
	} {
		require.Equal(t, tc.want, tc.post.Title())
	}
}

func TestPostIDs(t *testing.T) {
	for _, id := range []string{"post:a", "post:" + strings.Repeat("A", feed.MaxAgentID), "post:.@-_9"} {
		require.NoError(t, social.CheckPostID(id), id)
		require.NoError(t, feed.CheckItemID(id), "every post may be an item")
		require.True(t, feed.IsPost(id))
	}
	for _, id := range []string{"", "post:", "a", "Post:a", "post:a:b", "post:a/b", "post:ä", "post:" + strings.Repeat("A", feed.MaxAgentID+1)} {
		require.ErrorIs(t, social.CheckPostID(id), feed.ErrBadID, id)
	}
	require.ErrorIs(t, social.CheckAgent(social.Server), feed.ErrBadID)
	require.NoError(t, social.CheckAgent("@servers"))

	first, err := social.NewPostID(now, bytes.NewReader(bytes.Repeat([]byte{255}, 8)))
	require.NoError(t, err)
	second, err := social.NewPostID(now.Add(time.Microsecond), bytes.NewReader(make([]byte, 8)))
	require.NoError(t, err)
	require.NoError(t, social.CheckPostID(first))
	require.Less(t, first, second, "ids sort by time")
	_, err = social.NewPostID(now, bytes.NewReader(nil))
	require.Error(t, err)
}

func TestTimes(t *testing.T) {
	require.NoError(t, social.CheckTime(time.Time{}, now))
	require.NoError(t, social.CheckTime(now, now))
	for _, ahead := range []time.Duration{time.Nanosecond, 20 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second, feed.MaxClockSkew} {
		require.NoError(t, social.CheckTime(now.Add(ahead), now), ahead)
	}
	for _, ahead := range []time.Duration{feed.MaxClockSkew + time.Nanosecond, time.Minute, time.Hour, 365 * 24 * time.Hour} {
		err := social.CheckTime(now.Add(ahead), now)
		require.ErrorIs(t, err, feed.ErrInvalid, ahead)
		require.ErrorContains(t, err, "more than 30s ahead of this server's clock")
	}
	require.ErrorIs(t, social.CheckTime(time.Unix(0, 0), now), feed.ErrInvalid)
	require.Equal(t, social.Stamp(now), social.ChangeTime(time.Time{}, now, 5))
	kept := social.Stamp(now.Add(time.Hour))
	require.Equal(t, kept+1, social.ChangeTime(time.Time{}, now, kept), "what is done here holds")
	require.Equal(t, social.Stamp(now), social.ChangeTime(now, now, kept))
	for _, tc := range []struct {
		on     bool
		at     int64
		keptOn bool
		keptAt int64
		want   bool
	}{
		{true, 2, false, 1, true},
		{true, 1, false, 1, false},
		{true, 1, true, 1, false},
		{false, 1, true, 1, true},
		{false, 1, false, 1, false},
		{false, 1, true, 2, false},
		{true, 1, false, 0, true},
	} {
		require.Equal(t, tc.want, social.Supersedes(tc.on, tc.at, tc.keptOn, tc.keptAt), "%+v", tc)
	}
}

func TestValidatePost(t *testing.T) {
	good := social.Post{ID: "post:1", Author: "a", CreatedAt: now.Unix(), Caption: "x"}
	for name, tc := range map[string]struct {
		change func(*social.Post)
		want   string
	}{
		"empty":             {func(p *social.Post) { p.Caption = "" }, "neither caption nor image"},
		"images":            {func(p *social.Post) { p.Images = make([]social.Image, 11) }, "11 images"},
		"caption":           {func(p *social.Post) { p.Caption = strings.Repeat("x", 5001) }, "caption has 5001 characters"},
		"created at":        {func(p *social.Post) { p.CreatedAt = now.Unix() + 1 }, "created_at"},
		"reply":             {func(p *social.Post) { p.Reply = "x" }, `reply must be public, followers, audience or none, not "x"`},
		"react":             {func(p *social.Post) { p.React = "x" }, "react must"},
		"mention":           {func(p *social.Post) { p.Mentions = []string{"a b"} }, "mentions[0]: "},
		"mentions":          {func(p *social.Post) { p.Mentions = many(101) }, "101 mentions, at most 100"},
		"circle":            {func(p *social.Post) { p.Audience.Circles = []string{"a/b"} }, "circles[0]: "},
		"circles":           {func(p *social.Post) { p.Audience.Circles = many(21) }, "21 circles"},
		"tag":               {func(p *social.Post) { p.Tags = []string{""} }, "a tag is empty"},
		"long tag":          {func(p *social.Post) { p.Tags = []string{strings.Repeat("x", 257)} }, "a tag has 257"},
		"tags":              {func(p *social.Post) { p.Tags = many(65) }, "65 tags"},
		"alt":               {func(p *social.Post) { p.Images = []social.Image{{Alt: strings.Repeat("x", 1501)}} }, "an alt text has 1501"},
		"grants of a local": {func(p *social.Post) { p.Grants = []string{"b"} }, "grants"},
		"grant":             {func(p *social.Post) { p.Origin, p.Grants = "x", []string{"b", "b c"} }, "grants[1]: "},
		"url":               {func(p *social.Post) { p.URL = "http://[::1" }, "url"},
		"object type":       {func(p *social.Post) { p.ObjectType = strings.Repeat("x", 65) }, "object_type"},
		"NUL":               {func(p *social.Post) { p.Caption = "a\x00" }, "NUL"},
	} {
		p := good
		tc.change(&p)
		p.Normalize()
		err := p.Validate(now)
		require.ErrorIs(t, err, feed.ErrRule, name)
		require.ErrorContains(t, err, tc.want, name)
	}
	for range 50 { // of two broken rules the same one is reported each time
		p := good
		p.Reply, p.React = "x", "y"
		p.Normalize()
		require.ErrorContains(t, p.Validate(now), "reply must")
	}
	good.Normalize()
	require.NoError(t, good.Validate(now))
	bad := good
	bad.Author = social.Server
	require.ErrorIs(t, bad.Validate(now), feed.ErrBadID)
}

func many(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strings.Repeat("x", i+1)
	}
	return out
}

func TestNormalize(t *testing.T) {
	given := []string{"c2", "c1", "c2"}
	p := social.Post{
		Author: "a", Audience: social.Audience{Public: true, Followers: true, Circles: given}, Mentions: []string{"b", "a", "b", "c"},
		Tags: []string{"x", "x"},
	}
	p.Normalize()
	require.Equal(t, social.Post{
		Author: "a", Audience: social.Audience{Public: true, Circles: []string{"c1", "c2"}}, Mentions: []string{"b", "c"}, Tags: []string{"x"},
		Reply: social.RightPublic, React: social.RightPublic,
	}, p)
	require.Equal(t, []string{"c2", "c1", "c2"}, given)
	for _, right := range []social.Right{"", social.RightPublic, social.RightFollowers, social.RightAudience, social.RightNone, "x"} {
		for _, post := range []social.Post{{}, {Audience: social.Audience{Followers: true}}, {Origin: "example.com"}, {Audience: social.Audience{Circles: []string{"c"}}}} {
			want := right
			if right == "" || right == social.RightAudience && post.Origin == "" && post.Audience.Circles == nil {
				want = social.RightPublic
			}
			post.Reply, post.React = right, social.RightNone
			post.Normalize()
			require.Equal(t, want, post.Reply, "%q of %+v", right, post)
			post.Reply, post.React = social.RightNone, right
			post.Normalize()
			require.Equal(t, want, post.React, "%q of %+v", right, post)
		}
	}
	p.Origin = "example.com"
	p.Normalize()
	require.Nil(t, p.Audience.Circles, "circles of a remote post are never resolved")
	content := string((&social.Post{Author: "a", Grants: []string{"g"}, Audience: social.Audience{Circles: []string{"c"}}}).Content())
	require.NotContains(t, content, `"g"`)
	require.NotContains(t, content, `"c"`)
}

func TestFingerprint(t *testing.T) {
	p := social.Post{Author: "a", Caption: "x"}
	same := p
	same.ID, same.CreatedAt = "post:1", 9
	require.Equal(t, social.Fingerprint(p), social.Fingerprint(same))
	for _, change := range []func(*social.Post){
		func(p *social.Post) { p.Author = "b" },
		func(p *social.Post) { p.Caption = "y" },
		func(p *social.Post) { p.Audience.Circles = []string{"c"} },
		func(p *social.Post) { p.Audience.Public = true },
		func(p *social.Post) { p.Mentions = []string{"m"} },
		func(p *social.Post) { p.Grants = []string{"g"} },
		func(p *social.Post) { p.Tags = []string{"t"} },
		func(p *social.Post) { p.Images = []social.Image{{URL: "/media/k"}} },
	} {
		other := p
		change(&other)
		require.NotEqual(t, social.Fingerprint(p), social.Fingerprint(other), "%+v", other)
	}
	// Hashtags in the caption become tags, but differ from tags that were passed explicitly.
	one, two := social.Post{Caption: "#x"}, social.Post{Caption: "#x", Tags: []string{"x"}}
	require.NotEqual(t, social.Fingerprint(one), social.Fingerprint(two))
}

func TestCheckPairAndKey(t *testing.T) {
	require.NoError(t, social.CheckFollow("a", social.Server))
	require.ErrorIs(t, social.CheckFollow(social.Server, "a"), feed.ErrBadID)
	require.ErrorIs(t, social.CheckPair("a", social.Server), feed.ErrBadID)
	require.ErrorIs(t, social.CheckPair("a", "a"), feed.ErrInvalid)
	require.NoError(t, social.CheckKey("k 1"))
	for _, key := range []string{"", "a\n", "é", strings.Repeat("x", 256)} {
		require.ErrorIs(t, social.CheckKey(key), feed.ErrInvalid)
	}
	require.ErrorIs(t, social.Counts{Comments: -1}.Validate(), feed.ErrInvalid)
	require.ErrorIs(t, social.Circle{ID: "c", Owner: social.Server}.Validate(), feed.ErrBadID)
	require.ErrorIs(t, social.Circle{ID: "c", Owner: "a", Name: "\xff"}.Validate(), feed.ErrInvalid)
}

func TestLinksHTTPOnly(t *testing.T) {
	post := social.Post{ID: "post:a", Author: "a", Caption: "A", CreatedAt: now.Unix(), Origin: "example.com", Audience: social.Audience{Public: true}, Reply: social.RightPublic, React: social.RightPublic, URL: "https://example.com/1"}
	require.NoError(t, post.Validate(now))
	post.URL = "javascript:alert(1)"
	require.ErrorIs(t, post.Validate(now), feed.ErrRule)
	require.NoError(t, social.Author{ID: "a", ImageURL: "https://example.com/1.png"}.Validate())
	require.ErrorIs(t, social.Author{ID: "a", ImageURL: "javascript:alert(1)"}.Validate(), feed.ErrInvalid)
}
