package social_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// TestBlankTexts checks that a text that renders nothing counts as empty, whatever characters it
// has.
func TestBlankTexts(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"spaces":                    " \t\r\n\u00a0\u2003\u3000",
		"zero-width characters":     "\u200b\u200c\u200d\u2060\ufeff",
		"soft hyphen":               "\u00ad\u00ad",
		"marks without a base":      "\u0301\u20dd",
		"variation selectors":       "\ufe0f\U000e0100",
		"tags":                      "\U000e0061\U000e007f",
		"direction marks":           "\u200e\u202e\u2066",
		"fillers of Hangul":         "\u115f\u1160\u3164\uffa0",
		"empty Braille":             "\u2800",
		"control characters":        "\x01\x7f\u0085",
		"line separators":           "\u2028\u2029",
		"musical formatting, Khmer": "\U0001d173\u17b4",
	} {
		assert.True(t, feed.Blank(text), name)
		p := social.Post{ID: "post:p", Author: "a", CreatedAt: 1, Caption: text, Audience: social.Audience{Public: true}}
		p.Normalize()
		require.ErrorIs(t, p.Validate(now), feed.ErrRule, name)
		p.Images = []social.Image{{URL: "/media/k"}}
		require.NoError(t, p.Validate(now), "%s: an image without a caption", name)
		p.Images[0].Alt = text
		require.ErrorIs(t, p.Validate(now), feed.ErrRule, name)
		require.ErrorIs(t, social.Edit{Alts: &[]string{text}}.Validate(), feed.ErrRule, name)
		require.ErrorIs(t, social.Edit{Tags: &[]string{text}}.Validate(), feed.ErrRule, name)
		require.ErrorIs(t, social.Author{ID: "a", Name: text}.Validate(), feed.ErrInvalid, name)
		require.ErrorIs(t, social.Author{ID: "a", Bio: text}.Validate(), feed.ErrInvalid, name)
		require.ErrorIs(t, social.Circle{ID: "c", Owner: "a", Name: text}.Validate(), feed.ErrInvalid, name)
	}
	for _, text := range []string{
		"x", ".", "👩\u200d👩\u200d👧", "❤\ufe0f", "🏴\U000e0067\U000e0062\U000e007f", "\u200fשלום", "नि", "e\u0301", "می\u200cخواهم",
		"\ue000" /* for private use: a font may have it */, "\U0001fae9" /* newer than this Go */, "\u0903" /* a mark that takes room */, "ㅤx",
	} {
		assert.False(t, feed.Blank(text), "%q", text)
		p := social.Post{ID: "post:p", Author: "a", CreatedAt: 1, Caption: text, Audience: social.Audience{Public: true}}
		p.Normalize()
		require.NoError(t, p.Validate(now), "%q", text)
		require.NoError(t, social.Author{ID: "a", Name: text}.Validate(), "%q", text)
	}
	assert.True(t, feed.Blank(""))
	require.NoError(t, social.Author{ID: "a"}.Validate(), "a card need not have a name")
	require.NoError(t, social.Edit{Alts: &[]string{""}}.Validate(), "nor an image an alternative text")
}
