package terms_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed/terms"
)

func TestFold(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{ // the first is the folded form
		{"politics", "Politics", "POLITICS", "Ｐｏｌｉｔｉｃｓ", "poli\u00adtics", "𝐏𝐨𝐥𝐢𝐭𝐢𝐜𝐬", "\u200fpolitics\u200f", "Poli\u2060tics"},
		{"café", "cafe\u0301", "CAFÉ", "CAFE\u0301", "ｃａｆé"},
		{"strasse", "straße", "STRASSE", "STRAẞE"},
		{"οδοσ", "ΟΔΟΣ", "οδος", "οδοσ"},
		{"ι", "\u1fbe", "Ι", "\u0345"},
		{"i\u0307stanbul", "İstanbul", "I\u0307STANBUL"},
		{"ısparta", "ısparta"}, // a separate letter: I is the upper case of i
		{"isparta", "Isparta"},
		{"한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8"},
		{"ガ", "ｶﾞ", "カ\u3099"},
		{"データ", "ﾃﾞｰﾀ"},
		{"हिन्दी", "हिन्\u200dदी", "हिन्\u200cदी"},
		{"क\u093c", "\u0958"},
		{"ไทยน้ํา", "ไทยน้ำ"},
		{"میخواهم", "می\u200cخواهم"},
		{"שלום", "\u202bשלום\u202c"},
		{"لا", "ﻻ"},
		{"عـربي", "عـربي"}, // the tatweel is a written letter and is preserved
		{"عربي"},
		{"❤", "❤\ufe0f", "❤\ufe0e"},
		{"👩💻", "👩\u200d💻"},
		{"fine", "ﬁne"},
		{"1⁄2", "½"},
		{"5kg", "5㎏"},
		{"привет", "ПРИВЕТ"},
		{"եւ", "\u0587"}, // a ligature of two letters
		{"dž", "Ǆ", "ǅ"},
		{"c++", "C++"},
		{"rust", " rust", "rust ", "\u00a0Rust", "rust\t", "\n rust\r\n", "\u2003rust\u3000", "\u200b rust"},
		{"machine learning", "machine  learning", "Machine\tlearning", "machine\u00a0learning", " machine \u202f learning "},
		{"天 气", "天\u3000气"},
		{" "},
		{"l·l", "L·L"},
		{"\u200d"},
		{""},
	} {
		for _, tag := range same {
			assert.Equal(t, same[0], terms.Fold(tag), "%+q", tag)
			assert.True(t, terms.Same(tag, same[0]), "%+q", tag)
		}
	}
	for _, pair := range [][2]string{
		{"go", "golang"}, {"resume", "résumé"}, {"i", "ı"}, {"عربي", "عـربي"}, {"c", "c++"}, {"か", "が"}, {"a b", "ab"}, {"", "\u200d"}, {"\u200d", "\ufe0f"},
	} {
		assert.False(t, terms.Same(pair[0], pair[1]), "%+q", pair)
	}
	assert.Equal(t, []string{"go", "\u200d", "b"}, terms.FoldAll([]string{"Go", "\u200d", "GO", "B", "go"}))
}

func TestLangs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ reader, takes, not string }{
		{"en", "en EN En en-US en_GB en-us en_GB.UTF-8 eng en-Latn en-Latn-GB en-001 en-GB-oxendict en-u-ca-buddhist", "de enx enm fr"},
		{"EN", "en en-US", "es"},
		{"en-US", "en en-US EN_us en-Latn-US en-001", "en-GB en-AU en-150 es-US"},
		{"en-001", "en en-GB en-US en-001", "fr-001"},
		{"de", "de de-AT de-1996 de-CH ger deu de_DE@euro", "gsw nds dsb"},
		{"zh", "zh zh-CN zh-SG zh-Hans zh-Hans-CN cmn cmn-Hans zh_CN.UTF-8", "zh-TW zh-HK zh-MO zh-Hant yue zh-yue"},
		{"zh-Hans", "zh zh-CN zh-Hans zh-SG zh-Hans-HK", "zh-Hant zh-TW zh-HK"},
		{"zh-Hant", "zh-TW zh-HK zh-Hant zh-Hant-CN ZH_hant", "zh zh-CN zh-Hans"},
		{"zh-CN", "zh zh-CN zh-Hans zh-Hans-CN", "zh-TW zh-Hant-CN zh-SG"},
		{"zh-TW", "zh-TW zh-Hant zh-Hant-TW", "zh zh-CN zh-HK zh-Hans-TW"},
		{"pt-BR", "pt pt-BR pt_br", "pt-PT pt-AO"},
		{"es-MX", "es es-MX es-419", "es-ES es-AR"},
		{"es-419", "es es-419 es-MX es-AR", "es-ES"},
		{"sr", "sr sr-Cyrl sr-RS", "sr-Latn sr-ME sh hr"},
		{"sr-Latn", "sr-Latn sr-ME sh sr-Latn-RS", "sr sr-Cyrl"},
		{"he", "he iw he-IL", "yi"},
		{"id", "id in id-ID", "ms"},
		{"no", "no nb nb-NO no-NO", "nn da"},
		{"fil", "fil tl", "en"},
		{"ro", "ro ro-MD", "ru"},
		{"pa", "pa pa-IN pa-Guru", "pa-PK pa-Arab"},
		{"ja", "ja ja-JP jpn", "ko"},
		{"tr", "tr TR tr-TR", "az"},
		{"klingon!", "klingon! KLINGON!", "tlh en"},
		{"x-klingon", "x-klingon X-Klingon", "x-other tlh"},
		{"xx", "xx XX", "xy"},
		{"*", "en zh-Hant klingon! xx", ""},
		{"und", "", "en"},
		{"", "", "en"},
	} {
		l := terms.ReadLangs([]string{"qqq-unread", c.reader})
		for _, lang := range append(strings.Fields(c.takes), "", "und", "mul", "zxx") {
			assert.True(t, l.Take(lang), "%s reads %q", c.reader, lang)
		}
		for lang := range strings.FieldsSeq(c.not) {
			assert.False(t, l.Take(lang), "%s does not read %q", c.reader, lang)
		}
	}
	for lang, want := range map[string]string{"en": "en eng", "en_GB": "en eng", "ENG": "eng en", "iw-IL": "iw he heb", "cmn-TW": "cmn zh zho", "he": "he heb iw", "zh": "zh zho cmn", "": "", "und": "", "Klingon!": ""} {
		assert.Equal(t, want, strings.Join(terms.LangCodes(lang), " "), lang)
	}
	for _, pair := range []string{"tl fil", "iw he", "in id", "jw jv", "nb no", "mo ro", "sh sr-Latn", "ji yi", "cmn zh"} {
		before, now, _ := strings.Cut(pair, " ")
		assert.Equal(t, terms.LangKey(now), terms.LangKey(before), pair)
		assert.Contains(t, terms.LangCodes(now), before)
	}
	for lang, want := range map[string]string{"en": "en-latn", "en_GB": "en-latn", "zh-TW": "zh-hant", "": "", "und": "", "Klingon!": "klingon!"} {
		assert.Equal(t, want, terms.LangKey(lang), lang)
	}
}

// TestLangsNames checks that a language can be written by its name.
func TestLangsNames(t *testing.T) {
	t.Parallel()
	for code, names := range map[string][]string{
		"en": {"English", "ENGLISH", "english"}, "de": {"German", "Deutsch", "deutsch"}, "fr": {"French", "Français", "français"},
		"es": {"Spanish", "español", "Spanish (someplace)", "Español ()"}, "pt": {"Portuguese", "Português"}, "zh": {"Chinese", "中文"}, "ja": {"Japanese", "日本語"},
		"ru": {"Russian", "русский"}, "nl": {"Dutch", "Nederlands"}, "pl": {"Polish", "Polski"}, "ar": {"Arabic", "العربية"},
		"ur": {"Urdu"}, "th": {"Thai", "ไทย"}, "hi": {"Hindi", "हिन्दी"}, "sw": {"Swahili", "Kiswahili"}, "zh-Hant": {"繁體中文", "Traditional Chinese", "Chinese (Traditional)"},
		"zh-Hans": {"Simplified Chinese", "Chinese (Simplified)"}, "pt-BR": {"Brazilian Portuguese", "Português (Brasil)", "Portuguese (Brazil)", "portuguese (BR)"}, "en-GB": {"British English", "English (UK)", "English (United Kingdom)"}, "en-US": {"American English", "English (US)", "English(United States)"},
		"fr-CA": {"Canadian French", "français canadien", "Français (Canada)"}, "es-419": {"Latin American Spanish"}, "es-MX": {"español de México"},
	} {
		for _, name := range names {
			assert.Equal(t, terms.LangKeys(code), terms.LangKeys(name), name)
			assert.Equal(t, terms.ReadLangs([]string{code}).Keys(), terms.ReadLangs([]string{name}).Keys(), name)
			assert.Contains(t, terms.LangCodes(name), code[:2], name)
		}
	}
	assert.Equal(t, []string{"elvish"}, terms.LangKeys("Elvish"))
}

// TestLangsKeepWhiteSpace checks that a text that is no language takes only itself.
func TestLangsKeepWhiteSpace(t *testing.T) {
	t.Parallel()
	assert.True(t, terms.ReadLangs([]string{"a\nb"}).Take("A\nB"))
	assert.False(t, terms.ReadLangs([]string{"a\nb"}).Take("a\tb"))
}

func FuzzFold(f *testing.F) {
	for _, tag := range []string{"Go", "straße", "\u1fbe\u0345", "ｶﾞ", "\u1112\u00ad\u1161", "a\xff\u200d", "\u0344\u0345", "\uffa0", "\u0130\u0307", "\u03d2\u0301", " \u00a0a \u0301\t"} {
		f.Add(tag)
	}
	f.Fuzz(func(t *testing.T, tag string) {
		folded := terms.Fold(tag)
		require.True(t, utf8.ValidString(folded))
		require.Equal(t, folded, terms.Fold(folded), "%+q", tag)
	})
}

func FuzzLangs(f *testing.F) {
	for _, lang := range []string{"en-US", "zh_Hant_TW", "x-a", "a@b", "i-default", "-", "und-US"} {
		f.Add(lang)
	}
	f.Fuzz(func(t *testing.T, lang string) {
		require.True(t, terms.ReadLangs([]string{lang}).Take(lang), "%q takes itself", lang)
		for _, key := range slices.Concat(terms.LangKeys(lang), terms.ReadLangs([]string{lang}).Keys()) {
			require.NotEmpty(t, key)
			require.True(t, utf8.ValidString(key))
		}
	})
}

func BenchmarkFold(b *testing.B) {
	for name, tag := range map[string]string{"lower": "programming", "upper": "Programming", "accent": "café", "two words": "machine learning", "wide": "Ｐｒｏｇｒａｍ"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				terms.Fold(tag)
			}
		})
	}
}
