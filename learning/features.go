package learning

import (
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/words"
)

// Features of one item that count, at most, of those it may have many of.
const (
	maxTagFeatures  = 8
	maxWordFeatures = 8
	leastWord       = 3 // characters; a word with a sign in it, such as c#, may have fewer
)

// Features lists what can be learned from an act on the item: its first tags, its
// author, its language and the rarer words of its title.
func Features(it *feed.Item) []feed.Feature {
	var all []feed.Feature
	add := func(kind feed.FeatureKind, value string) {
		if f := (feed.Feature{Kind: kind, Value: value}); value != "" && !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	for _, tag := range it.Tags[:min(len(it.Tags), maxTagFeatures)] {
		add(feed.FeatureTag, tag)
	}
	add(feed.FeatureAuthor, it.AuthorID)
	add(feed.FeatureLang, it.Lang)
	for _, word := range rarerWords(it.Title) {
		add(feed.FeatureWord, word)
	}
	return all
}

// rarerWords are the words of a title that tell most of what it is about: no stop
// words, no numbers, and of the others the longest, for the longer a word the
// rarer it is (Zipf's law of abbreviation). Of scripts whose words are not marked,
// two characters that follow each other are a word.
func rarerWords(title string) []string {
	tokens := words.Of(title)
	var found []string
	for i, token := range tokens {
		switch {
		case words.Stop(token):
		case words.Single(token):
			if i+1 < len(tokens) && words.Single(tokens[i+1]) && !words.Stop(tokens[i+1]) {
				found = append(found, token+tokens[i+1])
			}
		case telling(token):
			found = append(found, token)
		}
	}
	slices.SortStableFunc(found, func(a, b string) int { return cmp.Compare(utf8.RuneCountInString(b), utf8.RuneCountInString(a)) })
	return found[:min(len(found), maxWordFeatures)]
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
