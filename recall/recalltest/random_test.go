package recalltest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall/recalltest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// vocabulary has words that a tokenizer, an analyzer or a query could treat differently.
var vocabulary = []string{
	"go", "Go", "GO", "C++", "c", "C#", ".NET", ".NET.", "Node.js", "node", "js.", "objective-c", "xC++x", "C++17",
	"AT&T", "o'reilly", "the", "of", "a", "天气", "天空", "カタカナー", "한국어", "ｶﾞ", "Ⅷ", "ﬁne", "café", "cafe\u0301", "Straße",
	"ΟΔΟΣ", "οδος", "İstanbul", "ıi", "שלום", "\u202bשלום\u202c", "🚀", "🚀🚀", "👩\u200d🚀", "1\ufe0f\u20e3", "a_b", "__",
	"--", "\"go\"", "go\\", "\\\"", "*", "~2", "title:go", "AND", "OR", "((", "ﷺ", "ไทย", "น้ำ", "々", "™", "go™",
	"1,000.5", "v2.0", "½",
}

func randomText(rnd *rand.Rand, most int) string {
	text := make([]string, 1+rnd.IntN(most))
	for i := range text {
		text[i] = vocabulary[rnd.IntN(len(vocabulary))]
	}
	return strings.Join(text, []string{" ", " ", "", ", "}[rnd.IntN(4)])
}

// TestRandomParity compares both sources on catalogs of unusual texts in which many items have the
// same score and time, to the end of their pages: the items, scores and the order of ties must be
// equal.
func TestRandomParity(t *testing.T) {
	testenv.WithoutRace(t)
	now := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	for seed := range uint64(3) {
		rnd := rand.New(rand.NewPCG(seed, 12))
		items := make([]feed.Item, 300)
		for i := range items {
			items[i] = feed.Item{
				ID: fmt.Sprintf("i%03d", i*37%len(items)), Title: randomText(rnd, 5),
				UpdateTime: now.Add(-time.Duration(rnd.IntN(4)*rnd.IntN(40)) * time.Hour).Unix(),
				Tags:       []string{vocabulary[rnd.IntN(6)]},
			}
			if rnd.IntN(2) == 0 {
				items[i].Summary = randomText(rnd, 30)
			}
			if rnd.IntN(5) == 0 {
				items[i].GroupID = fmt.Sprint("g", rnd.IntN(20))
			}
		}
		inElastic, inMemory := both(t, items)
		for range 25 {
			q := feed.Query{Origin: now, N: 1 + rnd.IntN(90), Ranking: feed.Ranking{
				Base: 0.1, KeywordsSummary: 0.5, Decay: feed.Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 1e-6},
			}}
			q.Profile.Interests = map[string]float64{vocabulary[rnd.IntN(6)]: float64(rnd.IntN(3))}
			for range rnd.IntN(6) {
				q.Profile.Keywords = append(q.Profile.Keywords, feed.Keyword{Term: randomText(rnd, 3), Weight: float64(rnd.IntN(4))})
			}
			q.Profile.Keywords = slices.DeleteFunc(q.Profile.Keywords, func(k feed.Keyword) bool { return len(k.Term) > 200 })
			require.NoError(t, q.Profile.Validate())
			first, second := recalltest.Rounds(t, inElastic, q), recalltest.Rounds(t, inMemory, q)
			scores := func(all []feed.Candidate) map[string]float64 {
				of := map[string]float64{}
				for _, c := range all {
					if _, again := of[c.Group]; !again {
						of[c.Group] = float64(c.Score)
					}
				}
				return of
			}
			ofFirst, ofSecond := scores(first), scores(second)
			require.Len(t, ofSecond, len(ofFirst))
			for group, score := range ofFirst {
				assert.InEpsilon(t, score, ofSecond[group], 1e-4, "%s, by %+v", group, q.Profile)
			}
			for _, all := range [][]feed.Candidate{first, second} {
				for i := range all[1:] {
					require.Negative(t, recalltest.Order(all[i], all[i+1]), "%s before %s, by %+v", all[i].ID, all[i+1].ID, q.Profile)
				}
			}
			if t.Failed() {
				return
			}
		}
	}
}
