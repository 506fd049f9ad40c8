package memory

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fence is a token put between texts, so that many texts go in one request.
const fence = "qqfenceqq"

// analyze asks Elasticsearch's standard analyzer for the tokens of each text.
func analyze(t *testing.T, address string, texts []string) [][]string {
	t.Helper()
	fenced := make([]string, 0, 2*len(texts))
	for _, text := range texts {
		fenced = append(fenced, fence, text)
	}
	body, err := json.Marshal(map[string]any{"analyzer": "standard", "text": fenced})
	require.NoError(t, err)
	res, err := http.Post(address+"/_analyze", "application/json", bytes.NewReader(body))
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	require.Equal(t, http.StatusOK, res.StatusCode)
	var answer struct {
		Tokens []struct {
			Token string `json:"token"`
		} `json:"tokens"`
	}
	require.NoError(t, json.NewDecoder(res.Body).Decode(&answer))
	out := make([][]string, 0, len(texts))
	for _, tok := range answer.Tokens {
		if tok.Token == fence {
			out = append(out, nil)
			continue
		}
		out[len(out)-1] = append(out[len(out)-1], tok.Token)
	}
	require.Len(t, out, len(texts))
	return out
}

func tokens(text string) []string {
	var out []string
	var k tokenizer
	k.each(text, func(token []byte) { out = append(out, string(token)) })
	return out
}

func compareWithElasticsearch(t *testing.T, texts []string) {
	t.Helper()
	address, _ := testenv.Elastic(t)
	const batch = 400
	wrong := 0
	for i := 0; i < len(texts); i += batch {
		part := texts[i:min(i+batch, len(texts))]
		for j, want := range analyze(t, address, part) {
			if !assert.Equal(t, want, tokens(part[j]), "%+q", part[j]) {
				if wrong++; wrong > 20 {
					t.FailNow()
				}
			}
		}
	}
}

func TestTokensOfRealTitles(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	var titles []string
	for _, post := range testenv.Posts(t) {
		if !seen[post.Title] {
			seen[post.Title] = true
			titles = append(titles, post.Title)
		}
	}
	compareWithElasticsearch(t, titles)
}

// TestTokensOfMixedText joins characters of every kind the word rules speak
// of, at random, so that each rule meets each other one.
func TestTokensOfMixedText(t *testing.T) {
	t.Parallel()
	alphabet := []string{
		"a", "B", "z", "é", "İ", "Σ", "ß", "1", "9", "٣", "３", "_", "‿", "'", "’", ".", ",", ";", ":", "·", "\"", "-", "–",
		" ", " ", " ", "\t", "\n", "#", "*", "@", "$", "©", "™", "→", "½", "²", "Ⅷ", "ⓐ", "\u0301", "\u00ad", "\u200b",
		"ア", "ｱ", "ー", "ひ", "漢", "字", "々", "〆", "한", "글", "ก", "ำ", "ไ", "๑", "ລ", "က", "א", "״", "ב", "ي", "न", "ि",
		"😀", "👍", "👩", "🚀", "☺", "✔", "👍🏿", "🇩", "🇪", "\u200d", "\ufe0f", "\ufe0e", "\u20e3", "〰", "㊗", "¸", "´",
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	texts := make([]string, 4000)
	for i := range texts {
		var b strings.Builder
		for range 1 + rnd.IntN(8) {
			b.WriteString(alphabet[rnd.IntN(len(alphabet))])
		}
		texts[i] = b.String()
	}
	compareWithElasticsearch(t, texts)
}

func TestTokensOfLongWords(t *testing.T) {
	t.Parallel()
	var texts []string
	for _, n := range []int{254, 255, 256, 257, 510, 511, 1000} {
		texts = append(texts,
			strings.Repeat("x", n),
			strings.Repeat("x", n)+"'s and more",
			strings.Repeat("é", n)+".é",
			strings.Repeat("𝒜", n/2)+"z",
			strings.Repeat("1,", n),
			strings.Repeat("ก", n),
		)
	}
	compareWithElasticsearch(t, texts)
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                         nil,
		"!!! --- ___":              nil,
		"Show HN: Foo's v2.0_beta": {"show", "hn", "foo's", "v2.0_beta"},
		"1,000.5 e-mail":           {"1,000.5", "e", "mail"},
		"PokÃ©mon":                 {"pokã", "©", "mon"},
		"漢字とカタカナ":                  {"漢", "字", "と", "カタカナ"},
		"ไทย ก":                    {"ไทย", "ก"},
		"👩‍🚀 ☺️ 🇩🇪 1️⃣ #️⃣":           {"👩‍🚀", "☺️", "🇩🇪", "1️⃣", "#️⃣"},
		strings.Repeat("a", 256) + "": {strings.Repeat("a", 255), "a"},
	} {
		assert.Equal(t, want, tokens(text), "%q", text)
	}
}
