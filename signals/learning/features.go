package learning

import (
	"cmp"
	"math"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/feed/words"
)

// Maximum number of features of each kind taken from one item.
const (
	maxTagFeatures  = 8
	maxWordFeatures = 8
	leastWord       = 3 // characters; a word that contains a symbol, such as c#, may have fewer
)

// Features returns the features that an act on the item contributes to: its first tags, its author,
// its language and the rarest words of its title, weighted by their rarity. It counts the words.
func (r *Rarity) Features(it *feed.Item) []feed.WeightedFeature {
	var all []feed.WeightedFeature
	add := func(kind feed.FeatureKind, value string, weight float64) {
		f := feed.WeightedFeature{Feature: feed.Feature{Kind: kind, Value: value}, Weight: weight}
		if value != "" && !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	tags := terms.Distinct(it.Tags)
	for _, tag := range tags[:min(len(tags), maxTagFeatures)] {
		add(feed.FeatureTag, tag, 1)
	}
	add(feed.FeatureAuthor, it.AuthorID, 1)
	add(feed.FeatureLang, it.Lang, 1)
	found := tellingWords(it.Title)
	r.add(found)
	slices.SortStableFunc(found, func(a, b string) int {
		return cmp.Or(cmp.Compare(r.of(b), r.of(a)), cmp.Compare(utf8.RuneCountInString(b), utf8.RuneCountInString(a)))
	})
	for _, word := range found[:min(len(found), maxWordFeatures)] {
		add(feed.FeatureWord, word, r.of(word))
	}
	return all
}

// tellingWords returns the distinct informative words of a title, without stop words and numbers.
// In scripts that do not separate words, each pair of adjacent characters is a word.
func tellingWords(title string) []string {
	tokens := words.Of(title)
	var found []string
	add := func(word string) {
		if !slices.Contains(found, word) {
			found = append(found, word)
		}
	}
	for i, token := range tokens {
		switch {
		case words.Stop(token):
		case words.Single(token):
			if i+1 < len(tokens) && words.Single(tokens[i+1]) && !words.Stop(tokens[i+1]) {
				add(token + tokens[i+1])
			}
		case telling(token):
			add(token)
		}
	}
	return found
}

// telling reports whether a word has a letter and is long enough.
func telling(token string) bool {
	characters, letters, signs := 0, 0, 0
	for _, r := range token {
		characters++
		switch {
		case unicode.IsLetter(r):
			letters++
		case !unicode.IsNumber(r) && !unicode.IsMark(r):
			signs++
		}
	}
	return letters > 0 && (characters >= leastWord || signs > 0)
}

const (
	rarityCounters = 1 << 14 // shared by words with the same hash
	rarityLeast    = 100     // number of titles below which all words count the same
	rarityMost     = 1 << 16 // number of titles at which all counts are halved, so that they follow current reading
)

// Rarity estimates how rare words are in the titles that readers act on. Words that everybody reads
// say little about one reader; an item counts as often as it is acted on. The zero value has counted
// nothing. It is not safe for concurrent use.
type Rarity struct {
	titles float64
	counts [rarityCounters]float32
}

// add counts the words of a title, which must be distinct.
func (r *Rarity) add(words []string) {
	if r.titles >= rarityMost {
		r.titles /= 2
		for i := range r.counts {
			r.counts[i] /= 2
		}
	}
	r.titles++
	for _, w := range words {
		r.counts[xxhash.Sum64String(w)%rarityCounters]++
	}
}

// of returns 1 for a word that was never counted, 0 for one that is in every title:
// log(titles / titles with the word) / log(titles).
func (r *Rarity) of(word string) float64 {
	if r.titles < rarityLeast {
		return 1
	}
	with := max(1, float64(r.counts[xxhash.Sum64String(word)%rarityCounters]))
	return max(0, math.Log(r.titles/with)/math.Log(r.titles))
}
