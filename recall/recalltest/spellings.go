package recalltest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/feed"
)

// spellings tests that tags and languages are equal, however items and profiles spell them.
func spellings(t *testing.T, open Open) {
	tags := []string{
		"politics", "Politics", "Ｐｏｌｉｔｉｃｓ", "poli\u00adtics", "café", "cafe\u0301", "CAFÉ", "straße", "STRASSE",
		"οδος", "ΟΔΟΣ", "ｶﾞ", "ガ", "می\u200cخواهم", "میخواهم", "ısparta", "isparta", "İstanbul", "i\u0307stanbul",
		"한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8", "❤", "❤\ufe0f", "\u200fשלום", "שלום", "عـربي", "عربي", "\u200d", "a b", "A B", " a\u00a0\tb ", "\u00a0politics",
	}
	langs := []string{
		"", "en", "EN", "en-US", "en_GB", "eng", "en-001", "de", "de-AT", "zh", "zh-CN", "zh-TW", "zh-Hans", "zh-Hant", "zh_Hant_HK", "cmn",
		"sr", "sr-Latn", "sh", "pt-BR", "pt-PT", "es-419", "es-MX", "he", "iw", "nb", "no", "und", "mul", "x-own", "Klingon!", "xx",
	}
	var items []feed.Item
	for i := range max(len(tags), len(langs)) {
		it := feed.Item{ID: fmt.Sprintf("item%02d", i), Title: "Plain words", UpdateTime: ago(time.Duration(i) * time.Minute), Lang: langs[i%len(langs)]}
		if i < len(tags) {
			it.Tags = []string{tags[i], "shared"}
		}
		items = append(items, it)
	}
	s := open(t, items)
	check := func(name string, q feed.Query) {
		t.Run(name, func(t *testing.T) {
			got := recallAll(t, s, q).Candidates
			assertRanking(t, items, q, got)
			for i, f := range explained(t, s, q, ids(got)) {
				assertMakesScore(t, q, got[i], f)
			}
		})
	}
	for _, tag := range tags {
		check(fmt.Sprintf("interest %+q", tag), query(100, feed.Profile{Interests: map[string]float64{tag: 3, "Shared": 1}}))
		check(fmt.Sprintf("mute %+q", tag), query(100, feed.Profile{MutedTags: []string{"other", tag}}))
		q := query(100, feed.Profile{})
		q.Ranking = learning()
		q.Profile.Learned = feed.Learned{At: origin.Unix(), Features: []feed.LearnedFeature{
			{Feature: feed.Feature{Kind: feed.FeatureTag, Value: tag}, Evidence: 2},
			{Feature: feed.Feature{Kind: feed.FeatureLang, Value: "en-GB"}, Evidence: -1},
			{Feature: feed.Feature{Kind: feed.FeatureLang, Value: "zh-TW"}, Evidence: 1},
		}}
		check(fmt.Sprintf("learned %+q", tag), q)
	}
	for _, lang := range append(langs, "*") {
		if lang != "" {
			check(fmt.Sprintf("reads %q", lang), query(100, feed.Profile{Langs: []string{"qqq", lang}}))
		}
	}
	check("two spellings", query(100, feed.Profile{Interests: map[string]float64{"Politics": 2, "politics": 5, "POLITICS": 0}}))
	f := explained(t, s, query(1, feed.Profile{Interests: map[string]float64{"Politics": 5, "politics": 2}}), []string{items[0].ID})
	assert.Equal(t, []feed.Gain{{Name: "Politics", Score: 5}}, f[0].Tags, "by the spelling of the reader that counts")
}
