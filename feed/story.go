package feed

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/text/unicode/norm"
)

const (
	// storyWords is the number of words in a sketch. A longer title is represented by the words
	// with the lowest hashes.
	storyWords = 24
	// leastStoryWords is the minimum number of words for comparing titles: a single common word
	// is no evidence that two titles tell one story.
	leastStoryWords = 3
	// maxStoryText is the number of bytes of a title that are read.
	maxStoryText = 1024
)

// signs end a word, like ® and ©; NFKC would turn them into letters.
var signs = strings.NewReplacer("™", " ", "℠", " ")

// Sketch is a fingerprint of a title, for comparing it with others: the hashes of
// its distinct words, ascending, two bytes each and at most 24 of them. It is ""
// for a title of fewer than three words. Indices store it, so it must not change.
//
// A word is a run of letters, marks and digits in NFKC, in lower case. In scripts written
// without spaces, every two adjacent characters count as a word.
func Sketch(title string) string {
	if len(title) > maxStoryText {
		title = title[:maxStoryText]
	}
	title = norm.NFKC.String(signs.Replace(title))
	var room [64]uint16
	hashes := appendWordHashes(room[:0], title)
	slices.Sort(hashes)
	hashes = slices.Compact(hashes)
	if len(hashes) < leastStoryWords {
		return ""
	}
	hashes = hashes[:min(len(hashes), storyWords)]
	sketch := make([]byte, 0, 2*storyWords)
	for _, h := range hashes {
		sketch = append(sketch, byte(h>>8), byte(h))
	}
	return string(sketch)
}

// appendWordHashes appends a hash of each word of a title.
func appendWordHashes(hashes []uint16, title string) []uint16 {
	var room [64]byte
	run := room[:0] // the current word
	var before rune // the preceding character, if of a script without spaces; else 0
	add := func(word []byte) { hashes = append(hashes, uint16(xxhash.Sum64(word))) }
	end := func() {
		if len(run) > 0 {
			add(run)
		}
		run = run[:0]
	}
	for _, r := range title {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai):
			end()
			if before != 0 {
				add(utf8.AppendRune(utf8.AppendRune(run, before), r))
			}
			before = r
			continue
		case r >= utf8.RuneSelf && !unicode.In(r, unicode.L, unicode.M, unicode.Nd), r < utf8.RuneSelf && !asciiWord(r):
			end()
		default:
			run = utf8.AppendRune(run, unicode.ToLower(r))
		}
		before = 0
	}
	end()
	return hashes
}

func asciiWord(r rune) bool { return isLetter(r) || isDigit(r) }

// Story is a [Sketch] prepared for comparisons. The zero value is that of no title and is similar
// to nothing.
type Story struct {
	words [storyWords]uint16
	n     int
	marks uint64 // a bit for each word; several words may share one
}

// ReadStory decodes the output of [Sketch]; any other text is an empty story.
func ReadStory(sketch string) (s Story) {
	if len(sketch)%2 != 0 || len(sketch) > 2*storyWords {
		return Story{}
	}
	for i := 0; i < len(sketch); i += 2 {
		w := uint16(sketch[i])<<8 | uint16(sketch[i+1])
		s.words[s.n] = w
		s.marks |= 1 << (w % 64)
		s.n++
	}
	return s
}

// Likeness returns the Jaccard index of the words of two titles, from their sketches: words in
// both ÷ words in either. Except for hash collisions it is exact for up to 24 words; beyond that
// it is the bottom-k estimate (Broder, On the resemblance and containment of documents, 1997).
func (s *Story) Likeness(other *Story) float64 {
	if s.n == 0 || other.n == 0 {
		return 0
	}
	most := s.n + other.n
	if s.n == storyWords || other.n == storyWords {
		most = storyWords
	}
	both, either := 0, 0
	for i, j := 0, 0; (i < s.n || j < other.n) && either < most; either++ {
		switch {
		case j == other.n || i < s.n && s.words[i] < other.words[j]:
			i++
		case i == s.n || s.words[i] > other.words[j]:
			j++
		default:
			i, j, both = i+1, j+1, both+1
		}
	}
	return float64(both) / float64(either)
}

// AtLeast reports whether the likeness is at least least. It usually decides without comparing
// words: each mark that only one of the titles has means at least one word that the other lacks.
func (s *Story) AtLeast(other *Story, least float64) bool {
	if s.n < storyWords && other.n < storyWords {
		both := min(s.n-bits.OnesCount64(s.marks&^other.marks), other.n-bits.OnesCount64(other.marks&^s.marks))
		if float64(both) < least*float64(s.n+other.n-both) {
			return false
		}
	}
	return s.n > 0 && other.n > 0 && s.Likeness(other) >= least
}
