package words_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed/words"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":            "",
		"!!! --- ___": "",
		"Show HN: a Foo's v2.0_beta, 1,000.5 e-mails": "show|hn|a|foo|s|v2.0_beta|1|000.5|e|mails",

		// Names with signs are separate words; a full stop ends a sentence.
		"C++ and C# or C, F#.":               "c++|and|c#|or|c|f#",
		"C++17, Notepad++; x+y=a+b, 1+1":     "c++|17|notepad++|x|y|a|b|1|1",
		"wow+++ ### C##x #golang issue #5":   "wow|c|x|golang|issue|5",
		".NET, ASP.NET and C#.NET (.net)":    ".net|asp.net|and|c#|.net|.net",
		"Node.js. Use node.js ... and more.": "node.js|use|node.js|and|more",
		"wait...what .5 ..x":                 "wait|what|5|x",
		"U.S. e.g. example.com/a.b":          "u.s|e.g|example.com|a.b",
		"Objective-C, objective-c++ Usb-C.":  "objective-c|objective-c++|usb-c",
		"USB\u2011C usb\u2010c e\u2011mail":  "usb-c|usb-c|e|mail",
		"machine-learning t-shirt covid-19":  "machine|learning|t|shirt|covid|19",
		"AT&T O’Reilly don't TCP/IP R&D":     "at|t|o|reilly|don|t|tcp|ip|r|d",
		"_a_ b__c snake_case d____e":         "a|b|c|snake_case|d|e",
		"100+ tips, 50% Disney+":             "100|tips|50|disney+",

		// Equivalent characters have one form.
		"Ｆｕｌｌ Ⅷ ﬁne Linux™ ® 5㎏":                   "full|viii|fine|linux|5kg",
		"Cafe\u0301 café STRASSE Straße":           "café|café|strasse|straße",
		"ΟΔΟΣ οδος οδοσ":                           "οδοσ|οδοσ|οδοσ",
		"soft\u00adware \u202bשלום\u202c a\u200bb": "software|שלום|a|b",
		"Привет, МИР":                              "привет|мир",

		// Scripts without spaces are split into characters.
		"天气预报 iPhone的屏幕":         "天|气|预|报|iphone|的|屏|幕",
		"漢字とカタカナー ｶﾞ":            "漢|字|と|カ|タ|カ|ナ|ー|ガ",
		"한국어 \u1112\u1161\u11ab": "한|국|어|한",
		"ไทย น้ำ":                "ไ|ท|ย|น้ํ|า",
		"人々 〇":                   "人|々|〇",

		"🚀 Rust🦀x 👩‍🚀 1️⃣ ☺️ ©": "🚀|rust|🦀|x|👩|🚀|1|☺",
		"a\xffb \xc3 c": "a|b|c",
	} {
		assert.Equal(t, want, strings.Join(words.Of(text), "|"), "%q", text)
		read, _, _ := strings.Cut(string(words.Append(nil, text)), " | ")
		assert.Equal(t, strings.ReplaceAll(want, "|", " "), read)
	}
}

// TestJoinedWordsAreReadTwice checks that the words of a text are found that signs join to others.
func TestJoinedWordsAreReadTwice(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Booking.com fined":            "booking com fined",
		"It ends.Next season":          "it ends next season",
		"A file called Test.mp3":       "a file called test mp3",
		"Новости: г.Москва":            "новости москва",
		"Mieten in z.B.Berlin":         "mieten in zb berlin",
		"U.S. and N.A.T.O. e.g.":       "us and nato eg",
		"J.R.R.Tolkien":                "jrr tolkien",
		"#machine_learning v2.0_beta":  "machine learning v2.0 beta",
		"Battle.net ASP.NET .net.core": "battle asp .net core", // .NET is a name
		"main.c and Node.js":           "main and node.js",     // so is Node.js; C is a language
		"2.x a.b":                      "2.x ab",
		"v2.0 costs 1.50 .net C#.NET":  "", // nothing is joined
		"USB\u2010C, Objective-C":      "",
	} {
		_, again, _ := strings.Cut(string(words.Append(nil, text)), " | ")
		assert.Equal(t, want, again, "%q", text)
	}
}

// TestOneLetterParts checks that a one-letter part is found with and without its hyphen.
func TestOneLetterParts(t *testing.T) {
	t.Parallel()
	for term, want := range map[string][2]string{
		"Vitamin-D":            {"vitamin d", "vitamin-d"},
		"vitamin d deficiency": {"vitamin d deficiency", "vitamin-d deficiency"},
		"USB\u2011C":           {"usb c", "usb-c"},
		"Objective C++":        {"objective c++", "objective-c++"},
		"c":                    {"c", ""}, "d day": {"d day", ""}, "machine learning": {"machine learning", ""}, "天 a": {"天 a", ""},
		"": {"", ""},
	} {
		apart, joined := words.OneLetterParts(words.Of(term))
		assert.Equal(t, want, [2]string{strings.Join(apart, " "), strings.Join(joined, " ")}, term)
	}
}

func TestLongWordsTruncated(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("x", 1000), strings.Repeat("é", 1000), "e" + strings.Repeat("\u0301\u0327", 1000)} {
		tokens := words.Of(text)
		assert.Greater(t, len(tokens), 1)
		for _, token := range tokens {
			assert.LessOrEqual(t, len(token), words.MaxLength)
		}
	}
	long := strings.Repeat("x", 1000)
	assert.Equal(t, words.Of(long), words.Of("a " + long)[1:], "a word is cut alike wherever it stands")
}

func TestStop(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"the", "der", "les", "的", "の"} {
		assert.True(t, words.Stop(word), word)
	}
	for _, word := range []string{"c", "go", "r", "rust", "", "The", ".net", "天"} {
		assert.False(t, words.Stop(word), word)
	}
}

// FuzzEach checks that tokens have the form that the index and the comparison require, and that
// their number and size are bounded by the text.
func FuzzEach(f *testing.F) {
	for _, text := range []string{"C++ & C#, .NET; node.js", "天气 ｶﾞ 한글", "a\xff\u200d🚀\ufe0f", "\ufdfa", strings.Repeat("._-+#", 50), "e\u0301", "\xc5\xc5\x06\xc5\x01\xf3\u0140"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tokens := words.Of(text)
		size := 0
		for _, token := range tokens {
			require.NotEmpty(t, token)
			require.LessOrEqual(t, len(token), words.MaxLength)
			require.True(t, utf8.ValidString(token), "%q", token)
			require.False(t, strings.ContainsFunc(token, func(r rune) bool {
				return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`"\{}`, r)
			}), "%q", token)
			size += len(token)
		}
		require.LessOrEqual(t, size, 12*len(text), "normalisation makes a text so much longer at most")
		read, again, twice := strings.Cut(string(words.Append(nil, text)), " | ")
		require.Equal(t, strings.Join(tokens, " "), read)
		require.Equal(t, twice, again != "", "%q", again)
		for part := range strings.SplitSeq(again, " ") {
			require.True(t, !twice || part != "" && utf8.ValidString(part) && !strings.ContainsAny(part, `|"\{}`), "%q", part)
		}
		if text != "" && strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
			require.Equal(t, tokens, words.Of(strings.ToUpper(text)), "case does not matter")
		}
		both := words.Of(text + " , " + text)
		require.Equal(t, append(slices.Clone(tokens), tokens...), both, "texts do not run into one another")
	})
}

func BenchmarkEach(b *testing.B) {
	for name, text := range map[string]string{
		"ascii":   strings.Repeat("Ask HN: Why is C++ so fast in node.js? ", 1000),
		"hostile": strings.Repeat("a-.+#_", 40_000),
		"marks":   "a" + strings.Repeat("\u0301", 120_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				words.Each(text, func([]byte) {})
			}
		})
	}
}
