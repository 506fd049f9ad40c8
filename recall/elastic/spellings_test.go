package elastic_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/feed"
)

// TestExternalIndexSpellings: interests match tags as written, mutes also match the folded
// form, and a language matches all values that may mean it. Other exclusions are judged by the
// content.
func TestExternalIndexSpellings(t *testing.T) {
	t.Parallel()
	epoch := func(at time.Time) any { return at.Unix() }
	var docs []map[string]any
	for i, d := range []struct{ id, tag, lang string }{
		{"a", "Go", "en"},
		{"b", "go", "en-US"},
		{"c", "GO", "EN_gb"},
		{"d", "rust", "eng"},
		{"e", "Rust", "enm"},
		{"f", "x", "zh-Hant"},
		{"g", "x", "zh"},
		{"h", "x", "iw"},
		{"i", "x", ""},
		{"j", "x", "mul"},
		{"k", "x", "e.n"},
		{"l", "x", "de_DE@euro"},
	} {
		doc := story(d.id, time.Duration(i)*time.Minute, epoch)
		doc["topics"] = d.tag
		if d.lang != "" {
			doc["meta"] = map[string]any{"lang": d.lang}
		}
		docs = append(docs, doc)
	}
	s := openExisting(t, mapped, epochSeconds, docs)
	found := func(p feed.Profile) (all string) {
		list := ids(recalled(t, s, ask(p)))
		slices.Sort(list)
		for _, id := range list {
			all += id
		}
		return all
	}
	for _, c := range []struct {
		profile feed.Profile
		want    string
	}{
		{feed.Profile{}, "abcdefghijkl"},
		{feed.Profile{MutedTags: []string{"Go"}}, "cdefghijkl"},
		{feed.Profile{MutedTags: []string{"GO", "go", "RUST"}}, "aefghijkl"},
		{feed.Profile{Langs: []string{"en"}}, "abcdij"},
		{feed.Profile{Langs: []string{"EN-us", "he"}}, "abdhij"},
		{feed.Profile{Langs: []string{"zh-Hans"}}, "gij"},
		{feed.Profile{Langs: []string{"de", "e.n"}}, "ijkl"},
		{feed.Profile{Langs: []string{"no such", "*"}}, "abcdefghijkl"},
	} {
		assert.Equal(t, c.want, found(c.profile), "%+v", c.profile)
	}
	for _, c := range recalled(t, s, ask(feed.Profile{Interests: map[string]float64{"Go": 100, "rust": 100, "Rust": 50}})).Candidates {
		assert.Equal(t, slices.Contains([]string{"a", "d", "e"}, c.ID), c.Score > 20, "%s: %v", c.ID, c.Score)
	}
}
