package social

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/freshet/freshet/feed"
)

// Hashtags finds the hashtags of a text, in order, each once, without '#' and
// in lower case, because readers do not tell #Go from #go.
//
// One is a '#' (or its full-width form) and the letters, marks, digits and '_'
// after it, at least one of them no digit: "#1" is a number. A '#' after such a
// character, or after '&' or '/', begins none: it is part of a word, of an
// entity like &#39; or of an address.
func Hashtags(text string) []string {
	var tags []string
	seen := map[string]bool{}
	var before rune
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if (r == '#' || r == '＃') && !inTag(before) && before != '&' && before != '/' {
			tag := tagAt(text[i+size:])
			if lower := strings.ToLower(tag); isTag(lower) && !seen[lower] {
				seen[lower] = true
				tags = append(tags, lower)
			}
			size += len(tag)
			r, _ = utf8.DecodeLastRuneInString(text[:i+size])
		}
		before = r
		i += size
	}
	return tags
}

func inTag(r rune) bool { return r == '_' || unicode.In(r, unicode.L, unicode.M, unicode.N) }

// tagAt is the longest run of a tag's characters that text begins with.
func tagAt(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return !inTag(r) })
	if end < 0 {
		return text
	}
	return text[:end]
}

func isTag(tag string) bool {
	return utf8.RuneCountInString(tag) <= feed.MaxTermLength &&
		strings.ContainsFunc(tag, func(r rune) bool { return !unicode.IsDigit(r) && r != '_' })
}
